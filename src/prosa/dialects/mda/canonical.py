"""The canonical form of JSON data by RFC 8785 (JCS), whose bytes are hashed and signed.

Names are in the order of their UTF-16 code units, numbers as JavaScript writes them, and there is no blank space.
"""

from __future__ import annotations

import json
import math
from decimal import Decimal

from prosa.data import Value

MAX_EXACT = 2**53
"""Integers beyond this are not exact in JavaScript, in whose numbers RFC 8785 defines its form."""


def canonical(value: Value) -> bytes:
    """Return the form of plain data. Raises ValueError for what has none: infinities, surrogates."""
    return _text(value).encode()


def _text(value: Value) -> str:
    if isinstance(value, dict):
        names = sorted(value, key=lambda name: name.encode("utf-16-be"))
        return "{" + ",".join(f"{_text(name)}:{_text(value[name])}" for name in names) + "}"
    if isinstance(value, list):
        return "[" + ",".join(map(_text, value)) + "]"
    if isinstance(value, bool | str | None):
        return json.dumps(value, ensure_ascii=False)
    return _number(value)


def _number(value: float) -> str:
    """Return a number as JavaScript writes it: the shortest digits that mean it."""
    if isinstance(value, int) and abs(value) <= MAX_EXACT:
        return str(value)
    number = float(value)
    if not math.isfinite(number):
        raise ValueError("a number that is not finite has no canonical form")
    if number == 0:
        return "0"
    sign, digits, exponent = Decimal(repr(number)).normalize().as_tuple()
    text = "".join(map(str, digits))
    assert isinstance(exponent, int)
    point = len(text) + exponent
    if 0 < point <= 21:
        text = f"{text[:point]}.{text[point:]}".rstrip(".") if len(text) > point else text.ljust(point, "0")
    elif -6 < point <= 0:
        text = f"0.{'0' * -point}{text}"
    else:
        mantissa = f"{text[0]}.{text[1:]}".rstrip(".")
        text = f"{mantissa}e{point - 1:+d}"
    return f"-{text}" if sign else text
