"""Positions as the protocol counts them: lines from 0, and columns in units of the encoding that was agreed upon.

In: the lines of a text, and offsets in characters or positions of a client. Out: the other. A position outside the text
is the nearest one inside it, and one within a character is the beginning of that character.
"""

from __future__ import annotations

from typing import Literal, TypeAlias

from lsprotocol import types

from prosa.source import LineIndex

Encoding: TypeAlias = Literal["utf-8", "utf-16", "utf-32"]

ENCODINGS: tuple[Encoding, ...] = ("utf-8", "utf-16", "utf-32")


def position_at(lines: LineIndex, offset: int, encoding: Encoding) -> types.Position:
    """Return the position of a character."""
    line, column = lines.position(offset)
    if encoding == "utf-16":
        return types.Position(line - 1, lines.utf16_column(offset))
    if encoding == "utf-8":
        return types.Position(line - 1, lines.byte_offset(offset) - lines.byte_offset(lines.starts[line - 1]))
    return types.Position(line - 1, column - 1)


def range_of(lines: LineIndex, start: int, end: int, encoding: Encoding) -> types.Range:
    """Return the range from one character up to another."""
    return types.Range(position_at(lines, start, encoding), position_at(lines, end, encoding))


def offset_at(lines: LineIndex, position: types.Position, encoding: Encoding) -> int:
    """Return the character at a position."""
    if position.line >= lines.count:
        return len(lines.text)
    text = lines.line_text(position.line + 1)
    return lines.starts[position.line] + _characters(text, position.character, encoding)


def _characters(text: str, units: int, encoding: Encoding) -> int:
    """Return how many whole characters of a line fit into these units."""
    if encoding == "utf-32" or text.isascii():
        return min(units, len(text))
    if encoding == "utf-16":
        return _whole(text, text.encode("utf-16-le", "surrogatepass")[: 2 * units].decode("utf-16-le", "surrogatepass"))
    data = text.encode("utf-8", "surrogatepass")
    end = min(units, len(data))
    while end < len(data) and data[end] & 0xC0 == 0x80:
        end -= 1
    return len(data[:end].decode("utf-8", "surrogatepass"))


def _whole(text: str, cut: str) -> int:
    """Return how many characters of a line a cut has, without half of one at its end."""
    return len(cut) - 1 if cut and text[len(cut) - 1] != cut[-1] else len(cut)
