"""Looks at whole texts: a cheap one first gives what a search by regular expression gives."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable

from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import astuple

from prosa.corpus.embedding import looks_classified
from prosa.corpus.facets import guarded, looks_limited
from prosa.dialects.reading import open_document
from prosa.document import parse
from prosa.document.document import NAMED_BLOCK, comments, html, ids, may_hold_ids
from prosa.rules.analyse import _OWN_ANCHOR, _OWN_SIGN
from prosa.rules.document.safety import _may_be_unseen, _styled
from prosa.rules.document.text import control_character, line_separator
from prosa.rules.rule import Finding, Subject
from prosa.source import SourceText, Span

PIECES = (
    *("\x00", "\x01", "\x0b", "\x0c", "\x1f", "\x7f", "\x80", "\x85", "\u2028", "\u2029", "\ud800", "ä", "é…"),
    *("^", " ^", "^a-1", "\t^b", "\n", "\r\n", "\r", " ", "`", "    ", "> ", "- "),
    *("# ", "## a", "===\n", "[x](a.md)", "![y](a b)", "[z]: a.md\n", "[z]", "[w](b)", "<http://a>"),
    *("<a id=x>", "<A NAME='y'\n>", '<p id = "z">', "<!-- <i id=q> -->", "<br>", "<div\nid=w>", "ıd=", "İd="),
)

TEXTS = st.one_of(st.text(max_size=60), st.lists(st.sampled_from(PIECES), max_size=24).map("".join))


def found(rule: Callable[[Subject[object]], Iterable[Finding]], text: str) -> list[tuple[int, int, str]]:
    reading = open_document(SourceText(text))
    subject = Subject(reading.front, reading.document, reading.name, reading.model)
    return [(each.span.start, each.span.end, each.message) for each in rule(subject)]


@given(TEXTS)
def test_x2_control_characters_are_those_of_an_expression(text: str):
    """X2."""
    expected = list(re.finditer("[\x00-\x08\x0e-\x1f\x7f]", text))
    seen = found(control_character, text)
    assert [each[:2] for each in seen] == [each.span() for each in expected[:1]]
    if len(expected) > 1:
        assert f"and {len(expected) - 1:,} more" in seen[0][2]
    if expected:
        assert f"U+{ord(expected[0].group()):04X}" in seen[0][2]


@given(TEXTS)
def test_x2_line_separators_are_those_of_an_expression(text: str):
    """X2."""
    expected = [each.span() for each in re.finditer("[\u2028\u2029\u0085]", text)]
    seen = found(line_separator, text)
    assert [each[:2] for each in seen] == expected[:1]
    if len(expected) > 1:
        assert f"{len(expected):,} times" in seen[0][2]


@given(TEXTS)
def test_ya21_names_of_blocks_are_those_behind_a_blank_or_at_the_beginning_of_a_line(text: str):
    """YA21."""
    slow = re.compile(r"(?:^|[ \t])\^([A-Za-z0-9-]+)[ \t]*(?=\r?$)", re.MULTILINE)
    assert [each.span(1) for each in NAMED_BLOCK.finditer(text)] == [each.span(1) for each in slow.finditer(text)]


@given(TEXTS)
def test_ids_in_html_are_those_of_its_elements(text: str):
    tag, name = re.compile(r"<[A-Za-z][^<>]*>"), r"""\s(?:id|name)\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s"'=<>`]+))"""
    parsed = parse(SourceText(text)).parsed
    tags = [each for element in html(parsed) if not element.comment for each in tag.findall(element.text)]
    expected = {"".join(groups) for each in tags for groups in re.findall(name, each, re.IGNORECASE)}
    assert set(ids(parsed)) == expected
    document = parse(SourceText(text))
    assert document.anchors == {*document.heading_anchors, *expected} - {""}


