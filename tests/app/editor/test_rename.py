"""A rename changes every place that names what is renamed, and nothing else, in texts that may not be saved."""

from __future__ import annotations

import posixpath
import tempfile
from pathlib import Path

import pytest
from hypothesis import HealthCheck, assume, event, given, settings
from hypothesis import strategies as st

from prosa.app.check.check import CheckOptions
from prosa.app.check.workspace import Workspace
from prosa.app.editor.corpus import EditorCorpus
from prosa.app.editor.rename import Renaming, renamable, rename, renamed_files
from prosa.app.editor.targets import pointers_in
from prosa.corpus.moves import Move, MoveRefused, plan_move
from prosa.corpus.moves.world import World
from prosa.graph.records import record_of
from tests.app.editor.marked import Marked, marked, opened
from tests.corpus.moves.corpora import corpora, paths
from tests.corpus.moves.store import Texts, after
from tests.depth import examples


def applied(workspace: Workspace, made: Renaming) -> dict[str, str]:
    """The texts of a workspace after a rename, by path."""
    texts: dict[str, str] = {}
    moves = dict(made.moves)
    for real in sorted({*workspace.entries, *workspace.texts}):
        source = workspace.source(real)
        assert source is not None
        text = source.text
        for each in sorted((one for one in made.edits if one.path == real), reverse=True):
            text = text[: each.start] + each.text + text[each.end :]
        texts[moves.get(real, real).relative_to(workspace.root).as_posix()] = text
    return texts


GUIDE = "# The guide\n\n## Two parts\n\n[own](#two-parts) [[#Two parts]]\n"
BESIDE = {
    "one.md": "[x](guide.md) and [y](guide.md#two-parts) ![i](guide.md) <a href='guide.md#x'>h</a>\n",
    "sub/two.md": "[[guide]] [[guide#Two parts|l]] ![[guide]] [[The guide]]\n",
    "sub/three.md": "[x](../guide.html) [y][l]\n\n[l]: ../guide.md#two-parts\n",
}
UP = '[relations]\nup = "parent"\n'
RELATED = '---\ntitle: B\n---\nx[^1]\n\n[^1]: `{"rel-type": "cites", "doc-id": "the-id"}`\n'
PROGRAM = """---
name: p
description: x
input: {required: [topic], properties: {topic: {type: string}, other: {type: string}}}
---
{{ .topic }} {{ if .topic }}{{ $x := .topic }}{{ $x }}{{ end }} {{ index . "topic" }} topic
"""

SUITE = "---\ntests: p.md\n---\n## one\n\n```yaml input\n{}```\n"

