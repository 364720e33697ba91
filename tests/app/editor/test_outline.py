"""The parts of a document: a tree of symbols, folds, what a selection grows to, links; symbols of all documents."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import pytest

from prosa.app.check.workspace import Workspace
from prosa.app.editor.definition import document_links
from prosa.app.editor.outline import OutlineSymbol, folds, outline, selections, workspace_symbols
from tests.app.editor.marked import marked, opened

CASES = {
    "headings": ("a.md", "# A\n\n## B\n\n### C\n\ntext\n\n## D\n", "A(B(C) D)"),
    "headings in a quotation are none": ("a.md", "# A\n\n> ## B\n", "A"),
    "front matter": ("a.md", "---\ntitle: T\ntags: [a, b]\nx: {y: 1}\n---\n# A\n", "front matter(title tags x(y)) A"),
    "scripts and relationships": (
        "a.mda",
        (
            "---\ntitle: T\n---\n# A\n\n```ai-script\n"
            '{"script-id": "one", "prompt": "p"}\n```\n\n## B\n\nx[^1]\n\n[^1]: `{"rel-type": "r", "doc-id": "i"}`\n'
        ),
        "front matter(title) A(one B([^1]))",
    ),
    "messages of a chat": (
        "c.md",
        "### @system:\n\n# Rules\n\n### @user/Ann:\n\nhi\n\n### @assistant:\n\n## Part\n",
        "@system(Rules) @user/Ann @assistant(Part)",
    ),
    "actions": (
        "index.md",
        "---\nid: home\ntype: page\ntitle: H\nactions:\n  - {id: find, method: GET, url: /f}\n---\n# A\n",
        "front matter(id type title actions(find)) A",
    ),
    "footer": (
        "t.ymj",
        '---\nkind: note\ndoc_summary: x\n---\n# A\n\n```json\n{"schema": "s", "index": {"tags": []}}\n```\n',
        "front matter(kind doc_summary) A footer(schema index(tags))",
    ),
    "nothing": ("a.md", "", ""),
}


def tree(symbols: tuple[OutlineSymbol, ...]) -> str:
    return " ".join(each.name + (f"({tree(each.children)})" if each.children else "") for each in symbols)


@pytest.mark.parametrize("name", CASES)
def test_x30_the_symbols_of_a_document_are_a_tree(name: str, tmp_path: Path) -> None:
    path, text, expected = CASES[name]
    workspace = opened(tmp_path, {path: text})
    found = outline(workspace, workspace.root / path)
    assert tree(found) == expected
    assert_inside(found, 0, len(text))


def assert_inside(symbols: tuple[OutlineSymbol, ...], start: int, end: int) -> None:
    """Every symbol lies in the one around it, behind the one before it, and holds what names it."""
    for each in symbols:
        assert start <= each.whole.start <= each.place.start <= each.place.end <= each.whole.end <= end
        assert_inside(each.children, each.whole.start, each.whole.end)
        start = each.whole.start


def test_folds_are_what_has_several_lines(tmp_path: Path) -> None:
    head = "---\na: 1\nb:\n  c: 1\n---\n# A\n\n"
    text = f"{head}```py\nx\n```\n\n> q\n> r\n\n- i\n\n  j\n\n<!-- c\nd -->\n\n## B\n\n## C\n\nx\n"
    workspace = opened(tmp_path, {"a.md": text})
    found = folds(workspace, workspace.root / "a.md")
    source = workspace.source(workspace.root / "a.md")
    assert source is not None
    lines = [(source.lines.line(each.place.start), source.lines.line(each.place.end), each.kind) for each in found]
    assert lines == [
        *((1, 5, "front matter"), (3, 4, "block"), (6, 26, "section"), (8, 10, "code")),
        *((12, 13, "block"), (15, 17, "block"), (19, 20, "comment"), (24, 26, "section")),
    ]


def test_a_selection_grows_from_the_word_to_the_document(tmp_path: Path) -> None:
    at = marked(tmp_path, {"a.md": "# A\n\n- see [the gu|ide](b.md) now\n\nmore\n"})
    found = selections(at.workspace, at.path, at.offset)
    text = at.workspace.texts[at.path]
    assert [text[each.start : each.end].strip() for each in found] == [
        *("guide", "the guide", "[the guide](b.md)", "- see [the guide](b.md) now"),
        *(text.strip(), text.strip()),
    ]
    for inner, outer in pairwise(found):
        assert outer.start <= inner.start and inner.end <= outer.end


def test_links_are_those_that_lead_somewhere(tmp_path: Path) -> None:
    text = "[a](b.md#x) [[b]] [c](gone.md) <https://example.org/x> ![p](p.png) [o](../../etc/passwd) [s](#own)\n"
    workspace = opened(tmp_path, {"a.md": text, "b.md": "# B\n", "p.png": ""})
    found = document_links(workspace, workspace.root / "a.md")
    said = [(text[each.place.start : each.place.end], each.path and each.path.name, each.url) for each in found]
    assert said == [
        *(("b.md#x", "b.md", ""), ("[[b]]", "b.md", "")),
        *(("https://example.org/x", None, "https://example.org/x"), ("p.png", "p.png", "")),
    ]


SYMBOLS = {
    "guide.md": "# The guide\n\n## Two parts\n\n## Two *parts*\n",
    "sub/other.md": "# Another\n\n## Guided tour\n",
    "one.mda": "---\ndoc-id: guide-id\ntitle: One\n---\n# One\n",
    "p.md": "---\nname: guide-maker\ndescription: x\ninput: {}\n---\n",
    "site/index.md": "---\nid: home\ntype: page\ntitle: H\nactions:\n  - {id: guide-me, method: GET, url: /g}\n---\n",
}


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        (
            "guide",
            [
                *("guide-id id one.mda:2 guide-id", "guide-maker program p.md:2 guide-maker"),
                *("guide-me action site/index.md:6 guide-me", "Guided tour heading sub/other.md:3 Guided tour"),
                *("The guide document guide.md:1", "The guide heading guide.md:1 The guide"),
            ],
        ),
        ("two parts", ["Two parts heading guide.md:3 Two parts", "Two *parts* heading guide.md:5 Two *parts*"]),
        ("TOUR", ["Guided tour heading sub/other.md:3 Guided tour"]),
        ("zzz", []),
    ],
)
def test_symbols_of_all_documents_come_the_best_first(query: str, expected: list[str], tmp_path: Path) -> None:
    at = marked(tmp_path, {**SYMBOLS, "cursor.md": "|\n"})
    found = workspace_symbols(at.workspace, query)
    assert sorted(f"{each.name} {each.kind} {at.show(each.place)}" for each in found) == sorted(expected)


def test_without_a_question_documents_are_given_and_no_more_than_asked_for(workspace: Workspace) -> None:
    found = workspace_symbols(workspace, "", 3)
    assert len(found) == 3
    assert {each.kind for each in found} == {"document"}


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    return opened(tmp_path, SYMBOLS)
