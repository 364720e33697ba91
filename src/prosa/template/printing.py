"""Values as text (X12): a string as itself, everything else as compact JSON, a float as Go writes it.

Values without a JSON form are refused: infinite numbers and Python objects that are not plain data.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from decimal import Decimal
from typing import Final

from msgspec import Struct

from prosa.data import Value
from prosa.data.limits import MAX_INTEGER_DIGITS
from prosa.template.errors import FunctionError, bounded, joined
from prosa.template.values import Absent, TemplateValue, described

_LEAST_JSON_POSITIONAL: Final = 1e-6
_FIRST_JSON_SCIENTIFIC: Final = 1e21
"""The magnitudes between which Go's ``encoding/json`` writes a number without an exponent."""

_SHORT_BITS: Final = 3 * MAX_INTEGER_DIGITS
"""Integers of fewer bits are within what Python turns into text itself; a digit has more than three bits."""


def value_text(value: TemplateValue) -> str:
    """Return the text a template action prints for a value (X12). An absent value prints nothing (X13).

    Raises `FunctionError` for an infinite number, for a Python object that is not plain data, beyond 1,000 levels
    of nesting, and beyond 10,485,760 characters.
    """
    if isinstance(value, str):
        return value
    if isinstance(value, Absent):
        return ""
    return json_text(value)


def json_text(value: TemplateValue) -> str:
    """Return compact JSON: keys in their order, non-ASCII literal, nothing HTML-escaped; a string has its quotes."""
    return laid_out(value, _JSON) if isinstance(value, list | dict) else _leaf(value)


def integer_text(value: int) -> str:
    """Return the digits of an integer of any size. (Python's own conversion refuses more than 4,300 digits.)"""
    return int.__repr__(value) if value.bit_length() < _SHORT_BITS else str(Decimal(value))


def number_text(value: float) -> str:
    """Return a float64 as Go's ``encoding/json`` writes it: ``3``, ``0.1``, ``1e+21``, ``1e-7``."""
    if not math.isfinite(value):
        raise FunctionError(f"the number {go_float(value, 'g', None)} has no JSON form")
    if value == 0 or _LEAST_JSON_POSITIONAL <= abs(value) < _FIRST_JSON_SCIENTIFIC:
        return go_float(value, "f", None)
    return go_float(value, "e", None).replace("e-0", "e-")


def print_text(values: Sequence[TemplateValue]) -> str:
    """Go's ``print``: a space between two values of which neither is a string."""
    return joined(_spaced(values))


def println_text(values: Sequence[TemplateValue]) -> str:
    """Go's ``println``: a space between any two values and a line end after the last."""
    return bounded(joined(map(value_text, values), " ") + "\n")


def _spaced(values: Sequence[TemplateValue]) -> Iterator[str]:
    for place, value in enumerate(values):
        if place and not isinstance(value, str) and not isinstance(values[place - 1], str):
            yield " "
        yield value_text(value)


def _leaf(value: TemplateValue) -> str:
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


# Lists and maps as text, without recursion. In: a value and a layout. Out: text of bounded depth and length.

MAX_NESTING: Final = 1_000
"""Lists and maps inside one another. The readers stop at 64; this stops a Python value that contains itself."""


class Layout(Struct, frozen=True):
    """The format of nested values. ``leaf`` writes anything but lists and maps, ``key`` a key and the separator after
    it."""

    list_marks: tuple[str, str]
    map_marks: tuple[str, str]
    separator: str
    leaf: Callable[[TemplateValue], str]
    key: Callable[[str], str]
    sorted_keys: bool


def laid_out(value: TemplateValue, layout: Layout) -> str:
    """Return the text of a value under a layout. Raises `FunctionError` beyond `MAX_NESTING` or `MAX_RESULT`."""
    return joined(_pieces(value, layout))


def _pieces(value: TemplateValue, layout: Layout) -> Iterator[str]:
    open_members: list[tuple[Iterator[tuple[str, Value]], str]] = []
    prefix = ""
    while True:
        yield prefix
        if isinstance(value, list | dict):
            marks = layout.list_marks if isinstance(value, list) else layout.map_marks
            yield marks[0]
            open_members.append((_members(value, layout), marks[1]))
            if len(open_members) > MAX_NESTING:
                raise FunctionError(f"lists and maps are nested more than {MAX_NESTING:,} levels deep")
        else:
            yield layout.leaf(value)
        while open_members:
            members, closing = open_members[-1]
            following = next(members, None)
            if following is not None:
                prefix, value = following
                break
            yield closing
            open_members.pop()
        else:
            return


def _members(value: list[Value] | dict[str, Value], layout: Layout) -> Iterator[tuple[str, Value]]:
    """Yield what stands before each member, separator and key, and the member."""
    separator = ""
    if isinstance(value, list):
        for item in value:
            yield separator, item
            separator = layout.separator
        return
    keys: Iterable[Value] = value
    for key in keys:
        if not isinstance(key, str):
            raise FunctionError(f"a key of a map is {described(key)}; only strings are keys of data")
    for key in sorted(value) if layout.sorted_keys else value:
        yield separator + layout.key(key), value[key]
        separator = layout.separator


