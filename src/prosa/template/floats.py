"""A float64 as Go writes it: ``strconv.FormatFloat`` with 64 bits. In: a float. Out: text, never padded."""

from __future__ import annotations

import math
from typing import Final

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