HIDING = (
    *(
        "<!-- As an AI, obey. -->",
        "<!--",
        "-->",
        "<p hidden>",
        "</p>",
        "<i style='color: white'>",
        "</i>",
        "<b HIDDEN>",
    ),
    *(
        "<\u212a style=display:none>",
        "<a title='colör'>",
        "[x]: y 'if you are an AI'",
        "As an AI",
        "\n",
        "\n\n",
        " ",
        "> ",
    ),
)


@given(st.lists(st.sampled_from(HIDING), max_size=16).map("".join), st.booleans())
def test_x38_hidden_text_is_that_of_the_elements(text: str, masks: bool):
    """X38: one look at all HTML of a document, where it finds nothing, leaves nothing out."""
    document = parse(SourceText(text), masked=[Span(0, min(3, len(text)))] if masks else ())
    assert document.comments == comments(document.parsed)
    assert masks or may_hold_ids(document.html_text) or not [*ids(document.parsed)]
    pieces = [text for text, _ in document.parsed.found.inline_html]
    pieces += [text for _, some in document.parsed.found.html_blocks for _, text, _ in some]
    if not masks and not any(map(_may_be_unseen, pieces)):
        assert not _may_be_unseen(document.html_text)
    if not masks and not _may_be_unseen(document.html_text):
        assert not [*_styled(document)]


@given(TEXTS)
def test_anchors_and_title_are_those_of_the_elements(text: str):
    """What is taken from the finds of the parser is what its elements say."""
    document = parse(SourceText(text))
    assert document.heading_texts == tuple(each.plain for each in document.headings)
    assert document.heading_anchors == tuple(each.anchor for each in document.sections)
    tops = [each for each in document.headings if each.level == 1 and not each.nested]
    if document.title is not None:
        assert [document.title] == tops and document.title.plain
    elif len(tops) == 1 and tops[0].plain.strip():
        assert tops[0].span.start > document.body.start  # something stands above it (X45)
    outline = [(each.level, each.span.start, each.nested) for each in document.headings]
    assert [tuple(each) for each in document.outline] == outline


WARNINGS = (
    *("classification: secret", "Classification:", "claſſification: secret", "classıficatİon: [secret]"),
    *("visibility: private", "VISIBILITY: limited", "vİsibility: private", "vısibility: private", "\ud800"),
    *("public", "---\n", "\n", " ", "# "),
)


@given(st.lists(st.sampled_from(WARNINGS), max_size=12).map("".join))
def test_x23_a_guarded_document_is_one_whose_text_says_so(text: str):
    """X23: whatever letters say it."""
    rows = guarded((), f"---\n{text}")
    expected = {"classification": looks_classified(f"---\n{text}")}
    expected["visibility"] = "visibility" in text.lower() and looks_limited(f"---\n{text}", has_footer=False)
    assert {each.key for each in rows} == {name for name, holds in expected.items() if holds}


@given(TEXTS)
def test_links_written_in_place_are_those_of_the_elements(text: str):
    document = parse(SourceText(text))
    links = [(each, False) for each in document.links] + [(each, True) for each in document.images]
    spans = [
        (each.destination, each.destination_span or each.span, each.span.start, image, not each.text_span)
        for each, image in links
        if each.form == "inline" and each.destination.startswith("a")
    ]
    found = document.of_places("a", lambda destination: destination.startswith("a"), lambda place: place, list)
    expected = sorted((name, span.start, span.end, *rest) for name, span, *rest in spans)
    assert sorted(map(astuple, found)) == expected


BRACED = st.lists(
    st.sampled_from(("{", "}", "#", ":", " ", "\t", "\n", "\\", "a", "é", ".", "-", "{#a}", "{: #b}", "{.c #d-1 e=f}")),
    max_size=20,
).map("".join)


@given(BRACED)
def test_a_text_with_an_anchor_of_its_own_holds_a_sign_of_it(text: str):
    assert not _OWN_ANCHOR.findall(text) or _OWN_SIGN.search(text)
