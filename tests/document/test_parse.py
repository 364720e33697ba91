"""One CommonMark parse: every span, sliced from the source, is what it claims to be (X2)."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from prosa.document import Document, fence_texts, parse
from prosa.source import SourceText, Span
from tests.depth import examples
from tests.work import is_linear

PIECES = st.lists(
    st.sampled_from(
        [
            "# ",
            "## ",
            "\n",
            "\r\n",
            "\r",
            "\n\n",
            "> ",
            "- ",
            "1. ",
            "```",
            "~~~",
            "py",
            "word ",
            "é",
            "漢",
            "😀",
            "    ",
            "\t",
            "*a*",
            "`b`",
            "[x](y)",
            "===",
            "---",
            "[^1]: ",
            "|a|b|",
            "<!-- ",
            "-->",
            "\u2028",
            "\x00",
            "{{ .x }}",
            "\ud800",
        ]
    ),
    max_size=40,
).map("".join)


def read(text: str) -> Document:
    return parse(SourceText(text))


@pytest.mark.parametrize(
    ("text", "level", "heading"),
    [
        ("# One", 1, "One"),
        ("###### Six ######\n", 6, "Six"),
        ("Two *words* é\n---\n", 2, "Two *words* é"),
        ("text\n\n# é `code` [l](m)\r\n", 1, "é `code` [l](m)"),
        ("#\n", 1, ""),
        ("### \\@user:\n", 3, "\\@user:"),
        ("# \\\\a\n", 1, "\\\\a"),
    ],
)
def test_headings_keep_their_inline_source(text: str, level: int, heading: str):
    (found,) = read(text).headings
    assert (found.level, found.text) == (level, heading)
    assert found.content.of(text) == heading


def test_headings_inside_containers_are_nested():
    document = read("# a\n\n> # b\n\n- # c\n\n[^1]: # d\n\n# e\n")
    assert [(heading.text, heading.nested) for heading in document.headings] == [
        ("a", False),
        ("b", True),
        ("c", True),
        ("d", True),
        ("e", False),
    ]


def test_a_heading_in_a_fence_is_no_heading():
    assert read("```\n# no\n```\n").headings == ()


def test_fences_know_language_info_and_content():
    text = "> ```py title=x\n> a\n> é\n> ```\n\n~~~\nb\n~~~\n\n    indented\n"
    first, second = read(text).fences
    assert (first.language, first.info, first.nested) == ("py", "py title=x", True)
    assert "".join(piece.of(text) for piece in first.content) == "a\né\n"
    assert (second.language, second.info, second.nested) == ("", "", False)
    assert second.span.of(text) == "~~~\nb\n~~~"


def test_the_body_alone_is_parsed_and_spans_count_from_the_start_of_the_source():
    text = "é # no\n---\n# yes\n"
    document = parse(SourceText(text), body=Span(11, len(text)))
    assert [heading.span.of(text) for heading in document.headings] == ["# yes"]


def test_masked_spans_do_not_take_part_in_the_structure():
    text = "[a]({{ .url }})\n\n{{ `\n# no` }} text\n"
    spans = [Span(match.start(), match.end()) for match in re.finditer(r"\{\{.*?\}\}", text, re.DOTALL)]
    masked = parse(SourceText(text), masked=spans)
    assert parse(SourceText(text)).headings
    assert not masked.headings
    assert next(paragraph.span.of(text) for paragraph in masked.paragraphs) == "[a]({{ .url }})"


def test_fence_texts_are_chosen_by_language():
    text = "```json\n{}\n```\n\n```JSON\n[]\n```\n\n```\nplain\n```\n\n```py\nx\n```\n"
    assert fence_texts(text, languages=("json",)) == ("{}\n", "[]\n")
    assert fence_texts(text, languages=("",)) == ("plain\n",)


@settings(max_examples=examples(150), deadline=None)
@given(PIECES)
def test_every_span_is_what_it_claims(text: str):
    document = read(text)
    for heading in document.headings:
        shown = heading.span.of(text)
        assert shown.lstrip(" \t").startswith("#" * heading.level) or re.search(r"[=-]+\s*$", shown)
        assert heading.content.of(text) == heading.text
        assert heading.span.start <= heading.content.start <= heading.content.end <= heading.span.end
    for fence in document.fences:
        assert fence.span.of(text).startswith(("```", "~~~"))
        assert all(fence.span.start < piece.start <= piece.end <= len(text) for piece in fence.content)
    for paragraph in document.paragraphs:
        assert paragraph.text == paragraph.span.of(text)
        assert paragraph.text.strip(" \t\r\n")


@settings(max_examples=examples(100), deadline=None)
@given(PIECES)
def test_headings_stay_where_they_are_when_text_is_put_in_front(text: str):
    front = "---\nkey: é\n---\n"
    moved = parse(SourceText(front + text), body=Span(len(front), len(front + text)))
    assert [heading.span.shift(-len(front)) for heading in moved.headings] == [
        each.span for each in read(text).headings
    ]


@pytest.mark.parametrize("unit", ["# é *a* ", "é `c` ", "> ", "- a\n", "```\n"])
def test_work_is_linear_also_on_one_long_line(unit: str):
    assert is_linear(lambda count: read(unit * count), 2_000, 30_000)
