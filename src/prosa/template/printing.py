"""Values as text (X12): a string as itself, everything else as compact JSON. In: a value. Out: its text.

Refuses what has no JSON form: infinite numbers and Python objects that are not plain data.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Sequence
from decimal import Decimal
from typing import Final

from prosa.data import Value
from prosa.data.limits import MAX_INTEGER_DIGITS
from prosa.template.floats import go_float
from prosa.template.function import FunctionError, bounded, joined
from prosa.template.nesting import Layout, laid_out
from prosa.template.values import Absent, described

_LEAST_POSITIONAL: Final = 1e-6
_FIRST_SCIENTIFIC: Final = 1e21
"""The magnitudes between which Go's ``encoding/json`` writes a number without an exponent."""

_SHORT_BITS: Final = 3 * MAX_INTEGER_DIGITS
"""Integers of fewer bits are within what Python turns into text itself; a digit has more than three bits."""


def value_text(value: Value) -> str:
    """Return the text a template action prints for a value (X12). An absent value prints nothing (X13).

    Raises `FunctionError` for an infinite number, for a Python object that is not plain data, beyond 1,000 levels
    of nesting, and beyond 10,485,760 characters.
    """
    if isinstance(value, str):
        return value
    if isinstance(value, Absent):
        return ""
    return json_text(value)


def json_text(value: Value) -> str:
    """Return compact JSON: keys in their order, non-ASCII literal, nothing HTML-escaped; a string has its quotes."""
    return laid_out(value, _JSON) if isinstance(value, list | dict) else _leaf(value)


def integer_text(value: int) -> str:
    """Return the digits of an integer of any size. (Python's own conversion refuses more than 4,300 digits.)"""
    return int.__repr__(value) if value.bit_length() < _SHORT_BITS else str(Decimal(value))


def number_text(value: float) -> str:
    """Return a float64 as Go's ``encoding/json`` writes it: ``3``, ``0.1``, ``1e+21``, ``1e-7``."""
    if not math.isfinite(value):
        raise FunctionError(f"the number {go_float(value, 'g', None)} has no JSON form")
    if value == 0 or _LEAST_POSITIONAL <= abs(value) < _FIRST_SCIENTIFIC:
        return go_float(value, "f", None)
    return go_float(value, "e", None).replace("e-0", "e-")


def print_text(values: Sequence[object]) -> str:
    """Go's ``print``: a space between two values of which neither is a string."""
    return joined(_spaced(values))


def println_text(values: Sequence[object]) -> str:
    """Go's ``println``: a space between any two values and a line end after the last."""
    return bounded(joined(map(value_text, values), " ") + "\n")


def _spaced(values: Sequence[object]) -> Iterator[str]:
    for place, value in enumerate(values):
        if place and not isinstance(value, str) and not isinstance(values[place - 1], str):
            yield " "
        yield value_text(value)


def _leaf(value: Value) -> str:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return integer_text(value)
    if isinstance(value, float):
        return number_text(value)
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False)
    raise FunctionError(f"{described(value)} has no JSON form")


def _key(key: str) -> str:
    return json.dumps(key, ensure_ascii=False) + ":"


_JSON: Final = Layout(("[", "]"), ("{", "}"), ",", _leaf, _key, sorted_keys=False)
