"""A corpus that stays in memory says what a fresh check of all documents says, whatever was edited before."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import NamedTuple

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from prosa.app.check.check import Checker, CheckOptions
from prosa.app.check.gather import gather
from prosa.app.check.workspace import Workspace
from prosa.rules import resident
from prosa.source import LineIndex
from tests.depth import examples

NAMES = ("a.md", "b.md", "B.md", "sub/a.md", "sub/deep/c.md", "note.mda", "sub/meta.mda", "t.ymj", "index.md", "p.md")

LINES = (
    *("# One", "## Two parts", "text ^mark", "[x](a.md)", "[x](b.md#one)", "[x](sub/a.md#two-parts)", "[x](gone.md)"),
    *(
        "[[a]]",
        "[[b#One]]",
        "[[B]]",
        "[[nowhere]]",
        "[[a#^mark]]",
        "![p](p.png)",
        "![p](q.png)",
        "[y](sub/)",
        "[z](#no)",
    ),
    *('[^1]: `{"rel-type": "cites", "doc-id": "id-one", "rel-desc": "x"}`', "see [^1]", "[n](/a)", "[n](/sub/deep/c)"),
    "<!-- prosa-ignore MD020 -->",
)

FRONTS = (
    *("", "", "---\ntitle: One\naliases: [nowhere]\n---\n", "---\ndoc-id: id-one\n---\n", "---\ndoc-id: id-two\n---\n"),
    *(
        "---\nid: one\ntype: page\ntitle: A\n---\n",
        "---\nid: two\ntype: page\ntitle: B\nlinks: [{rel: up, to: one}]\n---\n",
    ),
    *("---\nname: p\ndescription: x\nimports: [./b.md]\n---\n", "---\nname: q\ndescription: x\ninput: {}\n---\n"),
    "---\nglobs: ['**']\nexpired-date: 2020-01-01T00:00:00Z\n---\n",
    "---\nkind: ticket\nsubject: one\nrelated: [nowhere, a]\n---\n",
    "---\nbroken: [\n---\n",
)

TEXT = st.builds(
    lambda front, lines: front + "\n\n".join(lines) + "\n",
    st.sampled_from(FRONTS),
    st.lists(st.sampled_from((*LINES, *LINES[:6], *LINES[:6])), max_size=8),
)


class Edit(NamedTuple):
    """What happens to a document: another text, which may stay unsaved and come with its lines, or None where it is
    removed."""

    name: str
    text: str | None
    saved: bool
    lined: bool = False


EDITS = st.lists(
    st.builds(Edit, st.sampled_from(NAMES), st.one_of(TEXT, TEXT, TEXT, st.none()), st.booleans(), st.booleans()),
    max_size=8,
)


def write(root: Path, name: str, text: str) -> None:
    path = root / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def fresh(root: Path) -> dict[Path, tuple]:
    """What a check of the whole finds in the files."""
    (group,) = gather([root], agents=True)
    found: dict[Path, list] = {}
    for each in Checker.of(CheckOptions(), {}).check(group).diagnostics:
        found.setdefault(Path(each.path), []).append(each)
    return {path: tuple(each) for path, each in found.items()}


@settings(max_examples=examples(60), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(start=st.fixed_dictionaries(dict.fromkeys(NAMES[:-2], TEXT)), edits=EDITS, project=st.booleans())
def test_x10_after_any_edits_a_resident_corpus_says_what_a_fresh_check_says(
    tmp_path: Path, start: dict[str, str], edits: list[Edit], project: bool
):
    """X10."""
    root = tmp_path / "corpus"
    shutil.rmtree(root, ignore_errors=True)
    root.mkdir()
    if project:
        (root / "prosa.toml").write_text('[relations]\n"related" = "related"\n', encoding="utf-8")
    else:
        (root / ".git").mkdir()
    write(root, "sub/deep/q.png", "")
    for name, text in start.items():
        write(root, name, text)
    workspace = Workspace.open(root, CheckOptions(), {})
    told = dict(workspace.diagnostics)
    assert told == fresh(root)
    for edit in edits:
        path = root / edit.name
        if edit.text is None:
            path.unlink(missing_ok=True)
            news = workspace.update(path)
        else:
            news = workspace.update(path, LineIndex(edit.text) if edit.lined else edit.text)
            write(root, edit.name, edit.text)
            if edit.saved:
                news |= workspace.update(path)
        assert path in news
        told |= news
        expected = fresh(root)
        assert dict(workspace.diagnostics) == expected
        assert {each: found for each, found in told.items() if found} == expected


def test_the_lines_of_an_edited_text_are_not_counted_again(tmp_path: Path):
    (tmp_path / ".git").mkdir()
    write(tmp_path, "a.md", "")
    workspace = Workspace.open(tmp_path, CheckOptions(), {})
    lines = LineIndex("text\n\n[x](gone.md)\n")
    (found,) = workspace.update(tmp_path / "a.md", lines)[tmp_path / "a.md"]
    assert found.source is not None and found.source.lines is lines
    lines = lines.replaced(0, 4, "[y](no.md)\n\n")
    told = workspace.update(tmp_path / "a.md", lines)[tmp_path / "a.md"]
    assert [each.source.position(each.span.start) for each in told if each.source] == [(1, 5), (5, 5)]
    assert workspace.update(tmp_path / "a.md", "text\n") == {tmp_path / "a.md": ()}


NODES = ("index.md", "a.md", "sub/b.md", "sub/api.md", "mdh/c.md")

NODE_FRONTS = st.builds(
    lambda each, link, actions: f"---\nid: {each}\ntype: page\ntitle: {each.upper()}\n{link}{actions}---\n",
    st.sampled_from(("one", "two", "a")),
    st.sampled_from(
        (
            *("", "", "links: [{rel: up, target: one}]\n", "links: [{rel: up, target: gone}]\n"),
            *("canonical_url: https://x.org/a\n", "canonical_url: https://x.org/gone\n"),
        )
    ),
    st.sampled_from(
        (
            *("", "", "actions: [{id: go, method: GET, url: /go}]\n", "actions: [{id: go, method: POST, url: /go}]\n"),
            "actions: [{id: go, method: GET, url: /go, safety: {level: read}}]\n",
        )
    ),
)

NODE_LINES = (
    *("text", "text", "## Part", "[x](/a)", "[x](/a#part)", "[x](/gone)", "[[one]]", "[[Two|2]]", "[y](a.md)"),
    *("[z](https://x.org/gone)", "[z](https://x.org/sub/b)"),
)

NODE = st.tuples(NODE_FRONTS, st.lists(st.sampled_from(NODE_LINES), max_size=4))


@settings(max_examples=examples(60), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    start=st.fixed_dictionaries(dict.fromkeys(NODES, NODE)),
    edits=st.lists(st.tuples(st.sampled_from(NODES), st.one_of(NODE, st.integers(0, 3))), max_size=10),
)
def test_x10_after_any_edits_of_nodes_a_resident_site_says_what_a_fresh_check_says(
    tmp_path: Path, start: dict[str, tuple[str, list[str]]], edits: list[tuple[str, tuple[str, list[str]] | int]]
):
    """X10. Often everything in a node only moves, by so many lines of text."""
    root = tmp_path / "corpus"
    shutil.rmtree(root, ignore_errors=True)
    root.mkdir()
    (root / "prosa.toml").touch()
    now = dict(start)
    for name, (front, lines) in start.items():
        write(root, name, front + "\n\n".join(lines) + "\n")
    workspace = Workspace.open(root, CheckOptions(), {})
    assert dict(workspace.diagnostics) == fresh(root)
    for name, edit in edits:
        moved = edit if isinstance(edit, int) else 0
        front, lines = now[name] = now[name] if isinstance(edit, int) else edit
        text = front + "\n\n".join([*["a line"] * moved, *lines]) + "\n"
        workspace.update(root / name, text)
        write(root, name, text)
        assert dict(workspace.diagnostics) == fresh(root)


def test_x10_the_first_document_of_a_dialect_brings_its_rules_to_all_others(tmp_path: Path):
    """X10. A date that a document lends counts for those that were judged when none of its kind was there."""
    root = tmp_path / "corpus"
    (root / ".git").mkdir(parents=True)
    write(root, "a.md", "text\n")
    workspace = Workspace.open(root, CheckOptions(), {})
    assert not workspace.diagnostics
    lending = "---\nglobs: ['**']\nexpired-date: 2020-01-01T00:00:00Z\n---\n"
    for text in (lending, "text\n", lending):
        write(root, "note.mda", text)
        workspace.update(root / "note.mda")
        assert dict(workspace.diagnostics) == fresh(root)
        assert (root / "a.md" in workspace.diagnostics) is (text == lending)
        (root / "note.mda").unlink()
        workspace.update(root / "note.mda")
        assert dict(workspace.diagnostics) == fresh(root) == {}


def test_x10_text_in_a_node_is_no_news_for_the_rules_of_a_site(tmp_path: Path):
    """X10. Unless they found something in that node, whose place moves."""
    (tmp_path / "prosa.toml").touch()
    front = "---\nid: {0}\ntype: page\ntitle: {0}\n---\n"
    write(tmp_path, "index.md", front.format("one") + "[x](/two)\n")
    write(tmp_path, "two.md", front.format("two") + "[x](/gone)\n")
    workspace = Workspace.open(tmp_path, CheckOptions(), {})
    before = dict(workspace.resident._versions)
    workspace.update(tmp_path / "index.md", front.format("one") + "text\n\n[x](/two)\n")
    assert workspace.resident._versions == before
    workspace.update(tmp_path / "two.md", front.format("two") + "text\n\n[x](/gone)\n")
    assert workspace.resident._versions != before


def test_x10_a_link_in_a_node_is_news_for_the_rules_of_sites_alone(tmp_path: Path):
    """X10. How the site stands is kept until a node says that it lives elsewhere."""
    (tmp_path / "prosa.toml").touch()
    front = "---\nid: {0}\ntype: page\ntitle: {0}\n{1}---\n"
    skill = "---\nname: {0}\ndescription: Counts the words of all kinds of long texts.\n---\nCount.\n"
    write(tmp_path, "index.md", front.format("one", "") + "[x](/two)\n")
    write(tmp_path, "two.md", front.format("two", "") + "text\n")
    for name in ("left", "right"):
        write(tmp_path, f"skills/{name}/SKILL.md", skill.format(name))
    workspace = Workspace.open(tmp_path, CheckOptions(), {})
    resident = workspace.resident
    skills, nodes = (resident._whole[name] for name in ("near-duplicate-description", "unresolved-inline-link"))
    standing = resident.names._derived["standing", "standing"]
    workspace.update(tmp_path / "two.md", front.format("two", "") + "[x](/gone)\n")
    assert resident._whole["near-duplicate-description"] is skills
    assert resident._whole["unresolved-inline-link"] is not nodes
    assert resident.names._derived["standing", "standing"] is standing
    news = workspace.update(
        tmp_path / "two.md", front.format("two", "canonical_url: https://x.org/gone\n") + "[x](/gone)\n"
    )
    assert resident.names._derived["standing", "standing"] is not standing
    assert [each.rule for each in news[tmp_path / "two.md"]] == []


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    (tmp_path / ".git").mkdir()
    write(tmp_path, "a.md", "# One\n\n![p](p.png)\n")
    write(tmp_path, "b.md", "[x](a.md#one) [y](c.md)\n")
    return tmp_path


def rules(found: dict[Path, tuple]) -> dict[str, list[str]]:
    return {path.name: [each.rule for each in told] for path, told in found.items()}


def test_x10_an_edit_tells_of_the_documents_that_point_at_it(notes: Path):
    """X10. Documents that nobody touched and that say what they said are not told of."""
    workspace = Workspace.open(notes, CheckOptions(), {})
    assert rules(dict(workspace.diagnostics)) == {"a.md": ["unresolved-link"], "b.md": ["unresolved-link"]}
    assert rules(workspace.update(notes / "a.md", "# Two\n")) == {
        "a.md": [],
        "b.md": ["unresolved-anchor", "unresolved-link"],
    }
    assert rules(workspace.update(notes / "a.md", "# One\n\ntext\n")) == {"a.md": [], "b.md": ["unresolved-link"]}
    assert rules(workspace.update(notes / "a.md", "# One\n\nmore\n")) == {"a.md": []}
    assert rules(workspace.update(notes / "c.md", "")) == {"b.md": [], "c.md": []}
    assert rules(workspace.update(notes / "c.md")) == {"b.md": ["unresolved-link"], "c.md": []}


def test_x10_a_file_that_is_no_document_comes_and_goes(notes: Path):
    """X10."""
    workspace = Workspace.open(notes, CheckOptions(), {})
    (notes / "p.png").write_bytes(b"x")
    assert rules(workspace.update(notes / "p.png")) == {"a.md": []}
    (notes / "p.png").unlink()
    assert rules(workspace.update(notes / "p.png")) == {"a.md": ["unresolved-link"]}


def test_x10_what_is_kept_of_a_document_is_not_kept_beyond_a_change_of_a_file(tmp_path: Path):
    """X10. The document that was looked at last is looked at again."""
    (tmp_path / ".git").mkdir()
    write(tmp_path, "a.md", "![p](p.png)\n")
    workspace = Workspace.open(tmp_path, CheckOptions(), {})
    for _ in range(2):
        write(tmp_path, "p.png", "")
        assert rules(workspace.update(tmp_path / "p.png")) == {"a.md": []}
        (tmp_path / "p.png").unlink()
        assert rules(workspace.update(tmp_path / "p.png")) == {"a.md": ["unresolved-link"]}


def test_x10_a_text_that_is_not_saved_gives_way_to_the_file(notes: Path):
    """X10."""
    workspace = Workspace.open(notes, CheckOptions(), {})
    workspace.update(notes / "b.md", "nothing\n")
    assert "b.md" not in rules(dict(workspace.diagnostics))
    assert rules(workspace.update(notes / "b.md")) == {"b.md": ["unresolved-link"]}


def test_x10_a_document_that_comes_is_no_news_for_those_that_asked_for_nothing_like_it(
    notes: Path, monkeypatch: pytest.MonkeyPatch
):
    """X10. It costs what it concerns, not all documents beside it."""
    workspace = Workspace.open(notes, CheckOptions(), {})
    judged: list[Path] = []
    among = resident.check_among
    monkeypatch.setattr(
        resident, "check_among", lambda corpus, real, *rest: judged.append(real) or among(corpus, real, *rest)
    )
    workspace.update(notes / "new.md", "# New\n")
    assert {each.name for each in judged} == {"a.md", "b.md", "new.md"}  # both look for what is not there
    judged.clear()
    workspace.update(notes / "b.md", "text\n")
    workspace.update(notes / "another.md", "# New\n")
    assert [each.name for each in judged if each.name == "b.md"] == ["b.md"]


def test_x10_cases_come_and_go_with_their_skill(tmp_path: Path):
    """X10. They are found by the skill that they are beside."""
    (tmp_path / ".git").mkdir()
    skill = "---\nname: s\ndescription: Counts the words of all kinds of long texts.\n---\nCount.\n"
    write(tmp_path, "s/SKILL.md", skill)
    write(tmp_path, "s/evals/evals.json", '{"skill_name": "s", "evals": []}')
    cases = tmp_path / "s/evals/evals.json"
    workspace = Workspace.open(tmp_path, CheckOptions(), {})
    before = dict(workspace.diagnostics)
    assert cases in before
    (tmp_path / "s/SKILL.md").unlink()
    news = workspace.update(tmp_path / "s/SKILL.md")
    assert news == {tmp_path / "s/SKILL.md": (), cases: ()}
    assert dict(workspace.diagnostics) == fresh(tmp_path) == {}
    write(tmp_path, "s/SKILL.md", skill)
    assert workspace.update(tmp_path / "s/SKILL.md")[cases] == before[cases]
    assert dict(workspace.diagnostics) == fresh(tmp_path) == before


def test_x10_x38_an_edit_of_an_imported_file_is_news_for_those_that_reach_it(tmp_path: Path):
    """X10, X38. What a file imports is no fact of it, unless it is one of a host."""
    (tmp_path / ".git").mkdir()
    write(tmp_path, "CLAUDE.md", "@a.md\n")
    write(tmp_path, "a.md", "@b.md\n")
    write(tmp_path, "b.md", "text\n")
    workspace = Workspace.open(tmp_path, CheckOptions(), {})
    for text, expected in (("@CLAUDE.md\n", ["circular-import"]), ("text\n", [])) * 2:
        write(tmp_path, "b.md", text)
        assert rules(workspace.update(tmp_path / "b.md"))["CLAUDE.md"] == expected
        assert dict(workspace.diagnostics) == fresh(tmp_path)


AGENT = "---\nname: {0}\ndescription: Makes a release\n{1}---\n\nMake a release.\n"
HANDS_OVER = "---\ndescription: Plans\nagent: planer\n---\n\nPlan.\n"
SKILL = "---\nname: {0}\ndescription: Deploys the site when a release is ready\n---\n\nDeploy it.\n"


@pytest.mark.parametrize(
    ("rule", "files", "name", "texts"),
    [
        pytest.param(
            "unknown-agent",
            {".github/prompts/plan.prompt.md": HANDS_OVER},
            ".github/agents/p.agent.md",
            (AGENT.format("planer", ""), AGENT.format("other", "")),
            id="the name of an agent",
        ),
        pytest.param(
            "unknown-skill",
            {".claude/agents/release.md": AGENT.format("release", "skills: [deploy]\n")},
            ".claude/skills/site/SKILL.md",
            (SKILL.format("deploy"), SKILL.format("site")),
            id="the name of a skill",
        ),
        pytest.param(
            "differing-numbers",
            {"CLAUDE.md": "- Keep lines below 80 characters.\n"},
            "AGENTS.md",
            ("- Keep lines below 80 characters.\n", "- Keep lines below 100 characters.\n"),
            id="a figure of another file",
        ),
        pytest.param(
            "unexpanded-import",
            {"AGENTS.md": "@a.md\n", "a.md": "text\n"},
            "CLAUDE.md",
            ("@AGENTS.md\n", "text\n"),
            id="an import of another host",
        ),
    ],
)
def test_x10_x38_what_a_file_of_a_host_says_is_news_for_the_others(
    tmp_path: Path, rule: str, files: dict[str, str], name: str, texts: tuple[str, str]
):
    """X10, X38."""
    (tmp_path / ".git").mkdir()
    right, wrong = texts
    for each, text in (files | {name: right}).items():
        write(tmp_path, each, text)
    workspace = Workspace.open(tmp_path, CheckOptions(), {})
    for text in (wrong, right) * 2:
        write(tmp_path, name, text)
        workspace.update(tmp_path / name)
        found = [each for told in rules(dict(workspace.diagnostics)).values() for each in told]
        assert (rule in found) == (text is wrong)
        assert dict(workspace.diagnostics) == fresh(tmp_path)


@pytest.mark.parametrize("name", ["map 1.pdf", "mdh/nodes.json"])
def test_x10_a_file_of_a_site_comes_changes_and_goes(tmp_path: Path, name: str):
    """X10, HA1, HA5. The rules of a site look for what its links lead to, and at its indexes."""
    (tmp_path / "prosa.toml").touch()
    write(tmp_path, "index.md", "---\nid: root\ntype: page\ntitle: Root\n---\n[x](/map%201.pdf)\n")
    write(tmp_path, "mdh/other.json", "{}")
    workspace = Workspace.open(tmp_path, CheckOptions(), {})
    before = dict(workspace.diagnostics)
    for text in ("{", '{"nodes": []}', "{"):
        write(tmp_path, name, text)
        workspace.update(tmp_path / name)
        assert dict(workspace.diagnostics) == fresh(tmp_path) != before
    (tmp_path / name).unlink()
    workspace.update(tmp_path / name)
    assert dict(workspace.diagnostics) == fresh(tmp_path) == before


CONTEXTS = ("CLAUDE.md", "AGENTS.md", "sub/CLAUDE.md", "a.md", "b.md", "sub/c.md", "d.txt")

IMPORTS = (
    *("@a.md", "@b.md", "@AGENTS.md", "@sub/c.md", "@c.md", "@../a.md", "@d.txt", "@CLAUDE.md", "@gone.md"),
    *("@CLAUDE.md", "@../CLAUDE.md", "text"),
)


@settings(max_examples=examples(60), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    start=st.fixed_dictionaries(dict.fromkeys(CONTEXTS, st.lists(st.sampled_from(IMPORTS), max_size=3))),
    edits=st.lists(
        st.tuples(st.sampled_from(CONTEXTS), st.one_of(st.none(), st.lists(st.sampled_from(IMPORTS), max_size=3))),
        max_size=8,
    ),
)
def test_x10_x38_after_any_edits_of_imports_a_resident_corpus_says_what_a_fresh_check_says(
    tmp_path: Path, start: dict[str, list[str]], edits: list[tuple[str, list[str] | None]]
):
    """X10, X38. An imported file may be a document of any kind, or none."""
    root = tmp_path / "corpus"
    shutil.rmtree(root, ignore_errors=True)
    (root / ".git").mkdir(parents=True)
    for name, lines in start.items():
        write(root, name, "\n\n".join(lines) + "\n")
    workspace = Workspace.open(root, CheckOptions(), {})
    assert dict(workspace.diagnostics) == fresh(root)
    for name, edit in edits:
        if edit is None:
            (root / name).unlink(missing_ok=True)
        else:
            write(root, name, "\n\n".join(edit) + "\n")
        workspace.update(root / name)
        assert dict(workspace.diagnostics) == fresh(root)