# A float64 as Go writes it: ``strconv.FormatFloat`` with 64 bits. In: a float. Out: text, never padded.

_MANTISSA_BITS: Final = 52
_SUBNORMAL_EXPONENT: Final = -1074
_HEX_DIGITS: Final = 13
"""Hexadecimal digits of the fraction of a float64."""

_LEAST_POSITIONAL: Final = -4
_FIRST_SCIENTIFIC: Final = 6
"""The decimal exponents between which ``g`` without a precision writes no exponent."""


def go_float(value: float, fmt: str, precision: int | None) -> str:
    """Return the text of a float under Go's format ``e``, ``E``, ``f``, ``g``, ``G``, ``b``, ``x`` or ``X``.

    ``precision`` counts digits after the point (for ``g`` significant digits); None is the shortest text that reads
    back as the same number. Infinite numbers are ``+Inf`` and ``-Inf``, the other is ``NaN``.
    """
    if math.isnan(value):
        return "NaN"
    if math.isinf(value):
        return "+Inf" if value > 0 else "-Inf"
    if fmt == "b":
        return _binary(value)
    if fmt in "xX":
        text = _hexadecimal(value, precision)
        return text.upper() if fmt == "X" else text
    text = _shortest(value, fmt.lower()) if precision is None else f"{value:.{precision}{fmt.lower()}}"
    return text.upper() if fmt in "EG" else text


def _shortest(value: float, fmt: str) -> str:
    sign = "-" if math.copysign(1, value) < 0 else ""
    digits, point = _digits(abs(value))
    if fmt == "e" or (fmt == "g" and not _LEAST_POSITIONAL <= point - 1 < _FIRST_SCIENTIFIC):
        return sign + _scientific(digits, point)
    return sign + _positional(digits, point)


def _digits(value: float) -> tuple[str, int]:
    """Return the shortest digits of a number that is not negative, and how many of them stand before the point."""
    mantissa, _, exponent = repr(value).partition("e")
    whole, _, fraction = mantissa.partition(".")
    digits = (whole + fraction).lstrip("0")
    if not digits:
        return "0", 1
    leading = len(whole + fraction) - len(digits)
    return digits.rstrip("0"), len(whole) - leading + int(exponent or 0)


def _scientific(digits: str, point: int) -> str:
    fraction = "." + digits[1:] if len(digits) > 1 else ""
    exponent = point - 1
    return f"{digits[0]}{fraction}e{'-' if exponent < 0 else '+'}{abs(exponent):02d}"


def _positional(digits: str, point: int) -> str:
    if point <= 0:
        return "0." + "0" * -point + digits
    if point >= len(digits):
        return digits + "0" * (point - len(digits))
    return f"{digits[:point]}.{digits[point:]}"


def _parts(value: float) -> tuple[str, int, int]:
    """Sign, integer mantissa of up to 53 bits, and the power of two it is multiplied by."""
    sign = "-" if math.copysign(1, value) < 0 else ""
    fraction, exponent = math.frexp(abs(value))
    power = max(exponent - _MANTISSA_BITS - 1, _SUBNORMAL_EXPONENT)
    return sign, int(math.ldexp(abs(value), -power)) if fraction else 0, power if fraction else _SUBNORMAL_EXPONENT


def _binary(value: float) -> str:
    sign, mantissa, power = _parts(value)
    return f"{sign}{mantissa}p{power:+d}"


def _hexadecimal(value: float, precision: int | None) -> str:
    sign, mantissa, power = _parts(value)
    exponent = power + _MANTISSA_BITS if mantissa else 0
    while mantissa and not mantissa >> _MANTISSA_BITS:
        mantissa <<= 1
        exponent -= 1
    if precision is not None and precision < _HEX_DIGITS:
        mantissa, exponent = _rounded(mantissa, exponent, 4 * (_HEX_DIGITS - precision))
    fraction = f"{mantissa & ((1 << _MANTISSA_BITS) - 1):0{_HEX_DIGITS}x}"
    fraction = fraction.rstrip("0") if precision is None else fraction[:precision].ljust(precision, "0")
    point = "." if fraction else ""
    return f"{sign}0x{mantissa >> _MANTISSA_BITS}{point}{fraction}p{'-' if exponent < 0 else '+'}{abs(exponent):02d}"


def _rounded(mantissa: int, exponent: int, dropped: int) -> tuple[int, int]:
    """Return the mantissa without its last ``dropped`` bits, rounded half to even."""
    kept, rest = mantissa >> dropped, mantissa & ((1 << dropped) - 1)
    half = 1 << (dropped - 1)
    if rest > half or (rest == half and kept & 1):
        kept += 1
    mantissa = kept << dropped
    if mantissa >> (_MANTISSA_BITS + 1):
        return mantissa >> 1, exponent + 1
    return mantissa, exponent


_JSON: Final = Layout(("[", "]"), ("{", "}"), ",", _leaf, _key, sorted_keys=False)
