"""What every element of a document claims, checked against the source it was read from."""

from __future__ import annotations

import re

import pyromark

from prosa.document import Document, Fence, Link
from prosa.source import Span


def check_claims(document: Document) -> None:
    """Raises AssertionError when a span, sliced from the source, is not what its element says."""
    text = document.source.text
    _check_order(document)
    _check_headings(document, text)
    _check_code(document, text)
    for link in (*document.links, *document.images):
        _check_link(link, text, image=link in document.images)
    _check_references(document, text)
    _check_containers(document, text)


def _check_order(document: Document) -> None:
    """Everything lies inside the body, in document order."""
    kinds = (
        [each.span for each in elements]
        for elements in (
            document.headings,
            document.sections,
            document.paragraphs,
            document.fences,
            document.links,
            document.images,
            document.wikilinks,
            document.definitions,
            document.footnote_references,
            document.footnote_definitions,
            document.undefined_footnotes,
            document.code_spans,
            document.html,
        )
    )
    spans = (document.indented_code, document.comments, document.quotes, document.lists, document.items)
    for found in (*kinds, *(list(each) for each in spans)):
        assert [span.start for span in found] == sorted(span.start for span in found)
        assert all(document.body.start <= span.start <= span.end <= document.body.end for span in found)


def _check_headings(document: Document, text: str) -> None:
    for heading in document.headings:
        shown = heading.span.of(text)
        assert shown.startswith("#" * heading.level) or re.search(r"[=-][ \t\x0c]*\Z", shown)
        assert heading.content.of(text) == heading.text
        assert heading.span.start <= heading.content.start <= heading.content.end <= heading.span.end
        assert 1 <= heading.level <= 6
    for section, heading in zip(document.sections, document.headings, strict=True):
        assert section.heading == heading
        assert section.span.start == heading.span.start <= heading.span.end <= section.span.end
    for paragraph in document.paragraphs:
        assert paragraph.text == paragraph.span.of(text)
        assert paragraph.text.strip(" \t\r\n")


def _check_code(document: Document, text: str) -> None:
    for fence in document.fences:
        _check_fence(document, fence, text)
    for span in document.indented_code:
        assert document.in_code(span.start)
    for code in document.code_spans:
        ticks = text[code.span.start : code.content.start]
        assert ticks and set(ticks) == {"`"}
        assert text[code.content.end : code.span.end] == ticks
        assert document.in_code(code.span.start) and document.in_code(code.span.end - 1)
        written = code.content.of(text)
        assert _words(code.text) in map(_words, (written, _unquoted(written), _unquoted(written).replace("\\|", "|")))


def _check_fence(document: Document, fence: Fence, text: str) -> None:
    shown = fence.span.of(text)
    assert shown.startswith(fence.open_fence) and set(fence.open_fence) in ({"`"}, {"~"})
    inside = "[ \\t>]*" if fence.nested else "[ \\t]*"
    assert fence.closed == bool(re.search(r"[\r\n]" + inside + re.escape(fence.open_fence) + r"[`~]*[ \t]*\Z", shown))
    assert all(fence.span.start < piece.start < piece.end <= fence.span.end for piece in fence.content)
    assert fence.nested == bool(fence.containers)
    assert document.in_code(fence.span.start)


def _check_link(link: Link, text: str, *, image: bool) -> None:
    shown = link.span.of(text)
    opening, closing = ("<", ">") if link.form == "autolink" else ("![" if image else "[", "]")
    assert shown.startswith(opening)
    assert text[link.span.start : link.text_span.start] == opening
    assert text[link.text_span.end :].startswith(closing)
    if link.form == "reference":
        assert link.destination_span is None
        assert text[: link.span.end].endswith("]")
        assert re.sub(r"\s+", " ", link.label).strip() and f"[{link.label}]" in shown
        return
    assert link.label == ""
    assert link.destination_span is not None
    written = link.destination_span.of(text)
    if link.form == "autolink":
        assert link.destination in (written, f"mailto:{written}")
    else:
        assert text[: link.span.end].endswith(")")
        assert text[: link.text_span.end + 2].endswith("](")
        assert destination(text, link.destination_span) == link.destination


def destination(text: str, span: Span, before: str = "[a](") -> str:
    """What a parser reads where a link, or a definition, writes its destination."""
    angle = text[: span.start].endswith("<") and text[span.end :].startswith(">")
    written = span.of(text).replace("\ud800", "\ufffd")
    written = f"<{written}>" if angle else written
    if before == "[a]: ":
        return pyromark.reference_definitions(f"[a]: {written}")["a"]["dest"]
    for event in pyromark.events(f"[a]({written})"):
        if isinstance(event, dict) and "Start" in event and "Link" in event["Start"]:
            return event["Start"]["Link"]["dest_url"]
    raise AssertionError(f"no link in [a]({written})")


def _check_references(document: Document, text: str) -> None:
    for reference in (*document.footnote_references, *document.undefined_footnotes):
        assert " ".join(reference.span.of(text).split()) == f"[^{reference.label}]"
    defined = {each.label for each in document.footnote_definitions}
    for footnote in document.footnote_definitions:
        assert " ".join(text[footnote.span.start : footnote.content.start].split()) == f"[^{footnote.label}]:"
        assert (
            footnote.span.start
            < footnote.content.start
            <= footnote.content.end
            <= max(footnote.span.end, footnote.content.start)
        )
        assert footnote.code_spans == tuple(code for code in document.code_spans if code.span.start in footnote.span)
    assert not defined & {each.label for each in document.undefined_footnotes}
    for link in document.wikilinks:
        shown = link.span.of(text)
        assert shown.startswith("![[" if link.embed else "[[") and shown.endswith("]]")
        assert (link.label is not None) == ("|" in shown)
        assert (link.fragment is not None) == ("#" in re.split(r"\|", shown, maxsplit=1)[0])
    for definition in document.definitions:
        assert definition.span.of(text).startswith("[")
        assert definition.destination_span is not None
        assert destination(text, definition.destination_span, "[a]: ") == definition.destination


def _check_containers(document: Document, text: str) -> None:
    for span in document.quotes:
        assert span.of(text).startswith(">")
    for span in (*document.lists, *document.items):
        assert re.match(r"[-+*]|[0-9]{1,9}[.)]", span.of(text))
    for each in document.html:
        assert each.span.of(text).lstrip(" ").startswith("<")
        assert each.comment == each.text.lstrip(" ").startswith("<!--")
        assert each.block or each.text == each.span.of(text)
    for span in document.comments:
        assert span.of(text).startswith("<!--")
        assert document.in_comment(span.start)
        assert "-->" not in span.of(text)[4:-3]


def _unquoted(text: str) -> str:
    """Without line ends and the marks of quotations behind them."""
    return re.sub(r"(?:\r\n|\n|\r)[ \t>]*", " ", text)


def _words(text: str) -> list[str]:
    return text.replace("\ud800", "\ufffd").split()