CASES = {
    "a document by a link to it": (
        {"guide.md": GUIDE, "a.md": "[x](gui|de.md)\n", **BESIDE},
        "handbook",
        "guide",
        {
            "handbook.md": GUIDE,
            "a.md": "[x](handbook.md)\n",
            "one.md": BESIDE["one.md"].replace("guide", "handbook"),
            "sub/two.md": "[[handbook]] [[handbook#Two parts|l]] ![[handbook]] [[The guide]]\n",
            "sub/three.md": BESIDE["sub/three.md"].replace("guide", "handbook"),
        },
    ),
    "a document that goes elsewhere": (
        {"guide.md": "[x](one.md)\n", "one.md": "[[gui|de]] [x](guide.md)\n"},
        "/deep/er/guide.md",
        "guide",
        {"deep/er/guide.md": "[x](../../one.md)\n", "one.md": "[[guide]] [x](deep/er/guide.md)\n"},
    ),
    "a heading": (
        {"guide.md": GUIDE.replace("## Two", "## T|wo"), **BESIDE},
        "Many   things",
        "Two parts",
        {
            "guide.md": "# The guide\n\n## Many things\n\n[own](#many-things) [[#Many things]]\n",
            "one.md": BESIDE["one.md"].replace("two-parts", "many-things"),
            "sub/two.md": BESIDE["sub/two.md"].replace("Two parts", "Many things"),
            "sub/three.md": BESIDE["sub/three.md"].replace("two-parts", "many-things"),
        },
    ),
    "a heading by a link to it": (
        {"guide.md": GUIDE, "a.md": "[[guide#Two pa|rts]]\n"},
        "More",
        "Two parts",
        {"guide.md": "# The guide\n\n## More\n\n[own](#more) [[#More]]\n", "a.md": "[[guide#More]]\n"},
    ),
    "a heading that is the title": (
        {"guide.md": GUIDE.replace("The", "T|he"), **BESIDE},
        "A book",
        "The guide",
        {
            **BESIDE,
            "guide.md": GUIDE.replace("The guide", "A book"),
            "sub/two.md": BESIDE["sub/two.md"].replace("The guide", "A book"),
        },
    ),
    "the first of three headings that are called alike": (
        {"g.md": "## P|art\n\n## Part\n\n## Part\n", "a.md": "[1](g.md#part) [2](g.md#part-1) [3](g.md#part-2)\n"},
        "Start",
        "Part",
        {"g.md": "## Start\n\n## Part\n\n## Part\n", "a.md": "[1](g.md#start) [2](g.md#part) [3](g.md#part-1)\n"},
    ),
    "a heading with an anchor of its own": (
        {"g.md": "## Pa|rt {#p}\n", "a.md": "[1](g.md#p)\n"},
        "Start",
        "Part",
        {"g.md": "## Start {#p}\n", "a.md": "[1](g.md#p)\n"},
    ),
    "an id where it is given": (
        {"a.mda": "---\ndoc-id: the-|id\n---\n# A\n", "b.mda": RELATED},
        "new: id",
        "the-id",
        {"a.mda": '---\ndoc-id: "new: id"\n---\n# A\n', "b.mda": RELATED.replace("the-id", "new: id")},
    ),
    "an id where it is named": (
        {"a.mda": "---\ndoc-id: the-id\n---\n# A\n", "b.mda": RELATED.replace("the-", "the|-")},
        "other",
        "the-id",
        {"a.mda": "---\ndoc-id: other\n---\n# A\n", "b.mda": RELATED.replace("the-id", "other")},
    ),
    "a document that a field of the project names": (
        {"guide.md": GUIDE, "a.md": "[x](gui|de.md)\n", "b.md": "---\nup: guide\n---\n", "prosa.toml": UP},
        "new one",
        "guide",
        {"new one.md": GUIDE, "a.md": "[x](new%20one.md)\n", "b.md": "---\nup: new one\n---\n"},
    ),
    "a footnote": (
        {"a.md": "x[^No|te] y[^note]\n\n[^note]: t\n"},
        "other",
        "Note",
        {"a.md": "x[^other] y[^other]\n\n[^other]: t\n"},
    ),
    "a label": (
        {"a.md": "[text][la|bel] [label][] [Label] ![label]\n\n[label]: x.md\n"},
        "new one",
        "label",
        {"a.md": "[text][new one] [label][new one] [Label][new one] ![label][new one]\n\n[new one]: x.md\n"},
    ),
    "an input in the template": (
        {"p.md": PROGRAM.replace("{{ .topic }}", "{{ .to|pic }}")},
        "subject",
        "topic",
        {"p.md": PROGRAM.replace("topic", "subject").replace("subject\n", "topic\n")},
    ),
    "an input that tests give": (
        {
            "p.md": PROGRAM.replace("{topic:", "{to|pic:"),
            "t.test.md": SUITE.format("topic: x\n"),
            "u.test.md": SUITE.format("other: y\n"),
        },
        "subject",
        "topic",
        {
            "p.md": PROGRAM.replace("topic", "subject").replace("subject\n", "topic\n"),
            "t.test.md": SUITE.format("subject: x\n"),
            "u.test.md": SUITE.format("other: y\n"),
        },
    ),
    "an input in the schema": (
        {"p.md": PROGRAM.replace("{topic:", "{to|pic:")},
        "subject",
        "topic",
        {"p.md": PROGRAM.replace("topic", "subject").replace("subject\n", "topic\n")},
    ),
    "a variable": (
        {"p.md": PROGRAM.replace("{{ $x }}", "{{ $|x }}")},
        "subject",
        "$x",
        {"p.md": PROGRAM.replace("$x", "$subject")},
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_x22_a_rename_changes_every_place_that_names_it(name: str, tmp_path: Path) -> None:
    texts, new, old, expected = CASES[name]
    at = marked(tmp_path, texts)
    found = renamable(at.workspace, at.path, at.offset)
    assert found is not None and found.name == old
    assert found.place.start <= at.offset <= found.place.end
    assert applied(at.workspace, rename(at.workspace, at.path, at.offset, new)) == expected


REFUSED = {
    "a document that is there": ({"guide.md": GUIDE, "one.md": "[x](gui|de.md)\n"}, "one", "one.md exists already"),
    "a name that would lead others astray": (
        {
            "x/guide.md": GUIDE,
            "y/new.md": "",
            "y/b.md": "[[new]]\n",
            "a.md": "[x](x/gui|de.md)\n",
            "y/z/c.md": "[[new]]\n",
        },
        "/y/z/new",
        "the new name would change where another reference leads",
    ),
    "outside the root": ({"guide.md": GUIDE, "a.md": "[x](gui|de.md)\n"}, "../../x", "lies outside the root"),
    "a heading that is there": ({"g.md": "# O|ne\n\n## Two\n"}, "two", "the document has a heading `Two` already"),
    "a heading without letters": ({"g.md": "# O|ne\n"}, "***", "a heading is one line with letters or digits"),
    "a heading that would be two lines": ({"g.md": "# O|ne\n"}, "One #", "would not read back"),
    "an id that is taken": (
        {"a.mda": "---\ndoc-id: o|ne\n---\n", "b.mda": "---\ndoc-id: two\n---\n"},
        "two",
        "`two` is the id of b.mda already",
    ),
    "a label that is taken": (
        {"a.md": "[x][o|ne] [y][Two]\n\n[one]: a\n[two]: b\n"},
        "TWO",
        "is the name of something",
    ),
    "a footnote with blanks": ({"a.md": "x[^o|ne]\n\n[^one]: t\n"}, "a b", "has no blanks"),
    "an input that is there": ({"p.md": PROGRAM.replace("{topic:", "{to|pic:")}, "other", "`other` is the name of"),
    "an input that no template can name": ({"p.md": PROGRAM.replace("{topic:", "{to|pic:")}, "a b", "is a word of"),
    "text": ({"a.md": "no|thing\n"}, "x", "there is nothing here"),
    "a link to nothing": ({"a.md": "[x](go|ne.md)\n"}, "x", "there is nothing here"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_x22_what_cannot_be_renamed_is_refused_with_a_sentence(name: str, tmp_path: Path) -> None:
    texts, new, message = REFUSED[name]
    at = marked(tmp_path, texts)
    with pytest.raises(MoveRefused) as refused:
        rename(at.workspace, at.path, at.offset, new)
    assert message in refused.value.message
    if "nothing here" in message:
        assert renamable(at.workspace, at.path, at.offset) is None


def moving(at: Workspace, *pairs: tuple[str, str]) -> dict[str, str]:
    made = renamed_files(at, [(at.root / old, at.root / new) for old, new in pairs])
    assert not made.moves  # the editor does that
    return {path: text for path, text in applied(at, made).items() if (at.root / path).read_text("utf-8") != text}


def test_files_that_the_editor_moves_are_followed_as_by_prosa_rename(tmp_path: Path) -> None:
    workspace = opened(tmp_path, {"guide.md": "[x](one.md)\n", **BESIDE})
    texts = {path.name: path.read_text("utf-8") for path in tmp_path.glob("*.md")} | {
        path: (tmp_path / path).read_text("utf-8") for path in ("sub/two.md", "sub/three.md")
    }
    plan = plan_move(Move("guide.md", "sub/new.md"), Texts(texts))
    expected = {change.path: change.after for change in (*plan.others, plan.moved)}
    assert moving(workspace, ("guide.md", "sub/new.md")) == expected


def test_a_folder_moves_with_its_documents_and_pictures(tmp_path: Path) -> None:
    workspace = opened(
        tmp_path,
        {
            "old/a.md": "[b](b.md) [o](../out.md) ![p](img/p.png) [[b]] [s](sub/c.md)\n",
            "old/b.md": "[a](a.md)\n",
            "old/sub/c.md": "[a](../a.md) [o](../../out.md)\n",
            "old/img/p.png": "",
            "out.md": "[a](old/a.md#x) [b](./old/b.md) ![p](old/img/p.png) [f](old/) [[a]] [[old/b]]\n",
            "deep/er.md": "[a](../old/a.md)\n",
        },
    )
    assert moving(workspace, ("old", "deep/new")) == {
        "old/a.md": "[b](b.md) [o](../../out.md) ![p](img/p.png) [[b]] [s](sub/c.md)\n",
        "old/sub/c.md": "[a](../a.md) [o](../../../out.md)\n",
        "out.md": "[a](deep/new/a.md#x) [b](./deep/new/b.md) ![p](deep/new/img/p.png) [f](deep/new/) [[a]] [[new/b]]\n",
        "deep/er.md": "[a](new/a.md)\n",
    }


def test_a_picture_that_moves_is_followed(tmp_path: Path) -> None:
    workspace = opened(
        tmp_path,
        {"a.md": "![p](img/p.png) ![[p.png]] [p](/img/p.png)\n", "img/p.png": "", "sub/b.md": "![p](../img/p.png)\n"},
    )
    assert moving(workspace, ("img/p.png", "img/new one.png")) == {
        "a.md": "![p](img/new%20one.png) ![[new one.png]] [p](/img/new%20one.png)\n",
        "sub/b.md": "![p](../img/new%20one.png)\n",
    }


def test_nothing_outside_the_project_is_followed(tmp_path: Path) -> None:
    workspace = opened(tmp_path / "in", {"a.md": "[x](b.md)\n", "b.md": ""})
    outside = tmp_path.resolve() / "b.md"
    assert renamed_files(
        workspace, [(outside, workspace.root / "b.md"), (workspace.root / "b.md", outside)]
    ) == Renaming(())


QUIET = settings(
    max_examples=examples(40), deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much]
)


@QUIET
@given(corpora(), st.data())
def test_x21_an_editor_plans_the_same_move_as_prosa_rename(texts: dict[str, str], data: st.DataObject) -> None:
    path = data.draw(st.sampled_from(sorted(texts)))
    new = data.draw(paths(posixpath.splitext(path)[1]))
    assume(new not in texts)
    move = Move(path, new)
    try:
        expected = after(texts, plan_move(move, Texts(texts)))
    except MoveRefused:
        expected = None
    with tempfile.TemporaryDirectory() as folder:
        workspace = opened(Path(folder), dict.fromkeys(texts, "not saved yet\n"))
        for name, text in texts.items():
            workspace.update(workspace.root / name, text)
        try:
            made = renamed_files(workspace, [(workspace.root / path, workspace.root / new)])
        except MoveRefused:
            assert expected is None
            event("refused")
            return
        written = applied(workspace, made)
    written[new] = written.pop(path)
    assert written == expected


HEADINGS = st.sampled_from(
    ["Title", "Two parts", "A *b* `c`", "Ö (x)", "1. First", "a_b", "x [y](z.md)", "it's", "100 %"]
)


@QUIET
@given(corpora(), HEADINGS, st.lists(HEADINGS, max_size=3), st.data())
def test_x21_a_heading_that_is_renamed_leaves_the_graph_as_it_was(
    texts: dict[str, str], new: str, more: list[str], data: st.DataObject
) -> None:
    path = data.draw(st.sampled_from(sorted(texts)))
    name = posixpath.splitext(posixpath.basename(path))[0]
    texts = {each: f"{text}\n[[{name}#{more[0] if more else 'Title'}]]\n" for each, text in texts.items()}
    texts[path] += "\n" + "".join(f"## {each}\n\n" for each in more)
    with tempfile.TemporaryDirectory() as folder:
        workspace = opened(Path(folder), texts)
        real = workspace.root / path
        headings = [each.heading.content.start for each in EditorCorpus(workspace).reading(path).document.sections]
        offset = data.draw(st.sampled_from(headings))
        was = graph(workspace, texts)
        found = {each: len(some) for each, some in workspace.diagnostics.items()}
        try:
            made = rename(workspace, real, offset, new)
        except MoveRefused:
            event("refused")
            return
        for each, text in applied(workspace, made).items():
            workspace.update(workspace.root / each, text)
        assert graph(workspace, texts) == was
        assert all(len(some) <= found.get(each, 0) for each, some in workspace.diagnostics.items())


def graph(workspace: Workspace, texts: dict[str, str]) -> list[tuple[object, ...]]:
    """Where every reference leads, and to which heading."""
    corpus = EditorCorpus(workspace)
    readings = {path: corpus.reading(path) for path in texts}
    world = World.of(record_of(each, path) for path, each in readings.items())
    return [
        (record.path, each.origin, world.resolve(record, each).paths)
        for record in world.records.values()
        for each in record.references
    ]


def test_a_document_is_renamed_only_where_all_others_are_known(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("prosa.app.check.workspace.MAX_UNMARKED", 1)
    (tmp_path / "a.md").write_text("[x](b.md)\n")
    (tmp_path / "b.md").write_text("# B\n")
    workspace = Workspace.open(tmp_path.resolve(), CheckOptions(), {})
    for name in ("a.md", "b.md"):
        workspace.update(workspace.root / name, (tmp_path / name).read_text())
    assert not workspace.is_whole
    with pytest.raises(MoveRefused, match="too large to be read as one project"):
        rename(workspace, workspace.root / "a.md", 5, "c")
    assert renamed_files(workspace, [(workspace.root / "b.md", workspace.root / "c.md")]) == Renaming(())
    assert rename(workspace, workspace.root / "b.md", 3, "C").edits


def test_a_rename_knows_texts_that_are_not_saved(tmp_path: Path) -> None:
    at: Marked = marked(tmp_path, {"guide.md": GUIDE, "a.md": "[x](gui|de.md)\n", "b.md": "nothing yet\n"})
    at.workspace.update(at.path.parent / "b.md", "and [y](guide.md) here\n")
    made = rename(at.workspace, at.path, at.offset, "new")
    assert applied(at.workspace, made)["b.md"] == "and [y](new.md) here\n"
    assert made.moves == ((at.path.parent / "guide.md", at.path.parent / "new.md"),)


@QUIET
@given(corpora(), st.sampled_from(["new", "new one", "deep/er", "/d/x", "a", "B-c"]), st.data())
def test_x22_what_is_renamed_at_a_link_brings_no_new_diagnostics(
    texts: dict[str, str], new: str, data: st.DataObject
) -> None:
    """Whatever a pointer leads to, a document, an id or a heading: after the rename no more leads nowhere than
    before."""
    path = data.draw(st.sampled_from(sorted(texts)))
    with tempfile.TemporaryDirectory() as folder:
        workspace = opened(Path(folder), texts)
        reading = workspace.reading(workspace.root / path)
        assert reading is not None
        offsets = [each.span.start for each in pointers_in(reading, path)]
        assume(offsets)
        try:
            made = rename(workspace, workspace.root / path, data.draw(st.sampled_from(offsets)), new)
        except MoveRefused:
            event("refused")
            return
        written = applied(workspace, made)
        found = lost(workspace)
    with tempfile.TemporaryDirectory() as folder:
        again = opened(Path(folder), written)
        assert lost(again) <= found


def lost(workspace: Workspace) -> int:
    """How many diagnostics are about links that lead nowhere, or to several. What else is said of a document may depend
    on the folder that it is in."""
    every = (each.rule for some in workspace.diagnostics.values() for each in some)
    return sum(rule.startswith(("unresolved", "ambiguous", "duplicate-id")) for rule in every)
