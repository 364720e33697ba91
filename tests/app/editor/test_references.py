"""References are all places that name what stands at the cursor, in every document and notation."""

from __future__ import annotations

import tempfile
from collections.abc import Iterable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings

from prosa.app.editor.changes import DocumentSpan
from prosa.app.editor.corpus import EditorCorpus
from prosa.app.editor.references import backlink_counts, highlights, references
from prosa.corpus.moves.world import World
from prosa.graph.records import record_of
from tests.app.editor.marked import Marked, marked, opened
from tests.corpus.moves.corpora import corpora
from tests.depth import examples

GUIDE = "# The guide\n\n## Two parts\n\n[own](#two-parts)\n"

BESIDE = {
    "one.md": "[x](guide.md) and [y](guide.md#two-parts)\n",
    "sub/two.md": "[[guide]] [[guide#Two parts]] ![[guide]] [[The guide]]\n",
    "sub/three.md": "[x](../guide.html) [y][l]\n\n[l]: ../guide.md\n",
    "four.md": "[x](other.md) [[guidebook]] `[[guide]]`\n",
    "guidebook.md": "# Other\n",
}
ALL = [
    "one.md:1 guide.md",
    "one.md:1 guide.md#two-parts",
    "sub/three.md:1 ../guide.html",
    "sub/three.md:3 ../guide.md",
    "sub/two.md:1 [[guide]]",
    "sub/two.md:1 [[guide#Two parts]]",
    "sub/two.md:1 ![[guide]]",
    "sub/two.md:1 [[The guide]]",
]
PARTS = ["guide.md:3 Two parts", "guide.md:5 #two-parts", "one.md:1 guide.md#two-parts"]
PARTS += ["sub/two.md:1 [[guide#Two parts]]"]
PROGRAM = "---\nname: p\ndescription: x\ninput: {required: [a], properties: {a: {type: string}}}\n---\n"

CASES = {
    "title": ({"guide.md": GUIDE.replace("The", "T|he")}, ["guide.md:1 The guide", *ALL]),
    "heading": ({"guide.md": GUIDE.replace("Two", "T|wo")}, PARTS),
    "link to a document": ({"guide.md": GUIDE, "a.md": "[x](gui|de.md)"}, ["a.md:1 guide.md", *ALL]),
    "link to a heading": (
        {"guide.md": GUIDE, "a.md": "[x](gui|de.md#two-parts)"},
        ["a.md:1 guide.md#two-parts", *PARTS],
    ),
    "id": (
        {
            "a.mda": "---\ndoc-id: the-|id\n---\n# A\n",
            "b.mda": '---\ntitle: B\n---\nx[^1]\n\n[^1]: `{"rel-type": "cites", "doc-id": "the-id"}`\n',
        },
        ['b.mda:6 "the-id"'],
    ),
    "import": (
        {"p.md": "---\nname: p\ndescription: x\nimports: [./q|.md]\ninput: {}\n---\n", "q.md": PROGRAM},
        ["p.md:4 ./q.md"],
    ),
    "footnote": ({"a.md": "x[^|n] y[^n]\n\n[^n]: t\n"}, ["a.md:1 n", "a.md:1 n", "a.md:3 n"]),
    "label": ({"a.md": "[A|b] [x][ab] [ab][]\n\n[AB]: x.md\n"}, ["a.md:1 Ab", "a.md:1 ab", "a.md:1 ab", "a.md:3 AB"]),
    "input": ({"p.md": PROGRAM + "{{ .|a }} {{ if .a }}{{ end }}\n"}, ["p.md:4 a", "p.md:4 a", "p.md:6 a", "p.md:6 a"]),
    "field that the project names": (
        {
            "guide.md": GUIDE.replace("The", "T|he"),
            "b.md": "---\nup: guide\n---\n",
            "prosa.toml": '[relations]\nup = "parent"\n',
        },
        ["b.md:2 guide", "guide.md:1 The guide", *ALL],
    ),
    "text": ({"a.md": "noth|ing\n"}, []),
}


def shown(at: Marked, places: Iterable[DocumentSpan]) -> list[str]:
    return [at.show(each) for each in places]


@pytest.mark.parametrize("name", CASES)
def test_x30_the_references_to_what_stands_at_the_cursor(name: str, tmp_path: Path) -> None:
    texts, expected = CASES[name]
    at = marked(tmp_path, {**BESIDE, **texts})
    assert shown(at, references(at.workspace, at.path, at.offset)) == expected


def test_highlights_are_the_places_in_the_document_itself(tmp_path: Path) -> None:
    at = marked(tmp_path, {**BESIDE, "guide.md": GUIDE, "a.md": "[x](gui|de.md) [[guide]] [y](one.md)\n"})
    assert shown(at, highlights(at.workspace, at.path, at.offset)) == ["a.md:1 guide.md", "a.md:1 [[guide]]"]
    heading = marked(tmp_path / "h", {**BESIDE, "guide.md": GUIDE.replace("Two", "T|wo")})
    found = highlights(heading.workspace, heading.path, heading.offset)
    assert shown(heading, found) == ["guide.md:3 Two parts", "guide.md:5 #two-parts"]


def test_a_lens_counts_the_backlinks_of_a_document_and_of_its_headings(tmp_path: Path) -> None:
    at = marked(tmp_path, {**BESIDE, "guide.md": f"{GUIDE}|"})
    found = backlink_counts(at.workspace, at.path)
    assert [(at.show(place), count) for place, count in found] == [("guide.md:1", 8), ("guide.md:3 Two parts", 2)]


def test_references_follow_what_is_written_and_removed(tmp_path: Path) -> None:
    at = marked(tmp_path, {"guide.md": "# G|\n", "a.md": "[x](guide.md)\n", "b.md": "text\n"})
    for name, text, expected in (
        ("b.md", "[[guide]]\n", ["a.md:1 guide.md", "b.md:1 [[guide]]"]),
        ("a.md", "nothing\n", ["b.md:1 [[guide]]"]),
        ("new.md", "[y](guide.md)", ["b.md:1 [[guide]]", "new.md:1 guide.md"]),
        ("b.md", "\n\n[[guide]]\n", ["b.md:3 [[guide]]", "new.md:1 guide.md"]),
    ):
        at.workspace.update(at.path.parent / name, text)
        assert shown(at, references(at.workspace, at.path, at.offset, definitions=False)) == expected
    (at.path.parent / "b.md").unlink()
    at.workspace.update(at.path.parent / "b.md")
    assert shown(at, references(at.workspace, at.path, at.offset, definitions=False)) == ["new.md:1 guide.md"]


@settings(max_examples=examples(60), deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(texts=corpora())
def test_x21_backlinks_are_those_of_the_graph(texts: dict[str, str]) -> None:
    """Every reference of the graph that leads to another document is among the backlinks of that, whatever notation
    says it; only a link of plain Markdown to an address of the site is not known without its text."""
    with tempfile.TemporaryDirectory() as folder:
        corpus = EditorCorpus(opened(Path(folder), texts))
        world = World.of(record_of(corpus.reading(path), path) for path in texts)
        found = {(other, path, each.target) for path in texts for other, each in corpus.backlinks(path)}
    for record in world.records.values():
        for each in record.references:
            to = world.resolve(record, each).to
            if to not in (None, record.path):
                assert (record.path, to, each.target) in found
