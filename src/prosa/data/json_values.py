"""JSON text to plain data, quickly and strictly (RFC 8259 with unique keys). In: text. Out: a value or `JsonError`.

The standard library's scanner does the work; text that it or a check refuses is read again by `read_json`, which knows
the place. So both always agree.
"""

from __future__ import annotations

import json
import math
import re
from typing import Any, NoReturn

from prosa.data.json_reader import read_json
from prosa.data.limits import MAX_DEPTH, MAX_INTEGER_DIGITS
from prosa.data.tree import Value, to_value
from prosa.regex import regex
from prosa.source import LineIndex

_SURROGATE = regex("\\\\u[dD][89a-fA-F]|[\ud800-\udfff]")
_BRACKET = regex(r'"(?:[^"\\]++|\\.)*+(?:"|\\?\Z)|([\[{])|([\]}])', re.DOTALL)


class JsonError(ValueError):
    """A text that is not JSON as we accept it: ``message``, 0-based ``offset``, 1-based ``line`` and ``column``."""

    def __init__(self, message: str, offset: int, text: str) -> None:
        self.message = message
        self.offset = offset
        self.line, self.column = LineIndex(text).position(offset)
        super().__init__(f"line {self.line}, column {self.column}: {message}")


class _Untidy(ValueError):
    """Something for the slow and exact reader to examine."""


def parse_json(text: str) -> Value:
    """Return the value of a JSON text; objects become dicts in their order, integers stay integers.

    Raises `JsonError` for anything `read_json` has a problem with: bad syntax, duplicate keys, NaN and infinite
    numbers, integers of more than 4,300 digits, lone surrogates, more than 64 levels of nesting.
    """
    if not _SURROGATE.search(text) and not nested_deeper(text, MAX_DEPTH):
        try:
            return _DECODER.decode(text.removeprefix("\ufeff"))
        except (ValueError, RecursionError):
            pass  # the exact reader finds the place and the words
    reading = read_json(text)
    if reading.problems:
        problem = reading.problems[0]
        raise JsonError(problem.message, problem.span.start, text)
    assert reading.node is not None
    return to_value(reading.node)


def nested_deeper(text: str, limit: int) -> bool:
    """Return whether arrays and objects of a JSON text, valid or not, are nested in more than ``limit`` levels."""
    if text.count("[") + text.count("{") <= limit:
        return False
    depth = 0
    for match in _BRACKET.finditer(text):
        if match[1]:
            depth += 1
            if depth > limit:
                return True
        elif match[2]:
            depth -= 1
    return False


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    value = dict(pairs)
    if len(value) != len(pairs):
        raise _Untidy
    return value


def _integer(text: str) -> int:
    if len(text) > MAX_INTEGER_DIGITS:
        raise _Untidy
    return int(text)


def _number(text: str) -> float:
    value = float(text)
    if math.isinf(value):
        raise _Untidy
    return value


def _constant(_: str) -> NoReturn:
    raise _Untidy


_DECODER = json.JSONDecoder(
    object_pairs_hook=_object, parse_int=_integer, parse_float=_number, parse_constant=_constant
)
