"""Whether edits leave the rest of a document unchanged (X19): a reading in, its content outside of given ranges out.

Two documents with the same content around their differences have equal results. Places count as if the ranges were
empty.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterable
from itertools import accumulate
from typing import Protocol, TypeVar

from msgspec import Struct

from prosa.dialects.magi.model import MagiModel
from prosa.dialects.prapti.headings import find_headings
from prosa.dialects.prapti.lines import find_lines
from prosa.document import Document, Link, LinkDefinition, Section
from prosa.source import Span


class _Spanned(Protocol):
    """An element of a document."""

    @property
    def span(self) -> Span:
        """Where it stands."""


E = TypeVar("E", bound=_Spanned)


class Around(Struct, frozen=True):
    """Places outside of stretches, which are apart and in order. ``ends`` are theirs, ``cut`` the length of all up to
    each."""

    holes: tuple[Span, ...]
    ends: tuple[int, ...]
    cut: tuple[int, ...]

    def place(self, offset: int) -> int:
        """Return the place without the stretches; any place in one is its beginning."""
        before = bisect_right(self.ends, offset)
        if before < len(self.holes):
            offset = min(offset, self.holes[before].start)
        return offset - (self.cut[before - 1] if before else 0)

    def spans(self, spans: Iterable[Span]) -> list[tuple[int, int]]:
        """Return the spans that start outside."""
        return [(self.place(each.start), self.place(each.end)) for each in spans if self.outside(each.start)]

    def each(self, elements: Iterable[E], said: Callable[[E], object]) -> list[tuple[int, int, object]]:
        """Return the elements that start outside, with their content."""
        return [
            (self.place(each.span.start), self.place(each.span.end), said(each))
            for each in elements
            if self.outside(each.span.start)
        ]

    def starts(self, spans: Iterable[Span]) -> list[int]:
        """Return where the spans that start outside do so: a container ends with the results in it."""
        return [self.place(each.start) for each in spans if self.outside(each.start)]

    def outside(self, offset: int) -> bool:
        """Return whether a place lies outside."""
        index = bisect_right(self.ends, offset)
        return index == len(self.holes) or offset not in self.holes[index]


def around_of(holes: Iterable[Span]) -> Around:
    """Return what lies around stretches that are apart."""
    ordered = tuple(sorted(holes))
    return Around(ordered, tuple(each.end for each in ordered), tuple(accumulate(map(len, ordered))))


def meaning(model: MagiModel, *holes: Span) -> tuple[object, ...]:
    """Return what acts or is relied on: front matter, scripts, relationships, regions, stray markers; the lines of a
    chat."""
    around = around_of(holes)
    return (
        (model.front.present, model.front.complete, model.front.body.start, model.front.value),
        [(around.spans([each.fence.span]), each.fence.containers, each.data) for each in model.scripts],
        [(around.spans([each.span]), each.label, each.data) for each in model.relationships],
        [around.spans(each.referenced_at) for each in model.relationships],
        around.each(model.regions, lambda each: (each.about, around.place(each.content.start))),
        around.spans(model.stray_markers),
        around.spans(acting_in_a_chat(model.document)),
    )


def acting_in_a_chat(document: Document) -> tuple[Span, ...]:
    """Return what acts where the document is read as a chat (P3, P9): message headings and configuration lines."""
    headings = tuple(each.span for each in find_headings(document)[0])
    lines = find_lines(document, tuple(each.start for each in headings)).config
    return (*headings, *(each.span for each in lines))


def structure(model: MagiModel, *holes: Span, loose: bool = False) -> tuple[object, ...]:
    """Return all that the Markdown of the rest is: headings and their sections and anchors, notes, links, code,
    comments, lists. The text being the same, places say it all.

    ``loose`` leaves out whether items of lists are paragraphs: a blank line anywhere in a list makes them so.
    """
    around, document = around_of(holes), model.document
    return (
        _is_titled_inside(model, around),
        around.each(document.headings, lambda each: (each.level, each.nested)),
        [(each.anchor, *_end(around, each)) for each in document.sections if around.outside(each.span.start)],
        around.each(document.footnote_definitions, lambda each: each.label),
        around.each(document.footnote_references, lambda each: each.label),
        around.each(document.undefined_footnotes, lambda each: each.label),
        around.each(document.links, _target),
        around.each(document.images, _target),
        around.each(document.definitions, _target),
        around.each(document.wikilinks, lambda each: each.target),
        around.each(document.fences, lambda each: (each.info, each.closed, each.containers)),
        around.each(document.html, lambda each: each.block),
        [] if loose else around.each(document.paragraphs, lambda each: each.nested),
        *map(around.spans, (document.indented_code, document.comments)),
        around.spans(each.span for each in document.code_spans),
        *map(around.starts, (document.quotes, document.lists, document.items)),
    )


def depth(model: MagiModel, offset: int) -> int:
    """In how many quotations and items of lists a place lies."""
    return sum(offset in span for span in (*model.document.quotes, *model.document.items))


def _is_titled_inside(model: MagiModel, around: Around) -> bool:
    """Return whether a document without a `title` takes its name from a heading inside."""
    first = next((each for each in model.document.headings if each.level == 1 and not each.nested), None)
    return model.title is None and first is not None and not around.outside(first.span.start)


def _target(link: Link | LinkDefinition) -> tuple[str, str]:
    return link.destination, link.title


def _end(around: Around, section: Section) -> tuple[int, ...]:
    """Return where a section ends; one in a list or quotation ends with that, wherever the results in it end."""
    return () if section.heading.nested else (around.place(section.span.end),)
