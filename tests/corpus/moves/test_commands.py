"""`prosa links`, `path`, `impact` and `rename` as a person or a program calls them."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from prosa.adapters.files import watch as changes_of_files
from prosa.cli.main import main
from tests.cli.desk import Desk, desk
from tests.corpus.moves.disk import TEXTS, tree, write

Call = Callable[..., tuple[int, Desk]]


@pytest.fixture
def call(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Call:
    """Runs a command in a corpus; gives its status and what it printed."""
    root = write(tmp_path / "corpus", {**TEXTS, "lost.md": "# Lost\n\n[[b]] [gone](gone.md) <https://example.org>\n"})
    monkeypatch.chdir(root)

    def run(*argv: str) -> tuple[int, Desk]:
        at = desk(environ={"PROSA_CACHE_DIR": str(tmp_path / "cache"), "HOME": str(tmp_path)})
        return main(argv, at.console), at

    return run


def test_y22_links_has_three_lists_of_edges(call: Call):
    status, at = call("links", "lost", "--format", "json")
    found = json.loads(at.out)
    assert (status, list(found)) == (0, ["out", "back", "unresolved"])
    assert [(edge["target"], edge["resolved"]) for edge in found["out"]] == [
        ("notes/b.md", True),
        ("https://example.org", False),
    ]
    assert found["unresolved"] == [
        {
            "source": "lost.md",
            "target": "gone.md",
            "rel": None,
            "origin": "inline",
            "line": 3,
            "resolved": False,
            "state": "unresolved",
        }
    ]
    back = json.loads(call("links", "y1", "--format", "json")[1].out)["back"]
    assert [(edge["source"], edge["rel"], edge["inverse"]) for edge in back] == [("z1", "child", "parent")]


def test_y22_links_for_people_is_a_tree(call: Call):
    assert call("links", "y.mda")[1].out == (
        "y.mda  Y\n├─ points at nothing\n└─ is pointed at by\n   └─ child (from here: parent)  Z  z.mda:8\n"
    )
    assert call("links", "lost")[1].out == (
        "lost.md  Lost\n"
        "├─ points at\n"
        "│  ├─ wikilink  B (notes/b.md)       lost.md:3\n"
        "│  └─ inline    https://example.org  lost.md:3\n"
        "├─ is pointed at by nothing\n"
        "└─ leads nowhere\n"
        "   └─ inline  gone.md  lost.md:3\n"
    )


def test_a_document_links_to_itself_without_a_backlink(call: Call):
    found = json.loads(call("links", "notes/b.md", "--format", "json")[1].out)
    assert "notes/b.md" in {edge["target"] for edge in found["out"]}
    assert "notes/b.md" not in {edge["source"] for edge in found["back"]}


@pytest.mark.parametrize("command", ["links nope", "path a.md nope", "impact nope", "links notes"])
def test_what_is_no_document_is_wrong_use(call: Call, command: str):
    status, at = call(*command.split())
    assert (status, at.out) == (2, "")
    assert at.err.startswith("error: ")


def test_a_file_that_is_named_is_itself_or_nothing(call: Call):
    """A file that git ignores is no document, and another one of its name is not meant; a link is what it leads to."""
    write(Path(), {".gitignore": "/b.md\n", "b.md": "# Ignored\n"})
    Path("link.md").symlink_to("notes/b.md")
    status, at = call("links", "b.md")
    assert (status, at.out) == (2, "") and "b.md is not a document of the corpus" in at.err
    assert call("links", "link.md")[1].out.startswith("notes/b.md  B\n")


def test_a_name_without_end_fills_no_screen(call: Call):
    write(Path(), {"long.md": f"# {'T' * 5_000}\n\n[x]({'a/' * 5_000}b.md) [[b]]\n"})
    lines = call("links", "long.md")[1].out.splitlines()
    assert max(map(len, lines)) < 200
    assert (
        json.loads(call("links", "long.md", "--format", "json")[1].out)["unresolved"][0]["target"]
        == f"{'a/' * 5_000}b.md"
    )


def test_a_document_of_another_corpus_is_told(call: Call, tmp_path: Path):
    (tmp_path / "other.md").write_text("# Other\n")
    status, at = call("path", "a.md", "../other.md")
    assert status == 2 and "lies outside the corpus" in at.err and "--root DIR" in at.err


def test_a_name_that_is_no_utf_8_is_no_document(call: Call):
    assert call("links", os.fsdecode(b"\xe9"))[0] == 2


def test_a_name_that_several_documents_have_is_told(call: Call):
    write(Path(), {"notes/deep/b.md": "# Other\n"})
    status, at = call("links", "b")
    assert status == 2
    assert "several documents are called b" in at.err
    assert "did you mean notes/b.md or notes/deep/b.md?" in at.err


def test_path_shows_directions(call: Call):
    status, at = call("path", "lost", "y1", "--format", "json")
    found = json.loads(at.out)
    assert (status, found["from"], found["to"], found["length"]) == (0, "lost.md", "y1", 3)
    assert [(step["node"], step["forwards"]) for step in found["steps"]] == [
        ("notes/b.md", True),
        ("z1", False),
        ("y1", True),
    ]
    assert call("path", "lost", "y1")[1].out == (
        "lost.md  Lost\n"
        "→  wikilink  B (notes/b.md)  lost.md:3\n"
        "←  wikilink  Z (z.mda)       z.mda:6\n"
        "→  child     Y (y.mda)       z.mda:8\n"
    )


def test_path_without_a_way_is_status_1(call: Call):
    status, at = call("path", "y1", "lost", "--directed")
    assert (status, at.out) == (1, "")
    assert at.err == "no way follows references from y.mda to lost.md\n"
    status, at = call("path", "y1", "lost", "--directed", "--format", "json")
    assert (status, json.loads(at.out)) == (1, {"from": "y1", "to": "lost.md", "length": None, "steps": []})
    assert call("path", "y1", "y1")[0] == 0


def test_impact_is_a_tree_by_distance(call: Call):
    status, at = call("impact", "a.md")
    assert status == 0
    assert at.out == (
        "a.md  A\n"
        "└─ inline       B     notes/b.md:3\n"
        "   ├─ wikilink  Lost  lost.md:3\n"
        "   ├─ inline    C     notes/c.md:3\n"
        "   └─ wikilink  Z     z.mda:6\n"
        "4 documents reach it, the farthest over 2 references\n"
    )
    found = json.loads(call("impact", "a.md", "--depth", "1", "--format", "json")[1].out)
    assert [(each["node"], each["path"], each["distance"], each["via"]) for each in found["reached"]] == [
        ("notes/b.md", "notes/b.md", 1, "a.md")
    ]
    assert call("impact", "lost")[1].out == "lost.md  Lost\nnothing reaches it\n"


def test_impact_over_one_type_of_reference(call: Call):
    found = json.loads(call("impact", "y1", "--rel", "child", "--format", "json")[1].out)
    assert [each["node"] for each in found["reached"]] == ["z1"]
    status, at = call("impact", "y1", "--rel", "chidl")
    assert status == 2
    assert "did you mean child?" in at.err
    assert call("impact", "y1", "--depth", "0")[0] == 2


def test_rename_prints_a_plan_and_writes_nothing(call: Call):
    before = tree(Path())
    status, at = call("rename", "notes/b.md", "notes/bee.md", "--dry-run")
    assert status == 0
    assert tree(Path()) == before
    assert "-[b](notes/b.md#part) and [[b|the note]]\n+[b](notes/bee.md#part) and [[bee|the note]]\n" in at.out
    assert "rename from notes/b.md\nrename to notes/bee.md\n--- notes/b.md\n+++ notes/bee.md\n" in at.out
    assert at.out.endswith("Would move notes/b.md to notes/bee.md and rewrite 6 places in 5 documents.\n")
    assert at.err == ""
    status, alone = call("rename", "notes/b.md", "notes/bee.md", "--diff")
    assert (status, alone.err, tree(Path())) == (0, "", before)
    assert at.out.startswith(alone.out) and "Would move" not in alone.out
    found = json.loads(call("rename", "notes/b.md", "notes/bee.md", "--dry-run", "--format", "json")[1].out)
    assert (found["written"], found["references"], tree(Path())) == (False, 6, before)
    assert call("rename", "notes/b.md", "notes/bee.md", "--diff", "--format", "json")[0] == 2


def test_rename_takes_write_with_a_notice(call: Call):
    status, at = call("rename", "notes/b.md", "notes/bee.md", "--write")
    assert (status, at.err.count("note: rename writes by itself")) == (0, 1)
    assert Path("notes/bee.md").exists()
    assert call("rename", "notes/bee.md", "notes/b.md", "--write", "-q")[1].err == ""


def test_rename_writes_and_comes_back(call: Call):
    before = tree(Path())
    status, at = call("rename", "notes/b.md", "new/bee.md", "--format", "json")
    found = json.loads(at.out)
    assert (status, found["written"], found["references"]) == (0, True, 7)
    assert list(found) == [
        *("path", "new_path", "old_id", "new_id", "written", "references", "documents", "notes", "unreadable")
    ]
    assert found["documents"][0] == {
        "path": "a.md",
        "new_path": "a.md",
        "edits": [
            {"line": 3, "column": 5, "before": "notes/b.md#part", "after": "new/bee.md#part"},
            {"line": 3, "column": 26, "before": "[[b|the note]]", "after": "[[bee|the note]]"},
        ],
    }
    assert call("links", "bee")[0] == 0
    assert call("rename", "new/bee.md", "notes/b.md")[0] == 0
    assert tree(Path()) == before


def test_rename_changes_an_id(call: Call):
    status, at = call("rename", "y1", "why")
    assert (status, at.out) == (0, "Changed the id of y.mda from y1 to why and rewrote 2 places in 2 documents.\n")
    assert "doc-id: 'why'" in Path("y.mda").read_text()
    assert call("rename", "y.mda", "y1", "--id")[0] == 0
    assert Path("y.mda").read_text() == TEXTS["y.mda"]


def test_rename_moves_into_a_folder(call: Call, monkeypatch: pytest.MonkeyPatch):
    assert call("rename", "a.md", "notes")[0] == 0
    monkeypatch.chdir("notes")
    assert call("rename", "a.md", "deep/")[0] == 0
    assert Path("deep/a.md").read_text() == "# A\n\n[b](../b.md#part) and [[b|the note]]\n"


@pytest.mark.parametrize(
    ("words", "status", "said"),
    [
        (("notes/b.md", "a.md"), 2, "a.md exists already"),
        (("notes/b.md", "../b.md"), 2, "outside the corpus"),
        (("notes/b.md", "b"), 2, "did you mean b.md?"),
        (("notes", "other"), 2, "notes is a folder"),
        (("nope.md", "x.md"), 2, "nope.md: no such file or id"),
        (("a.md", "x", "--id"), 2, "a.md has no id that could change"),
        (("same", "x"), 2, "2 documents have the id same"),
        (("notes/b.md", "deep/c.md"), 1, "another reference leads"),
    ],
)
def test_rename_refuses_with_words(call: Call, words: tuple[str, ...], status: int, said: str):
    write(Path(), {"one.mda": "---\ndoc-id: same\n---\n", "two.mda": "---\ndoc-id: same\n---\n", "l.md": "[[c]]\n"})
    before = tree(Path())
    found, at = call("rename", *words)
    assert (found, at.out) == (status, "")
    assert said in at.err
    assert tree(Path()) == before


def test_rename_says_which_documents_it_cannot_read(call: Call):
    Path("bad.md").write_bytes(b"\xff[b](notes/b.md)\n")
    status, at = call("rename", "notes/b.md", "notes/bee.md")
    assert status == 0
    assert "warning: bad.md is not UTF-8 text" in at.err
    assert "references in it stay as they are" in at.err
    assert at.err.count("bad.md") == 1
    assert call("rename", "bad.md", "good.md")[1].err.count("bad.md is not UTF-8 text") == 1


@pytest.mark.parametrize(
    ("argv", "first", "second"),
    [
        (("impact", "b"), "4 documents reach it", "5 documents reach it"),
        (("path", "new", "b"), "no way leads", "wikilink"),
    ],
)
def test_watch_of_ways_answers_again(
    call: Call, monkeypatch: pytest.MonkeyPatch, argv: tuple[str, ...], first: str, second: str
):
    def watch(*folders: Path, **how: object):
        yield set()
        Path("new.md").write_text("[[b]]\n")
        yield {(2, "new.md")}

    library = type("library", (), {"watch": staticmethod(watch)})
    monkeypatch.setattr(changes_of_files, "import_module", lambda name: library)
    Path("new.md").write_text("Nothing yet.\n")
    _, at = call(*argv, "--watch")
    assert (at.out + at.err).count(first) == 1
    assert at.out.count(second) == 1


def test_watch_answers_again_after_a_change(call: Call, monkeypatch: pytest.MonkeyPatch):
    def watch(*folders: Path, **how: object):
        assert folders == (Path.cwd(),)
        yield set()
        Path("new.md").write_text("[[y]]\n")
        yield {(1, "new.md")}
        Path("y.mda").unlink()
        yield {(3, "y.mda")}
        raise KeyboardInterrupt

    library = type("library", (), {"watch": staticmethod(watch)})
    monkeypatch.setattr(changes_of_files, "import_module", lambda name: library)
    status, at = call("links", "y", "--watch")
    assert status == 2
    assert at.out.count("is pointed at by") == 2
    assert at.out.count("new.md:1") == 1
    assert at.err.count("watching for changes; Ctrl-C ends") == 3
    assert "no document is called y" in at.err
