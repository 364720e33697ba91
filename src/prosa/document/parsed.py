"""One parse before anything is built of it: the source, the text that was parsed, and what the walk found."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct

from prosa.document.walk import Found
from prosa.source import LineIndex, SourceText, Span

if TYPE_CHECKING:
    from pyromark.event import Range


class Parsed(Struct, frozen=True):
    """The body as the parser saw it: ``text`` is as long as the body of ``source``, which starts at ``base``;
    ``masked`` is true if parts of it were hidden from the parser. ``bytes`` counts its bytes."""

    source: SourceText
    text: str
    base: int
    masked: bool
    bytes: LineIndex
    found: Found

    def place(self, byte: int) -> int:
        """Return the character of the source at a byte of the parsed text."""
        return self.base + self.bytes.offset_of_byte(byte)

    def span(self, where: Range) -> Span:
        """Return the characters of the source that a range of the parser covers."""
        base, offset = self.base, self.bytes.offset_of_byte
        return Span(base + offset(where["start"]), base + offset(where["end"]))

    def block(self, where: Range) -> Span:
        """Return the span of a block without the line ends that close it."""
        base, offset, text = self.base, self.bytes.offset_of_byte, self.source.text
        start, end = base + offset(where["start"]), base + offset(where["end"])
        while end > start and text[end - 1] in "\r\n":
            end -= 1
        return Span(start, end)

    def before_line_ends(self, end: int) -> int:
        """Return ``end`` without the line ends right in front of it."""
        text = self.source.text
        while end > self.base and text[end - 1] in "\r\n":
            end -= 1
        return end

    def shown(self, decoded: str, span: Span) -> str:
        """Return ``decoded``, the parser's reading of ``span``; where part of it was hidden, the source itself."""
        if not self.masked:
            return decoded
        written = self.source.slice(span)
        return decoded if written == self.text[span.start - self.base : span.end - self.base] else written
