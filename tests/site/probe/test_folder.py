"""`prosa probe DIR`: the same checks on files, where they can be had without a server (X3, H21)."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.site.probe.probing import check, failing, probe, report, written
from tests.site.probe.site import FERRIES, HOME

GOOD = {"index.md": HOME.replace("map.png", "map.txt"), "ferries.md": FERRIES, "map.txt": "here"}

LIVE = {
    *("negotiates-markdown", "negotiates-json", "json-agrees", "respects-q-values", "markdown-by-default", "never-406"),
    *("vary-accept", "head-like-get", "same-bytes-twice", "cache-headers", "not-modified", "etag-for-each-form"),
    *("pages-may-be-stored", "missing-pages-answer-404", "listing-envelope", "reads-answer"),
    *("skills-index", "skills-as-listed", "api-catalog", "openapi", "mcp-server-card", "has-llms-full-txt"),
    *("content-signals", "discovery-is-linked"),
    *("has-indexes", "has-llms-txt", "file-forms", "html-for-people", "html-is-guarded"),
}

BAD: dict[str, tuple[str, str, set[str]]] = {
    "no title": ("title: Ferries\n", "", {"front-matter-in-every-node"}),
    "a taken id": ("id: ferries", "id: harbour", {"unique-ids", "declared-links-lead-to-nodes"}),
    "a dead link": ("[home](/)", "[home](/hom)", {"links-lead-to-nodes"}),
    "no method": ("    method: POST\n", "", {"complete-actions"}),
    "another site": ("url: /api/seats", "url: https://other.example/seats", {"actions-stay-on-the-site"}),
    "one id twice": ("id: seats.take", "id: sailings.list", {"one-meaning-per-action-id"}),
    "no auth": ("    auth: {type: none}\n", "", {"auth-on-every-action"}),
    "no csrf": ("    csrf: send the token of the form as X-CSRF-Token\n", "", {"csrf-documented"}),
    "a get that takes": ("id: sailings.list", "id: seats.reserve", {"reads-by-get"}),
}


def test_h21_a_folder_that_does_everything_passes_what_files_can_show(tmp_path: Path):
    """H21."""
    folder = written(tmp_path, GOOD)
    status, at = probe(folder, "--strict")
    whole = report(folder)
    assert (status, whole["path"], whole["conformant"], whole["score"], whole["pages"]) == (0, folder, True, 100, 2)
    assert {each["id"] for each in whole["checks"] if each["status"] == "not-applicable"} == LIVE
    assert "files only" in check(whole, "negotiates-json")["looked_at"]
    assert "2 documents looked at" in at.out


@pytest.mark.parametrize("fault", BAD)
def test_h21_ha13_ha14_ha20_a_fault_of_a_file_fails_its_check(fault: str, tmp_path: Path):
    """H21, HA13, HA14, HA20."""
    old, new, expected = BAD[fault]
    assert FERRIES.count(old) == 1
    assert failing(written(tmp_path, GOOD | {"ferries.md": FERRIES.replace(old, new)})) == expected


def test_evidence_of_a_folder_is_a_path_and_a_line(tmp_path: Path):
    folder = written(tmp_path, GOOD | {"ferries.md": FERRIES.replace("[home](/)", "[home](/hom)")})
    status, at = probe(folder)
    assert status == 1
    line = FERRIES[: FERRIES.index("[home]")].count("\n") + 1
    assert f"{folder}/ferries.md:{line}: the link `/hom` leads to no node" in at.out


def test_ha1_indexes_that_disagree_with_their_nodes_are_found(tmp_path: Path):
    """HA1."""
    index = '{"spec": "mdh/1.0", "nodes": [{"id": "harbour", "md_url": "/"}]}'
    assert failing(written(tmp_path, GOOD | {"mdh/nodes.json": index})) == {"indexes-agree"}


def test_two_documents_at_one_url_are_found(tmp_path: Path):
    """H21: MUST 1."""
    other = "---\nid: other\ntype: page\ntitle: Other\n---\nHere.\n"
    files = GOOD | {"inner.md": other, "inner/index.md": other.replace("other", "another")}
    assert failing(written(tmp_path, files)) == {"markdown-for-every-node"}


def test_a_file_that_is_no_text_is_found(tmp_path: Path):
    folder = written(tmp_path, GOOD)
    (tmp_path / "odd.md").write_bytes(b"---\nid: \xff\n---\n")
    assert failing(folder) == {"markdown-for-every-node"}


def test_x3_plain_documents_are_meant_as_nodes_and_other_dialects_are_passed_over(tmp_path: Path):
    """X3."""
    others = {
        "skill/SKILL.md": "---\nname: skill\ndescription: Does something.\n---\nDo it.\n",
        "note.mda": "---\ntitle: A note\n---\nHere.\n",
        "chat.md": "### @user:\n\nHello\n",
        "program.md": "---\nname: program\ninput: {type: object}\n---\nSay it.\n",
    }
    folder = written(tmp_path, GOOD | others)
    whole = report(folder)
    assert whole["conformant"] and whole["pages"] == 2
    counted = "1 Agent Skill, 1 MAGI document, 1 Prapti chat, 1 markdownlang program"
    assert whole["notes"] == [
        f"skipped, because they are not nodes in a folder: {counted}",
    ]
    plain = written(tmp_path, {"plain.md": "# Plain\n"})
    assert failing(plain) == set()


@pytest.mark.parametrize("text", ["# Plain\n", "---\ntitle: [\n---\nPlain.\n", "---\nstatus: x\n---\nPlain.\n", ""])
def test_h9_fields_that_a_site_derives_count_in_a_folder_too(text: str, tmp_path: Path):
    """H9: what is no node yet is one as soon as it is served; a node that lacks a field lacks it there as well."""
    files = GOOD | {"plain.md": text, "node.md": "---\nid: node\ntype: page\n---\nA node.\n"}
    whole = report(written(tmp_path, files))
    assert [each["status"] for each in whole["checks"] if each["id"] == "front-matter-in-every-node"] == ["failed"]
    evidence = json.dumps(check(whole, "front-matter-in-every-node"))
    assert "node.md" in evidence and "plain.md" not in evidence


def test_what_an_author_suppresses_counts_all_the_same(tmp_path: Path):
    text = FERRIES.replace("[home](/)", "[home](/hom) <!-- prosa-ignore unresolved-inline-link -->")
    assert failing(written(tmp_path, GOOD | {"ferries.md": text})) == {"links-lead-to-nodes"}


@pytest.mark.parametrize(
    ("files", "name", "said"),
    [
        ({}, "absent", "no such file or folder"),
        ({"a.md": "x"}, "a.md", "is not a folder"),
        ({"a.txt": "x"}, "", "no documents in"),
        ({"a.mda": "x"}, "", "no nodes in"),
    ],
)
def test_what_is_no_folder_of_nodes_is_wrong_use(files: dict[str, str], name: str, said: str, tmp_path: Path):
    written(tmp_path, files)
    status, at = probe(str(tmp_path / name))
    assert (status, at.out) == (2, "") and said in at.err
