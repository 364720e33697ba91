"""Go's number literals as a template writes them. In: the text of one literal. Out: an int or a float.

Integers have any size (X12), within the bound of the data readers. Imaginary numbers are refused: no data has them.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from typing import Final

from prosa.data.limits import MAX_INTEGER_DIGITS
from prosa.template.floats import go_float

__all__ = ["go_float", "parse_number"]

_DIGITS = r"[0-9](?:_?[0-9])*"
_HEX = r"[0-9a-fA-F]"
_INTEGER: Final = re.compile(
    r"([+-]?)(?:0[bB](?P<b2>(?:_?[01])+)|0[oO](?P<b8>(?:_?[0-7])+)|0[xX](?P<b16>(?:_?[0-9a-fA-F])+)"
    r"|(?P<b8old>0(?:_?[0-7])*)|(?P<b10>[1-9](?:_?[0-9])*))"
)
_DECIMAL: Final = re.compile(rf"[+-]?(?:{_DIGITS}(?:\.(?:{_DIGITS})?)?|\.{_DIGITS})(?:[eE][+-]?{_DIGITS})?")
_HEX_FLOAT: Final = re.compile(
    rf"[+-]?0[xX](?:(?:_?{_HEX})+(?:\.(?:{_HEX}(?:_?{_HEX})*)?)?|\.{_HEX}(?:_?{_HEX})*)[pP][+-]?{_DIGITS}"
)
_BASES: Final = {"b2": 2, "b8": 8, "b8old": 8, "b10": 10, "b16": 16}
_ESCAPES: Final = {"a": 7, "b": 8, "f": 12, "n": 10, "r": 13, "t": 9, "v": 11, "\\": 92, "'": 39}
_CODE: Final = re.compile(r"x(?P<x>[0-9a-fA-F]{2})|u(?P<u>[0-9a-fA-F]{4})|U(?P<U>[0-9a-fA-F]{8})|(?P<o>[0-3][0-7]{2})")
_MAX_LITERAL: Final = 2 * MAX_INTEGER_DIGITS
"""Characters of a literal, underscores included: more than any integer needs, and quick to refuse."""


def parse_number(text: str) -> int | float:
    """The value of a number or character constant: ``42``, ``0x_ff``, ``017``, ``1_000.5e3``, ``0x1p-2``, ``'a'``.

    A literal with a point or an exponent is a float, every other an int; a character constant is its code point.
    Raises `ValueError` with a sentence for everything else.
    """
    if len(text) > _MAX_LITERAL:
        raise ValueError(f"a number of {len(text):,} characters is too long")
    if text.startswith("'"):
        return _character(text)
    if match := _INTEGER.fullmatch(text):
        return _integer(match)
    if _HEX_FLOAT.fullmatch(text):
        return _finite(text, float.fromhex)
    if _DECIMAL.fullmatch(text) and any(mark in text for mark in ".eE"):
        return _finite(text, float)
    raise ValueError(_refusal(text))


def _integer(match: re.Match[str]) -> int:
    base = str(match.lastgroup)
    digits = match[base].replace("_", "")
    if len(digits) > MAX_INTEGER_DIGITS:
        raise ValueError(f"an integer of {len(digits):,} digits is too long; at most {MAX_INTEGER_DIGITS:,} are read")
    value = int(digits, _BASES[base])
    return -value if match[1] == "-" else value


def _finite(text: str, convert: Callable[[str], float]) -> float:
    plain = text.replace("_", "")
    try:
        value = convert(plain)
    except OverflowError:
        value = math.inf
    if math.isinf(value):
        raise ValueError(f"{text} is larger than a number can be")
    return value


def _character(text: str) -> int:
    inner = text[1:-1]
    if len(text) < 3 or not text.endswith("'"):
        raise ValueError(f"malformed character constant: {text}")
    if len(inner) == 1 and inner not in "\\'\n":
        return ord(inner)
    if inner.startswith("\\"):
        code = _escaped(inner[1:])
        if code is not None:
            return code
    raise ValueError(f"malformed character constant: {text}; expected one character, or an escape such as '\\n'")


def _escaped(escape: str) -> int | None:
    if escape in _ESCAPES:
        return _ESCAPES[escape]
    match = _CODE.fullmatch(escape)
    if match is None:
        return None
    code = int(match[str(match.lastgroup)], 8 if match.lastgroup == "o" else 16)
    return None if code > 0x10FFFF or 0xD800 <= code <= 0xDFFF else code


def _refusal(text: str) -> str:
    if text.endswith("i") and len(text) > 1:
        return f"{text} is an imaginary number; a template has integers and decimal numbers only"
    if re.fullmatch(r"[+-]?0[0-9_]+", text):
        return f"{text} starts with 0 and so is octal, which has no digits 8 and 9; leave the 0 out or write 0o…"
    return f"illegal number syntax: {text}"
