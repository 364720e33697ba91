"""Names, indexes and strings of JSONPath (RFC 9535). In: a text. Out: what stands at a place of it."""

from __future__ import annotations

import re
from typing import NoReturn

from msgspec import Struct

from prosa.regex import regex

MAX_INDEX = 2**53 - 1
"""RFC 9535 section 2.1: the integers that every JSON reader has exactly."""

NAME = regex(r"[A-Za-z_\u0080-\ud7ff\ue000-\U0010ffff][0-9A-Za-z_\u0080-\ud7ff\ue000-\U0010ffff]*")
INTEGER = regex(r"0(?![0-9])|-?[1-9][0-9]*")

_SPACE = regex(r"[ \t\n\r]*")
_HEX = regex(r"[0-9A-Fa-f]{4}")
_LOW = regex(r"\\u([dD][c-fC-F][0-9A-Fa-f]{2})")
_PLAIN = regex(r"[^'\"\\\x00-\x1f\ud800-\udfff]+")
_ESCAPES = {"b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "/": "/", "\\": "\\"}


class JsonPathError(ValueError):
    """A text that is no path. ``offset`` is the character at which it stops being one."""

    def __init__(self, message: str, offset: int) -> None:
        super().__init__(message)
        self.message = message
        self.offset = offset


class Cursor(Struct):
    """A place in a text, which moves on with each thing that is read."""

    text: str
    at: int = 0

    def peek(self) -> str:
        """Return the next character, or nothing at the end."""
        return self.text[self.at : self.at + 1]

    def skip(self) -> None:
        """Move past white space."""
        match = _SPACE.match(self.text, self.at)
        self.at = match.end() if match else self.at

    def take(self, pattern: re.Pattern[str]) -> str | None:
        """Return what a pattern takes here, and move past it."""
        match = pattern.match(self.text, self.at)
        if match is None:
            return None
        self.at = match.end()
        return match[0]

    def takes(self, mark: str) -> bool:
        """Return whether a mark stands here, and move past it."""
        matches = self.text.startswith(mark, self.at)
        self.at += len(mark) if matches else 0
        return matches

    def fail(self, message: str) -> NoReturn:
        """Raise `JsonPathError` for this place."""
        raise JsonPathError(message, self.at)


def index_of(digits: str, start: int) -> int:
    """Return the number of an index. Raises `JsonPathError`."""
    if len(digits) > 17 or abs(int(digits)) > MAX_INDEX:
        raise JsonPathError("has an index that is too large", start)
    return int(digits)


def take_string(cursor: Cursor) -> str:
    """Return the content of the string whose quote stands here. Raises `JsonPathError`."""
    start, mark = cursor.at, cursor.peek()
    cursor.at += 1
    pieces: list[str] = []
    while (character := cursor.peek()) != mark:
        plain = cursor.take(_PLAIN)
        if plain is not None:
            pieces.append(plain)
        elif character == "\\":
            pieces.append(_escape(cursor, mark))
        elif character in ("'", '"'):
            pieces.append(character)
            cursor.at += 1
        elif not character:
            raise JsonPathError("has a quote that is not closed", start)
        else:
            cursor.fail("has a control character inside quotes; write it as an escape")
    cursor.at += 1
    return "".join(pieces)


def _escape(cursor: Cursor, mark: str) -> str:
    start = cursor.at
    cursor.at += 1
    letter = cursor.peek()
    cursor.at += 1
    if letter and (letter == mark or letter in _ESCAPES):
        return mark if letter == mark else _ESCAPES[letter]
    code = cursor.take(_HEX) if letter == "u" else None
    if code is None:
        raise JsonPathError("has an escape that JSON does not know", start)
    number = int(code, 16)
    if not 0xD800 <= number <= 0xDFFF:
        return chr(number)
    low = _LOW.match(cursor.text, cursor.at)
    if number >= 0xDC00 or low is None:
        raise JsonPathError("has half of a surrogate pair", start)
    cursor.at = low.end()
    return chr(0x10000 + ((number - 0xD800) << 10) + (int(low[1], 16) - 0xDC00))
