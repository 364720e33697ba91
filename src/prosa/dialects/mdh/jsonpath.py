"""JSONPath to exactly one value: singular queries of RFC 9535 (HA18). Text in, parts out, or the place of the mistake.

    query    = "$" *( S segment )
    segment  = "." name / "[" S ( string / index ) S "]"
    name     = first *( first / digit )          first: letter, "_", anything beyond ASCII
    index    = "0" / [ "-" ] digit1-9 *digit
    string   = "'" *char "'" / '"' *char '"'     with the escapes of JSON

Wildcards, slices, filters, unions and `..` find several values and are refused with that reason. Linear in the text.
"""

from __future__ import annotations

import re
from typing import NoReturn, TypeAlias

from msgspec import Struct

from prosa.regex import regex

MAX_CHARACTERS = 1000
"""A path into a response is short; a longer one is a mistake."""

MAX_INDEX = 2**53 - 1
"""RFC 9535 section 2.1: the integers that every JSON reader has exactly."""

Parts: TypeAlias = tuple[str | int, ...]

_SPACE = regex(r"[ \t\n\r]*")
_NAME = regex(r"[A-Za-z_\u0080-\ud7ff\ue000-\U0010ffff][0-9A-Za-z_\u0080-\ud7ff\ue000-\U0010ffff]*")
_INDEX = regex(r"0(?![0-9])|-?[1-9][0-9]*")
_HEX = regex(r"[0-9A-Fa-f]{4}")
_LOW = regex(r"\\u([dD][c-fC-F][0-9A-Fa-f]{2})")
_PLAIN = regex(r"[^'\"\\\x00-\x1f\ud800-\udfff]+")
_ESCAPES = {"b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "/": "/", "\\": "\\"}
_SEVERAL = {"*": "a wildcard", "?": "a filter", ":": "a slice", ",": "a list of selectors"}


class JsonPathError(ValueError):
    """A text that is no path to one value. ``offset`` is the character at which it stops being one."""

    def __init__(self, message: str, offset: int) -> None:
        super().__init__(message)
        self.message = message
        self.offset = offset


class _Cursor(Struct):
    text: str
    at: int = 0

    def peek(self) -> str:
        return self.text[self.at : self.at + 1]

    def skip(self) -> None:
        match = _SPACE.match(self.text, self.at)
        self.at = match.end() if match else self.at

    def take(self, pattern: re.Pattern[str]) -> str | None:
        match = pattern.match(self.text, self.at)
        if match is None:
            return None
        self.at = match.end()
        return match[0]

    def fail(self, message: str) -> NoReturn:
        raise JsonPathError(message, self.at)


def parse_jsonpath(text: str) -> Parts:
    """Return the names and indexes of a path; `$` alone has none. Raises `JsonPathError`."""
    if len(text) > MAX_CHARACTERS:
        raise JsonPathError(f"is longer than {MAX_CHARACTERS} characters", MAX_CHARACTERS)
    cursor = _Cursor(text)
    if cursor.peek() != "$":
        cursor.fail("must begin with `$`, the whole response")
    cursor.at = 1
    parts: list[str | int] = []
    while cursor.at < len(text):
        before = cursor.at
        cursor.skip()
        if cursor.at == len(text):
            raise JsonPathError("must not end with white space", before)
        parts.append(_segment(cursor))
    return tuple(parts)


def _segment(cursor: _Cursor) -> str | int:
    mark = cursor.peek()
    if mark == "[":
        return _bracket(cursor)
    if mark != ".":
        cursor.fail(f"has `{mark}` where `.` or `[` was expected")
    cursor.at += 1
    if cursor.peek() == ".":
        cursor.at -= 1
        cursor.fail("uses `..`, which finds several values; name every step")
    name = cursor.take(_NAME)
    if name is None:
        _refuse_several(cursor)
        cursor.fail("has a `.` without a name after it" if cursor.peek() == "" else _not_a_name(cursor))
    return name


def _not_a_name(cursor: _Cursor) -> str:
    return f"has `{cursor.peek()}` where a name was expected; write other names as `['…']`"


def _bracket(cursor: _Cursor) -> str | int:
    cursor.at += 1
    cursor.skip()
    found = _string(cursor) if cursor.peek() in ("'", '"') and cursor.peek() else _index(cursor)
    cursor.skip()
    if cursor.peek() != "]":
        _refuse_several(cursor)
        cursor.fail("has no `]` after its `[`")
    cursor.at += 1
    return found


def _index(cursor: _Cursor) -> int:
    start = cursor.at
    digits = cursor.take(_INDEX)
    if digits is None:
        _refuse_several(cursor)
        cursor.fail("has neither a quoted name nor an index between `[` and `]`")
    if len(digits) > 17 or abs(int(digits)) > MAX_INDEX:
        raise JsonPathError("has an index that is too large", start)
    return int(digits)


def _refuse_several(cursor: _Cursor) -> None:
    if what := _SEVERAL.get(cursor.peek()):
        cursor.fail(f"has {what}, which finds several values; a path must lead to exactly one")


def _string(cursor: _Cursor) -> str:
    start, mark = cursor.at, cursor.peek()
    cursor.at += 1
    pieces: list[str] = []
    while (character := cursor.peek()) != mark:
        plain = cursor.take(_PLAIN)
        if plain is not None:
            pieces.append(plain)
        elif character == "\\":
            pieces.append(_escape(cursor, mark))
        elif character in ("'", '"') and character:
            pieces.append(character)
            cursor.at += 1
        elif not character:
            raise JsonPathError("has a quote that is not closed", start)
        else:
            cursor.fail("has a control character inside quotes; write it as an escape")
    cursor.at += 1
    return "".join(pieces)


def _escape(cursor: _Cursor, mark: str) -> str:
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
