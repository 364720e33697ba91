"""The text of one file with its name, and places in it: spans, lines and edits. Spans count characters; the line index
is the only code that knows lines, UTF-8 and UTF-16 (X2: a line ends at LF, CRLF or a lone CR, at nothing else)."""

# Without postponed annotations: a decoder of what is cached, and `NamedTuple`, compile each of those.

from bisect import bisect_right
from collections.abc import Iterable
from itertools import accumulate, count
from operator import add
from typing import ClassVar, NamedTuple

from msgspec import Struct

from prosa.regex import regex
from prosa.source.values import PartlyCompared, kept


class Span(Struct, frozen=True, order=True, gc=False):
    """Characters ``start`` up to, not including, ``end``. Offsets count Unicode code points from 0."""

    start: int
    end: int

    def __post_init__(self) -> None:
        if not 0 <= self.start <= self.end:
            raise ValueError(f"a span needs 0 <= start <= end, not {self.start}..{self.end}")

    def shift(self, by: int) -> "Span":
        """Return the same span seen from a text that has ``by`` more characters in front."""
        return Span(self.start + by, self.end + by)

    def of(self, text: str) -> str:
        """Return the characters the span covers."""
        return text[self.start : self.end]

    def __len__(self) -> int:
        return self.end - self.start

    def __contains__(self, offset: int) -> bool:
        return self.start <= offset < self.end


_LINE_END = regex(r"\r\n|\n|\r")


def with_line_feeds(text: str) -> str:
    """Return the text with a line feed at the end of each line, as prompts have it."""
    return _LINE_END.sub("\n", text) if "\r" in text else text


_BLOCK = 512
"""Characters between two counted places: no lookup costs more than one block, however long the line is."""

_BYTES = 256
"""Bytes between two places whose characters are counted."""


_CONTINUATION = bytes(range(0x80, 0xC0))
"""The bytes of a character after its first one."""


class Position(NamedTuple):
    """A place for people: both numbers are 1-based, the column counts characters."""

    line: int
    column: int


class LineIndex:
    """Where the lines of a text begin, and how its offsets count in UTF-8 and UTF-16.

    Each of its tables is built in linear time at the first question that needs it; every question after that is a
    binary search and, in a text that is not ASCII, a look at one block of characters. Offsets outside the text are
    clamped to it.
    """

    __slots__ = ("_ascii", "_bytes", "_counts", "_starts", "_units", "text")

    def __init__(self, text: str) -> None:
        self.text = text
        self._ascii = text.isascii()
        self._starts: tuple[int, ...] | None = None
        self._units: tuple[int, ...] | None = None
        self._bytes = b""
        self._counts: tuple[int, ...] = ()

    @property
    def starts(self) -> tuple[int, ...]:
        """The offset at which each line begins."""
        if self._starts is None:
            self._starts = _line_starts(self.text)
        return self._starts

    @property
    def count(self) -> int:
        """Number of lines; a text that ends in a line end has an empty last line."""
        return len(self.starts)

    def replaced(self, start: int, end: int, new: str) -> "LineIndex":
        """Return the index of the text with other characters in place of those from one offset up to another. Where
        lines begin in the rest of the text is known."""
        made = LineIndex(self.text[:start] + new + self.text[end:])
        known = self._starts
        if known is not None and "\r" not in made.text and "\r" not in self.text:
            first, after = bisect_right(known, start), bisect_right(known, end)
            inside = [start + offset for offset in _line_starts(new)[1:]] if "\n" in new else []
            by = len(new) - (end - start)
            made._starts = (*known[:first], *inside, *[offset + by for offset in known[after:]])
        return made

    def position(self, offset: int) -> Position:
        """Line and column of a character offset."""
        offset = self._clamped(offset)
        line = bisect_right(self.starts, offset) - 1
        return Position(line + 1, offset - self.starts[line] + 1)

    def line(self, offset: int) -> int:
        """Return the line of a character offset, counted from 1."""
        return bisect_right(self._starts or self.starts, offset) or 1

    def offset(self, line: int, column: int) -> int:
        """Return the character offset of a 1-based position; past the end of a line it is the place before its line
        end."""
        if line > self.count:
            return len(self.text)
        start = self.starts[max(line, 1) - 1]
        return start + min(max(column, 1) - 1, len(self.line_text(max(line, 1))))

    def line_text(self, line: int) -> str:
        """Return a line (1-based, at most `count`) without its line end."""
        start = self.starts[line - 1]
        end = self.starts[line] if line < len(self.starts) else len(self.text)
        return self.text[start:end].rstrip("\r\n")

    def byte_offset(self, offset: int) -> int:
        """UTF-8 bytes in front of a character offset."""
        offset = self._clamped(offset)
        if self._ascii:
            return offset
        counts = self._counts or self._counted()
        if offset == len(self.text):
            return len(self._bytes)
        block = bisect_right(counts, offset) - 1
        start = block * _BYTES
        head = self._bytes[start : start + 3]  # the rest of a character that began before
        return start + len(head) - len(head.lstrip(_CONTINUATION)) + len(_utf8(self.text[counts[block] : offset]))

    def offset_of_byte(self, byte: int) -> int:
        """Return the character offset of a UTF-8 byte offset; a byte inside a character belongs to that character."""
        if self._ascii:
            return byte if 0 <= byte <= len(self.text) else self._clamped(byte)
        counts = self._counts or self._counted()
        if not 0 <= byte < len(self._bytes):
            return 0 if byte < 0 else len(self.text)
        block = byte // _BYTES
        # Characters that begin in the block up to this byte, inclusive, less one.
        return counts[block] + len(self._bytes[block * _BYTES : byte + 1].translate(None, _CONTINUATION)) - 1

    def _counted(self) -> tuple[int, ...]:
        """Return how many characters begin in front of each block of bytes, and store the bytes."""
        data = self._bytes = _utf8(self.text)
        begun = (len(data[at : at + _BYTES].translate(None, _CONTINUATION)) for at in range(0, len(data), _BYTES))
        self._counts = tuple(accumulate(begun, initial=0))
        return self._counts

    def utf16_column(self, offset: int) -> int:
        """0-based column in UTF-16 code units, as editors count."""
        offset = self._clamped(offset)
        start = self.starts[bisect_right(self.starts, offset) - 1]
        return offset - start if self._ascii else self._utf16_offset(offset) - self._utf16_offset(start)

    def _clamped(self, offset: int) -> int:
        return min(max(offset, 0), len(self.text))

    def _utf16_offset(self, offset: int) -> int:
        if self._units is None:
            blocks = (self.text[start : start + _BLOCK] for start in range(0, len(self.text), _BLOCK))
            self._units = tuple(accumulate(map(_utf16_length, blocks), initial=0))
        block = offset // _BLOCK
        return self._units[block] + _utf16_length(self.text[block * _BLOCK : offset])


