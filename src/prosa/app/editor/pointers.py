"""The references of a document in any notation: links, wikilinks, ids, imports, images, headings of its own.

In: a reading and its path. Out: `Pointer`s. The corpus resolves them (`targets`).
"""

from __future__ import annotations

from collections.abc import Iterator
from urllib.parse import unquote

from msgspec import Struct

from prosa.corpus.moves.places import Place, own_places, places_of
from prosa.data import Mapping, Node, Scalar
from prosa.dialects.reading import DialectReading
from prosa.document.model import Link
from prosa.graph.record import Reference
from prosa.graph.records import record_of
from prosa.source import Span


class Pointer(Struct, frozen=True):
    """``span`` is the target as written, ``reach`` the clickable range. An empty target is the document itself.
    ``place`` is the notation, None if a rename may not touch it."""

    span: Span
    reach: Span
    reference: Reference
    place: Place | None = None


def pointers_in(reading: DialectReading[object], path: str) -> tuple[Pointer, ...]:
    """Return the pointers of a document, in the order of the text."""
    links = (*reading.document.links, *reading.document.images)
    reach = {each.destination_span.start: each.span for each in links if each.destination_span is not None}
    found: dict[tuple[int, str], Pointer] = {}
    record = record_of(reading, path)
    for place in (*places_of(reading, record), *own_places(reading)):
        span = Span(place.reference.start, place.reference.end)
        found.setdefault(
            (span.start, place.reference.kind), Pointer(span, reach.get(span.start, span), place.reference, place)
        )
    for each in (*record.references, *_labelled(links), *_schema_references(reading)):
        span = Span(each.start, each.end)
        found.setdefault((span.start, each.kind), Pointer(span, reach.get(span.start, span), each))
    return tuple(sorted(found.values(), key=lambda each: (each.span.start, each.span.end)))


def pointer_at(pointers: tuple[Pointer, ...], offset: int) -> Pointer | None:
    """Return the pointer at an offset, the narrowest of several; behind its last character it still is there."""
    at = (each for each in pointers if each.reach.start <= offset <= each.reach.end)
    return min(at, key=lambda each: (offset == each.reach.end, len(each.reach)), default=None)


def _labelled(links: tuple[Link, ...]) -> Iterator[Reference]:
    """Yield links by a label: they lead where its definition does."""
    for link in links:
        if link.form == "reference" and link.destination and "://" not in link.destination:
            path, _, fragment = link.destination.partition("#")
            target = unquote(path.partition("?")[0])
            span = link.span
            yield Reference("inline", target, "path", span.start, span.end, 0, fragment=unquote(fragment))


def _schema_references(reading: DialectReading[object]) -> Iterator[Reference]:
    """Yield the files that `$ref` names in front matter; a place in the same schema is a name of its own (`$ref:
    '#/…'`)."""
    waiting: list[Node] = [reading.front.fields] if reading.front.fields is not None else []
    while waiting:
        node = waiting.pop()
        if isinstance(node, Mapping):
            waiting += [entry.value for entry in node]
            ref = node.get("$ref")
            if isinstance(ref, Scalar) and ref.text and "://" not in ref.text:
                path, _, fragment = ref.text.partition("#")
                yield Reference(
                    "front-matter", unquote(path), "path", ref.span.start, ref.span.end, 0, "schema", fragment=fragment
                )
        elif not isinstance(node, Scalar):
            waiting += node.items
