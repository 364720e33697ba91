"""A source: the text of one file (or of standard input) with its name and its lines."""

from __future__ import annotations

from functools import cached_property
from typing import ClassVar

from msgspec import Struct

from prosa.source.lines import LineIndex, Position
from prosa.source.span import Span
from prosa.source.values import PartlyCompared

_COMMON = bytes((*range(0x09, 0x0E), *range(0x20, 0x7F)))
"""ASCII but its controls; tab, line ends, vertical tab and form feed, which old texts have, are common too."""


class SourceText(PartlyCompared, Struct, frozen=True, dict=True):
    """``text`` exactly as decoded, a byte-order mark and every line end included; ``path`` as the user would name it.

    ``digest`` is the SHA-256 of the bytes that were read, in hex, or empty for a text that has no file; a writer
    compares it to refuse a file that changed meanwhile. Lines of a text that is not ``quotable`` are never shown: it
    lies outside the root (X5).
    """

    text: str
    path: str = "<text>"
    digest: str = ""
    quotable: bool = True

    uncompared: ClassVar = frozenset({"digest", "quotable"})

    @cached_property
    def lines(self) -> LineIndex:
        """The line index, built at the first question."""
        return LineIndex(self.text)

    @cached_property
    def uncommon(self) -> str:
        """Return the control characters of the text and those beyond ASCII, in order. Most texts have few: to take the
        others away is quicker than one search for any of the rare ones."""
        return self.text.encode("utf-8", "surrogatepass").translate(None, _COMMON).decode("utf-8", "surrogatepass")

    def position(self, offset: int) -> Position:
        """1-based line and column of an offset."""
        return self.lines.position(offset)

    def slice(self, span: Span) -> str:
        """Return the characters of a span."""
        return self.text[span.start : span.end]

    @property
    def whole(self) -> Span:
        """The span of the whole text."""
        return Span(0, len(self.text))
