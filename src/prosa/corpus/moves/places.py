"""Places: every span of a document that names another one, in any notation, and how a name is written there.

In: a reading and its record. Out: `Mention`s. They include all references of the record, and more: images, unused link
definitions, attributes of HTML, which are no edges but break if a file moves.
"""

from __future__ import annotations

import html
import json
import re
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import unquote

from msgspec import Struct

from prosa.corpus.moves.writing import Form, Syntax
from prosa.data import Mapping, Node, Scalar
from prosa.dialects.reading import DialectReading
from prosa.dialects.table import YMJ
from prosa.dialects.ymj.model import local_path
from prosa.document.references import Origin
from prosa.graph.record import Record, Reference
from prosa.regex import regex
from prosa.source import SourceText, Span

_ELSEWHERE = regex(r"[A-Za-z][A-Za-z0-9+.-]+:|//")
_ATTRIBUTE = regex(r"\b(?:href|src)\s*=\s*(?:\"([^\"<>]*)\"|'([^'<>]*)')", re.IGNORECASE)
_TEMPLATE = "{{"
_IMAGES = ("image", "images-list")
"""Fields of MAGI that may hold a path (M10, M11)."""


class Mention(Struct, frozen=True):
    """A place that names a document: ``span`` is the text to replace, ``text`` its present value, unquoted;
    ``reference`` its meaning."""

    reference: Reference
    span: Span
    syntax: Syntax
    form: Form
    text: str

    @property
    def path(self) -> str:
        """The path as written, where the place names one."""
        return re.sub(r"\Aurl:|\Afile:", "", self.text, flags=re.IGNORECASE)

    @property
    def spaces(self) -> bool:
        """Whether a blank is allowed in a URL here."""
        return self.syntax == "angle"


def places_of(reading: DialectReading[object], record: Record) -> tuple[Mention, ...]:
    """Return the places of a document, in the order of the text."""
    scalars = _scalars(reading)
    mentions = [
        *_destinations(reading),
        *_attributes(reading),
        *(place for reference in record.references if (place := _of_reference(reference, reading, scalars))),
        *_attachments(reading),
        *_images(reading, scalars),
    ]
    return tuple(sorted(mentions, key=lambda place: (place.span.start, place.span.end)))


def _destinations(reading: DialectReading[object]) -> Iterator[Mention]:
    """Yield links and images written in place, and link definitions."""
    document, source = reading.document, reading.front.source
    written = [(link.destination, link.destination_span) for link in (*document.links, *document.images)]
    written += [(definition.destination, definition.destination_span) for definition in document.definitions]
    for destination, span in written:
        if span is None or _TEMPLATE in source.slice(span):
            continue
        reference = _local(destination, span, source)
        if reference is not None:
            angle = source.text.startswith("<", max(span.start - 1, 0))
            yield Mention(reference, span, "angle" if angle else "markdown", "href", source.slice(span))


def own_places(reading: DialectReading[object]) -> Iterator[Mention]:
    """Yield the places that name a heading or a block of the document itself; their reference has no target."""
    document, source = reading.document, reading.front.source
    written = [(link.destination, link.destination_span) for link in (*document.links, *document.images)]
    written += [(definition.destination, definition.destination_span) for definition in document.definitions]
    for destination, span in written:
        if span is not None and destination.startswith("#") and _TEMPLATE not in source.slice(span):
            reference = _reference("inline", "", span, source, unquote(destination[1:]))
            angle = source.text.startswith("<", max(span.start - 1, 0))
            yield Mention(reference, span, "angle" if angle else "markdown", "href", source.slice(span))
    for link in document.wikilinks:
        if not link.target and link.fragment:
            reference = _reference("wikilink", "", link.span, source, link.fragment)._replace(kind="stem")
            yield Mention(reference, link.span, "raw", "wikilink", source.slice(link.span))


def _attributes(reading: DialectReading[object]) -> Iterator[Mention]:
    """Yield `href` and `src` in HTML."""
    source = reading.front.source
    for piece in reading.document.html:
        for match in _ATTRIBUTE.finditer(source.slice(piece.span)) if not piece.comment else ():
            group = 1 if match[1] is not None else 2
            span = Span(*match.span(group)).shift(piece.span.start)
            text = html.unescape(match[group])
            reference = _local(text, span, source) if _TEMPLATE not in text else None
            if reference is not None:
                yield Mention(reference, span, "html", "href", text)


