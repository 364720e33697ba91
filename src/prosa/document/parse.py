"""CommonMark events into a `Document`. In: a source and the span of its body. Out: blocks with character spans.

pyromark counts UTF-8 bytes; `LineIndex` turns them into characters. It never sees the front matter: its own reading of
`---` blocks differs from X1. Parsing never fails, and no regular expression decides about structure (X2).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeAlias

import pyromark

from prosa.document.mask import encodable, mask
from prosa.document.model import Document, Fence, Heading, Paragraph
from prosa.source import LineIndex, SourceText, Span

if TYPE_CHECKING:
    from pyromark.event import Range as _Range

_OPTIONS = (
    pyromark.Options.ENABLE_TABLES
    | pyromark.Options.ENABLE_FOOTNOTES
    | pyromark.Options.ENABLE_STRIKETHROUGH
    | pyromark.Options.ENABLE_TASKLISTS
    | pyromark.Options.ENABLE_WIKILINKS
)
"""GFM plus footnotes and wikilinks. Metadata blocks and heading attributes stay off: both would take text away."""

_CONTAINERS = frozenset({"BlockQuote", "List", "FootnoteDefinition", "Table"})

_Event: TypeAlias = Any
_ToSpan: TypeAlias = Callable[["_Range"], Span]


def parse(source: SourceText, *, body: Span | None = None, masked: Sequence[Span] = ()) -> Document:
    """The document of ``source``. ``body`` is the part that is Markdown (default: all of it); ``masked`` are ordered
    spans of the source, template actions say, that must not take part in the structure."""
    body = source.whole if body is None else body
    inside = [span.shift(-body.start) for span in masked if span.start >= body.start and span.end <= body.end]
    text = encodable(mask(source.slice(body), inside))
    walk = _Walk(source, _spans(text, body.start))
    for event, where in pyromark.events_with_range(text, options=_OPTIONS):
        walk.take(event, where)
    return Document(source, body, tuple(walk.headings), tuple(walk.paragraphs), tuple(walk.fences))


def _spans(text: str, base: int) -> _ToSpan:
    """A function from a byte range of ``text`` to a span of the source that ``text`` starts at ``base``."""
    lines = LineIndex(text)

    def span(where: _Range) -> Span:
        return Span(base + lines.offset_of_byte(where["start"]), base + lines.offset_of_byte(where["end"]))

    return span


@dataclass(slots=True)
class _Walk:
    """The state of one walk. ``opened`` is the heading or fence whose pieces are being collected."""

    source: SourceText
    span: _ToSpan
    depth: int = 0
    opened: str = ""
    info: str = ""
    pieces: list[_Range] = field(default_factory=list)
    headings: list[Heading] = field(default_factory=list)
    paragraphs: list[Paragraph] = field(default_factory=list)
    fences: list[Fence] = field(default_factory=list)

    def take(self, event: _Event, where: _Range) -> None:
        """One event with its byte range."""
        kind, tag = next(iter(event.items())) if isinstance(event, dict) else (event, "")
        name, value = next(iter(tag.items())) if isinstance(tag, dict) else (tag, None)
        if kind == "End" and name == self.opened:
            self._finish(name, value, where)
        elif self.opened:
            self.pieces.append(where)
        elif kind == "Start":
            self._start(name, value, where)
        elif kind == "End" and name in _CONTAINERS:
            self.depth -= 1

    def _start(self, name: str, value: Any, where: _Range) -> None:
        if name in _CONTAINERS:
            self.depth += 1
        elif name == "Paragraph":
            span = self._trimmed(where)
            self.paragraphs.append(Paragraph(self.source.slice(span), span, self.depth > 0))
        elif name == "Heading":
            self.opened = name
        elif name == "CodeBlock" and isinstance(value, dict):
            self.opened, self.info = name, value["Fenced"]

    def _finish(self, name: str, value: Any, where: _Range) -> None:
        if name == "Heading":
            self._heading(int(value[1:]), self._trimmed(where))
        else:
            content = tuple(self.span(piece) for piece in self.pieces)
            self.fences.append(Fence(self.info, self._trimmed(where), content, self.depth > 0))
        self.opened = ""
        self.pieces.clear()

    def _heading(self, level: int, span: Span) -> None:
        if self.pieces:
            content = Span(self.span(self.pieces[0]).start, self.span(self.pieces[-1]).end)
        else:
            content = Span(span.start, span.start)
        self.headings.append(Heading(level, self.source.slice(content), span, content, self.depth > 0))

    def _trimmed(self, where: _Range) -> Span:
        """The span of a block without the line end that closes it."""
        span = self.span(where)
        return Span(span.start, max(span.start, span.start + len(self.source.slice(span).rstrip("\r\n"))))
