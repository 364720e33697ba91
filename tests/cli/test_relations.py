"""X21: fields of front matter that a project makes relationships: edges, inverses, moves, and what leads nowhere."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from prosa.cli.main import main
from prosa.data import read_yaml
from prosa.dialects.relations import relation_refs
from tests.cli.desk import desk

FILES = {
    "prosa.toml": '[relations]\nblocks = "blocks"\nup = "parent"\n',
    "plan.md": '---\nup: quay\nblocks:\n  - "[[Release|the release]]"\n  - deep/harbour.md#Cranes\n---\nText.\n',
    "notes/Release.md": "Text.\n",
    "deep/harbour.md": "---\nblocks: [n-1]\n---\n# Quay\n",
    "why.mda": "---\ndoc-id: n-1\ntitle: Why\nblocks: '[[Gone]]'\n---\nText.\n",
    "quay.md": "Text.\n",
}


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name, text in FILES.items():
        (tmp_path / "p" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "p" / name).write_text(text)
    monkeypatch.chdir(tmp_path / "p")
    return tmp_path / "p"


def said(project: Path, *args: str) -> str:
    found = desk(environ={"PROSA_CACHE_DIR": str(project.parent / "cache")})
    main(list(args), found.console)
    return found.out


def edges(project: Path) -> set[tuple[str, str | None, str]]:
    question = "SELECT source_path, target_path, written, rel FROM edges WHERE origin = 'front-matter'"
    rows = json.loads(said(project, "query", question, "--format", "json"))["rows"]
    return {(each["source_path"], each["target_path"] or each["written"], each["rel"]) for each in rows}


def test_x21_fields_become_typed_edges_of_every_dialect(project: Path):
    assert edges(project) == {
        ("plan.md", "quay.md", "parent"),
        ("plan.md", "notes/Release.md", "blocks"),
        ("plan.md", "deep/harbour.md", "blocks"),
        ("deep/harbour.md", "why.mda", "blocks"),
        ("why.mda", "Gone", "blocks"),
    }


def test_x21_a_relation_with_an_inverse_has_it(project: Path):
    assert "parent (from here: child)  plan" in said(project, "links", "quay.md")


def test_x21_a_change_of_the_relations_is_seen_by_the_index(project: Path):
    assert len(edges(project)) == 5
    (project / "prosa.toml").write_text('[relations]\nup = "extends"\n')
    assert edges(project) == {("plan.md", "quay.md", "extends")}
    (project / "prosa.toml").write_text("")
    assert edges(project) == set()


def test_x21_what_leads_nowhere_is_found_even_in_one_document(project: Path):
    for named in (".", "why.mda"):
        found = json.loads(said(project, "check", named, "--select", "unresolved-relation", "--format", "json"))
        (each,) = found["diagnostics"]
        assert (each["path"], each["line"], each["message"]) == ("why.mda", 4, "`Gone` is the name of no document")


def test_x21_a_move_takes_relations_along(project: Path):
    said(project, "rename", "notes/Release.md", "notes/Launch.md")
    said(project, "rename", "deep/harbour.md", "harbour.md")
    said(project, "rename", "quay.md", "deep/pier.md")
    assert (project / "plan.md").read_text() == (
        '---\nup: pier\nblocks:\n  - "[[Launch|the release]]"\n  - harbour.md#Cranes\n---\nText.\n'
    )


@pytest.mark.parametrize(
    ("yaml", "expected"),
    [
        ("x: '[[A note#Part|label]]'", [("stem", "A note", "Part", "'[[A note#Part|label]]'")]),
        ("x: [[A note]]", [("stem", "A note", "", "A note")]),
        (
            "x: [a.md#p, ../b/c, 7, ~]",
            [("path", "a.md", "p", "a.md#p"), ("path", "../b/c", "", "../b/c"), ("stem", "7", "", "7")],
        ),
        ("x: https://example.org/a#b", [("url", "https://example.org/a", "b", "https://example.org/a#b")]),
        ("x: {a: b}", []),
        ("y: a", []),
    ],
)
def test_x21_a_value_is_read_with_its_exact_place(yaml: str, expected: list[tuple[str, str, str, str]]):
    fields = read_yaml(yaml).node
    refs = relation_refs(fields, (("x", "parent"),))  # type: ignore[arg-type]
    found = [(each.kind, each.target, each.fragment, yaml[each.span.start : each.span.end]) for each in refs]
    assert found == expected
