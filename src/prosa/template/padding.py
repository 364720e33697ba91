"""Text, integers and floats laid out by the flags, width and precision of a ``printf`` directive. Text comes out."""

from __future__ import annotations

from typing import Final

from prosa.template.directive import Spec

_PREFIXES: Final = {2: "0b", 16: "0x"}
_SHARP_DIGITS: Final = 6
"""Significant digits that ``%#g`` restores when no precision is given."""


def padded(text: str, spec: Spec, *, zero: bool = True) -> str:
    """The text at its width: right by default, left with ``-``; zeros in front with ``0`` where ``zero`` allows."""
    width = spec.width or 0
    if spec.minus:
        return text.ljust(width)
    return text.rjust(width, "0" if spec.zero and zero else " ")


def truncated(text: str, spec: Spec) -> str:
    """The first characters of a text, as many as the precision says."""
    return text if spec.precision is None else text[: spec.precision]


def integer(digits: str, spec: Spec, *, negative: bool, base: int, prefix: str = "") -> str:
    """An integer from its digits without a sign: precision, prefix (``#``, or the given one), sign and width."""
    if spec.precision == 0 and digits == "0":
        return " " * (spec.width or 0)
    least = spec.precision
    if least is None:
        fills = spec.zero and not spec.minus and spec.width is not None
        least = (spec.width or 0) - (negative or spec.plus or spec.space) if fills else 0
    digits = digits.rjust(least, "0")
    if spec.sharp and base == 8 and not digits.startswith("0"):
        digits = "0" + digits
    if spec.sharp:
        digits = _PREFIXES.get(base, "") + digits
    return padded(_sign(spec, negative=negative) + prefix + digits, spec, zero=False)


def floating(text: str, spec: Spec, verb: str) -> str:
    """A float from its text, which has ``-`` in front when it is negative: sign, ``#`` and width."""
    negative = text.startswith("-")
    body = text.lstrip("+-")
    sign = _sign(spec, negative=negative)
    if body == "NaN":
        return padded(sign + body, spec, zero=False)
    if body == "Inf":
        return padded((sign or "+") + body, spec, zero=False)
    if spec.sharp and verb != "b":
        body = _with_point(body, verb, spec.precision)
    if sign and spec.zero and not spec.minus and spec.width is not None:
        return sign + body.rjust(spec.width - len(sign), "0")
    return padded(sign + body, spec)


def _sign(spec: Spec, *, negative: bool) -> str:
    if negative:
        return "-"
    return "+" if spec.plus else " " if spec.space else ""


def _with_point(body: str, verb: str, precision: int | None) -> str:
    """What ``#`` asks for: always a point, and for ``g`` the zeros that the shortest form leaves out."""
    marks = "pP" if verb in "xX" else "pPeE"
    end = next((place for place, character in enumerate(body) if character in marks), len(body))
    number, tail = body[:end], body[end:]
    missing = 0
    if verb in "vgGx":
        wanted = _SHARP_DIGITS if precision is None else precision
        missing = wanted - len(number.replace(".", "").lstrip("0"))
        missing -= number == "0"
    if "." not in number:
        number += "."
    return number + "0" * max(missing, 0) + tail
