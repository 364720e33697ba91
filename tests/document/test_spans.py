"""Properties of the parse (X2): every span, sliced from the source, is what it claims to be."""

from __future__ import annotations

import pyromark
from hypothesis import given, settings

from prosa.document import Document, parse
from prosa.document.walk import OPTIONS
from prosa.source import SourceText, Span
from tests.depth import examples
from tests.document.claims import check_claims
from tests.document.markdown import SOUP, documents


def read(text: str) -> Document:
    return parse(SourceText(text))


@settings(max_examples=examples(150), deadline=None)
@given(SOUP)
def test_x2_every_span_in_any_text_is_what_it_claims(text: str):
    """X2. Pieces in any order: hardly ever what somebody would write."""
    check_claims(read(text))


@settings(max_examples=examples(60), deadline=None)
@given(documents())
def test_x2_every_span_in_a_document_is_what_it_claims(text: str):
    """X2. Blocks, nested and not, with every kind of element in them, under each kind of line end."""
    check_claims(read(text))


@settings(max_examples=examples(40), deadline=None)
@given(documents())
def test_x2_fences_hold_the_code_that_the_parser_gives(text: str):
    """X2. The pieces of the source, put together, are the code itself."""
    document = read(text)
    found = [document.fence_text(fence).replace("\r\n", "\n").replace("\r", "\n") for fence in document.fences]
    assert found == fenced_code(text.replace("\r\n", "\n").replace("\r", "\n"))


@settings(max_examples=examples(40), deadline=None)
@given(documents())
def test_x2_the_kind_of_line_end_changes_nothing(text: str):
    """X2. LF, CRLF and a lone CR are the same document."""
    unix = text.replace("\r\n", "\n").replace("\r", "\n")
    assert outline(read(unix)) == outline(read(unix.replace("\n", "\r\n"))) == outline(read(unix.replace("\n", "\r")))


@settings(max_examples=examples(40), deadline=None)
@given(documents())
def test_x2_spans_count_from_the_start_of_the_source(text: str):
    """X2. The same body behind front matter: everything is where it was, moved."""
    front = "---\nkey: 漢é😀\n---\n"
    moved = parse(SourceText(front + text), body=Span(len(front), len(front + text)))
    check_claims(moved)
    assert [span.shift(-len(front)) for span in places(moved)] == places(read(text))


def fenced_code(text: str) -> list[str]:
    codes: list[str] = []
    inside = False
    for event in pyromark.events(text, options=OPTIONS):
        if not isinstance(event, dict):
            continue
        tag = event.get("Start")
        if isinstance(tag, dict) and isinstance(tag.get("CodeBlock"), dict):
            inside = True
            codes.append("")
        elif "End" in event:
            inside = False
        elif inside:
            codes[-1] += event["Text"]
    return codes


def outline(document: Document) -> list[object]:
    return [
        [(each.level, each.plain, each.nested) for each in document.headings],
        [(each.info, each.containers, each.closed) for each in document.fences],
        [(each.form, each.destination, each.title) for each in (*document.links, *document.images)],
        [(each.target, each.label, each.fragment) for each in document.wikilinks],
        [each.label for each in (*document.footnote_references, *document.undefined_footnotes)],
        [each.label for each in document.footnote_definitions],
        [each.text for each in document.code_spans],
        [(each.block, each.comment) for each in document.html],
        [section.anchor for section in document.sections],
        [len(each) for each in (document.lists, document.quotes, document.comments, document.definitions)],
    ]


def places(document: Document) -> list[Span]:
    elements = (
        *(*document.headings, *document.sections, *document.paragraphs, *document.fences, *document.links),
        *(*document.images, *document.wikilinks, *document.footnote_definitions, *document.code_spans, *document.html),
    )
    return [*(each.span for each in elements), *document.lists, *document.quotes, *document.comments]