def _line_starts(text: str) -> tuple[int, ...]:
    """Return where lines begin. Most texts use one kind of line end, and then lines are only counted."""
    if "\r" in text:
        return (0, *(match.end() for match in _LINE_END.finditer(text)))
    return (0, *map(add, accumulate(map(len, text.split("\n")[:-1])), count(1)))


def _utf8(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


def _utf16_length(text: str) -> int:
    return len(text.encode("utf-16-le", "surrogatepass")) // 2


class OverlappingEdits(ValueError):
    """Two edits claim the same characters; the caller applies them in separate passes."""

    def __init__(self, first: "Edit", second: "Edit") -> None:
        super().__init__(f"edits overlap: {first.span} and {second.span}")
        self.first = first
        self.second = second


class Edit(Struct, frozen=True):
    """Replace the characters of ``span`` by ``replacement``; an empty span inserts."""

    span: Span
    replacement: str


def apply_edits(text: str, edits: Iterable[Edit]) -> str:
    """Apply all edits at once and return the text. Their spans count in the text before any edit.

    Insertions at the same offset keep their order. Raises `OverlappingEdits`; a span past the end is a ValueError.
    """
    ordered = sorted(edits, key=lambda edit: edit.span)
    pieces: list[str] = []
    done = 0
    previous: Edit | None = None
    for edit in ordered:
        if edit.span.end > len(text):
            raise ValueError(f"edit {edit.span} lies past the end of a text of {len(text)} characters")
        if previous is not None and edit.span.start < done:
            raise OverlappingEdits(previous, edit)
        pieces += (text[done : edit.span.start], edit.replacement)
        done = edit.span.end
        previous = edit
    return "".join((*pieces, text[done:]))


_COMMON = bytes((*range(0x09, 0x0E), *range(0x20, 0x7F)))
"""ASCII but its controls; tab, line ends, vertical tab and form feed, which old texts have, are common too."""

_BEYOND = bytes(range(0x80, 0x100))
"""The bytes of the characters beyond ASCII."""


# A source: the text of one file, or of standard input, with its name and its lines.


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

    @classmethod
    def of_lines(cls, lines: LineIndex, path: str, digest: str) -> "SourceText":
        """Return a source whose line index is known."""
        made = cls(lines.text, path, digest)
        made.__dict__["lines"] = lines
        return made

    @kept
    def lines(self) -> LineIndex:
        """The line index, built at the first question."""
        return LineIndex(self.text)

    @kept
    def _uncommon(self) -> bytes:
        return self.text.encode("utf-8", "surrogatepass").translate(None, _COMMON)

    @kept
    def uncommon(self) -> str:
        """Return the control characters of the text and those beyond ASCII, in order. Most texts have few: to take the
        others away is quicker than one search for any of the rare ones."""
        return self._uncommon.decode("utf-8", "surrogatepass")

    @kept
    def controls(self) -> str:
        """Return the control characters of the text, in order."""
        return self._uncommon.translate(None, _BEYOND).decode("ascii")

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