def _local(destination: str, span: Span, source: SourceText) -> Reference | None:
    """Return the path that a destination names; None for an address, and for what stays in the document."""
    if _ELSEWHERE.match(destination):
        return None
    path, _, fragment = destination.partition("#")
    path = unquote(path.partition("?")[0])
    return _reference("inline", path, span, source, unquote(fragment)) if path and "\0" not in path else None


def _of_reference(reference: Reference, reading: DialectReading[object], scalars: dict[int, Scalar]) -> Mention | None:
    """Return the place of a reference outside the links of the body."""
    source, span = reading.front.source, Span(reference.start, reference.end)
    if reference.kind in ("url", "name", "capability") or reference.rel == "attachment":
        return None
    match reference.origin:
        case "wikilink":
            return Mention(reference, span, "raw", "wikilink", source.slice(span))
        case "footnote":
            return Mention(reference, span, "json", "id", reference.target)
        case "ops.graph" | "ops.ticket" | "ops.trace":
            return _edge(reference, span, source)
        case "include":
            return _include(reference, span, source)
        case "front-matter" | "import":
            text = scalars[span.start].text if span.start in scalars else reference.target
            return Mention(reference, span, "yaml", _form(reference, text), text)
        case _:
            return None


def _form(reference: Reference, text: str) -> Form:
    """Return how the value of a field names a document."""
    if reference.origin == "import":
        return "path"
    if reference.kind == "stem":
        return "wikilink" if text.strip().startswith("[[") else "stem"
    return "id" if reference.kind == "id" else "href"


def _edge(reference: Reference, span: Span, source: SourceText) -> Mention | None:
    text = _json_text(source.slice(span))
    if text is None:
        return None
    bare: Form = "stem" if reference.kind == "stem" else "edge"
    return Mention(reference, span, "json", "wikilink" if text.strip().startswith("[[") else bare, text.strip())


def _include(reference: Reference, span: Span, source: SourceText) -> Mention:
    """Return the file that a chat includes: JSON text, whose quotes belong to the place, or a word."""
    quoted = source.text[span.start - 1 : span.start] == '"' == source.text[span.end : span.end + 1]
    if not quoted:
        return Mention(reference, span, "command", "path", reference.target)
    return Mention(reference, Span(span.start - 1, span.end + 1), "json", "path", reference.target)


def _attachments(reading: DialectReading[object]) -> Iterator[Mention]:
    """Attachments of a record, in the header and in the footer: both lists name the same file (Y14)."""
    model = reading.model_of(YMJ)
    if model is None:
        return
    source = reading.front.source
    lists: tuple[tuple[Syntax, tuple[Mapping, ...]], ...] = (
        ("yaml", model.catalog_items),
        ("json", model.ops_items("attachments")),
    )
    for syntax, items in lists:
        for item in items:
            uri = item.get("uri")
            path = local_path(uri.text, Path()) if isinstance(uri, Scalar) else None
            if isinstance(uri, Scalar) and path is not None:
                reference = _reference("front-matter", path.as_posix(), uri.span, source, rel="attachment")
                yield Mention(reference, uri.span, syntax, "uri", uri.text)


def _images(reading: DialectReading[object], scalars: dict[int, Scalar]) -> Iterator[Mention]:
    if reading.name != "magi" or reading.front.fields is None:
        return
    known = [field.value.span for field in reading.front.fields if field.key.text in _IMAGES]
    for scalar in scalars.values():
        if any(span.start <= scalar.span.start and scalar.span.end <= span.end for span in known):
            reference = _local(scalar.text, scalar.span, reading.front.source)
            if reference is not None:
                yield Mention(reference, scalar.span, "yaml", "href", scalar.text)


def _reference(
    origin: Origin, path: str, span: Span, source: SourceText, fragment: str = "", rel: str | None = None
) -> Reference:
    line = source.lines.line(span.start)
    return Reference(origin, path, "path", span.start, span.end, line, rel, fragment=fragment)


def _json_text(written: str) -> str | None:
    try:
        text = json.loads(written)
    except ValueError:
        return None
    return text if isinstance(text, str) else None


def _scalars(reading: DialectReading[object]) -> dict[int, Scalar]:
    """Return every scalar of the front matter by its start."""
    scalars: dict[int, Scalar] = {}
    waiting: list[Node] = [reading.front.fields] if reading.front.fields is not None else []
    while waiting:
        node = waiting.pop()
        if isinstance(node, Scalar):
            scalars[node.span.start] = node
        elif isinstance(node, Mapping):
            waiting += [entry.value for entry in node]
        else:
            waiting += node.items
    return scalars
