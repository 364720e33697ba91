"""JSONPath to exactly one value: singular queries of RFC 9535 (HA18). Text in, parts out, or the place of the mistake.

    query    = "$" *( S segment )
    segment  = "." name / "[" S ( string / index ) S "]"
    name     = first *( first / digit )          first: letter, "_", anything beyond ASCII
    index    = "0" / [ "-" ] digit1-9 *digit
    string   = "'" *char "'" / '"' *char '"'     with the escapes of JSON

Wildcards, slices, filters, unions and `..` find several values and are refused with that reason. Linear in the text.
"""

from __future__ import annotations

from typing import TypeAlias

from prosa.evaluation.rfc9535.text import INTEGER, MAX_INDEX, NAME, Cursor, JsonPathError, index_of, take_string

__all__ = ["MAX_CHARACTERS", "MAX_INDEX", "JsonPathError", "Parts", "parse_jsonpath"]

MAX_CHARACTERS = 1000
"""A path into a response is short; a longer one is a mistake."""

Parts: TypeAlias = tuple[str | int, ...]

_SEVERAL = {"*": "a wildcard", "?": "a filter", ":": "a slice", ",": "a list of selectors"}


def parse_jsonpath(text: str) -> Parts:
    """Return the names and indexes of a path; `$` alone has none. Raises `JsonPathError`."""
    if len(text) > MAX_CHARACTERS:
        raise JsonPathError(f"is longer than {MAX_CHARACTERS} characters", MAX_CHARACTERS)
    cursor = Cursor(text)
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


def _segment(cursor: Cursor) -> str | int:
    mark = cursor.peek()
    if mark == "[":
        return _bracket(cursor)
    if mark != ".":
        cursor.fail(f"has `{mark}` where `.` or `[` was expected")
    cursor.at += 1
    if cursor.peek() == ".":
        cursor.at -= 1
        cursor.fail("uses `..`, which finds several values; name every step")
    name = cursor.take(NAME)
    if name is None:
        _refuse_several(cursor)
        cursor.fail("has a `.` without a name after it" if cursor.peek() == "" else _not_a_name(cursor))
    return name


def _not_a_name(cursor: Cursor) -> str:
    return f"has `{cursor.peek()}` where a name was expected; write other names as `['…']`"


def _bracket(cursor: Cursor) -> str | int:
    cursor.at += 1
    cursor.skip()
    selector = take_string(cursor) if cursor.peek() in ("'", '"') else _index(cursor)
    cursor.skip()
    if cursor.peek() != "]":
        _refuse_several(cursor)
        cursor.fail("has no `]` after its `[`")
    cursor.at += 1
    return selector


def _index(cursor: Cursor) -> int:
    start = cursor.at
    digits = cursor.take(INTEGER)
    if digits is None:
        _refuse_several(cursor)
        cursor.fail("has neither a quoted name nor an index between `[` and `]`")
    return index_of(digits, start)


def _refuse_several(cursor: Cursor) -> None:
    if what := _SEVERAL.get(cursor.peek()):
        cursor.fail(f"has {what}, which finds several values; a path must lead to exactly one")
