"""Sections and their anchors, as GitHub gives them."""

from __future__ import annotations

import pytest

from prosa.document import parse
from prosa.document.anchors import anchors
from prosa.source import SourceText


@pytest.mark.parametrize(
    ("heading", "anchor"),
    [
        ("Plain words", "plain-words"),
        ("What's new, in 2.0?", "whats-new-in-20"),
        ("A  b", "a--b"),
        ("snake_case and-hyphen", "snake_case-and-hyphen"),
        ("`code` & *marks*", "code--marks"),
        ("[linked](./x.md) text", "linked-text"),
        ("Überschrift 漢字", "überschrift-漢字"),
        ("1² ½ ٣", "1--٣"),
        ("🎉 party", "-party"),
        ("Caf\u0065\u0301", "caf\u0065\u0301"),
        ("a &amp; b", "a--b"),
        ("\\*starred\\*", "starred"),
        ("<b>bold</b> ![image](i.png)", "bold-image"),
        ("C++ / C#", "c--c"),
        ("!!!", ""),
    ],
)
def test_the_anchor_of_a_heading(heading: str, anchor: str):
    (section,) = parse(SourceText(f"# {heading}\n")).sections
    assert section.anchor == anchor


def test_equal_anchors_are_numbered_and_stay_unique():
    assert anchors(["a", "a", "A", "a-1", "a"]) == ["a", "a-1", "a-2", "a-1-1", "a-3"]


def test_many_equal_headings_are_numbered_in_linear_time():
    names = anchors(["a"] * 20_000 + [f"a-{number}" for number in range(20_000)])
    assert len(set(names)) == len(names)


def test_a_section_ends_where_a_heading_of_its_level_or_higher_begins():
    text = "x\n\n# a\n\n### b\n\n## c\n\nd\n\n# e\nf\n"
    sections = parse(SourceText(text)).sections
    assert [section.span.of(text) for section in sections] == [
        "# a\n\n### b\n\n## c\n\nd\n\n",
        "### b\n\n",
        "## c\n\nd\n\n",
        "# e\nf\n",
    ]
    assert [(section.level, section.heading.text) for section in sections] == [(1, "a"), (3, "b"), (2, "c"), (1, "e")]


def test_a_nested_heading_ends_no_section_of_the_document():
    text = "# a\n\n> # b\n> c\n> ## d\n\ne\n\n- # f\n\n## g\n"
    spans = {section.heading.text: section.span.of(text) for section in parse(SourceText(text)).sections}
    assert spans["a"] == text
    assert spans["b"] == "# b\n> c\n> ## d"
    assert spans["d"] == "## d"
    assert spans["f"].startswith("# f") and spans["g"] == "## g\n"


def test_anchors_of_a_document_include_the_ids_in_its_html():
    text = (
        '# One\n\n<a id="two"></a> <a name=\'three\'/> <b data-id="no">\n\n'
        "<div id=four\n class=x>\n</div>\n\n<!-- <i id=no> -->\n"
    )
    assert parse(SourceText(text)).anchors == {"one", "two", "three", "four"}
