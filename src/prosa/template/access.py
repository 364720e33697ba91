"""Parts of a value: ``index``, ``slice`` and ``len``. In: plain values. Out: a part, a number, or `FunctionError`.

A string counts code points (X14). A step through an absent value or null is absent (X13).
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Final

from prosa.template.function import FunctionError
from prosa.template.values import ABSENT, Absent, described

_MAX_SLICE_BOUNDS: Final = 3


def index(value: object, keys: Sequence[object]) -> object:
    """``index x i j`` is ``x[i][j]``: a list by number from 0, a map by key, a string by number.

    A key that a map lacks is absent. An element of a string is its code point as an integer (Go: its byte).
    Raises `FunctionError` for a number out of range, a key of the wrong type, and a value without parts.
    """
    for key in keys:
        value = _step(value, key)
    return value


def cut(value: object, bounds: Sequence[object]) -> object:
    """``slice x i j`` is ``x[i:j]`` of a string or list; no bounds: all of it.

    Bounds beyond the end stand for the end (X14). A third bound, of a list only, is checked and changes nothing.
    Raises `FunctionError` for a negative or reversed range. Null and absent give absent.
    """
    if value is None or isinstance(value, Absent):
        return ABSENT
    if not isinstance(value, str | list):
        raise FunctionError(f"needs a string or a list, found {described(value)}")
    if len(bounds) == _MAX_SLICE_BOUNDS and isinstance(value, str):
        raise FunctionError("a string has at most two bounds, found three")
    numbers = [_bound(bound) for bound in bounds]
    for lower, upper in pairwise(numbers):
        if lower > upper:
            raise FunctionError(f"found the reversed range {_shown(lower)} to {_shown(upper)}")
    start, end = (numbers[:2] + [0, len(value)][len(numbers[:2]) :])[:2]
    return value[start:end]


def length(value: object) -> int:
    """Code points of a string, elements of a list, keys of a map; 0 of null and of an absent value."""
    if value is None or isinstance(value, Absent):
        return 0
    if isinstance(value, str | list | dict):
        return len(value)
    raise FunctionError(f"needs a string, a list or a map, found {described(value)}")


def _step(value: object, key: object) -> object:
    if value is None or isinstance(value, Absent):
        return ABSENT
    if isinstance(value, dict):
        if not isinstance(key, str):
            raise FunctionError(f"a map needs a string as key, found {described(key)}")
        return value.get(key, ABSENT)
    if isinstance(value, str):
        return ord(value[_place(value, key)])
    if isinstance(value, list):
        return value[_place(value, key)]
    raise FunctionError(f"needs a list, a map or a string, found {described(value)}")


def _place(value: str | list[object], key: object) -> int:
    if isinstance(key, bool) or not isinstance(key, int):
        raise FunctionError(f"{described(value)} needs an integer, found {described(key)}")
    if not 0 <= key < len(value):
        expected = f"0 to {len(value) - 1}" if value else "nothing, it is empty"
        raise FunctionError(f"out of range of {described(value)}: found {_shown(key)}, expected {expected}")
    return key


def _bound(bound: object) -> int:
    if isinstance(bound, bool) or not isinstance(bound, int):
        raise FunctionError(f"needs integers as bounds, found {described(bound)}")
    if bound < 0:
        raise FunctionError(f"found the negative bound {_shown(bound)}")
    return bound


def _shown(number: int) -> str:
    """A number in a message; one that no list has is not spelt out."""
    return str(number) if number.bit_length() <= 64 else "a number of more than 64 bits"
