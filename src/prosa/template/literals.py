"""Constants as Go writes them: numbers, characters, strings with their escapes (Go spec, "Lexical elements")."""

from __future__ import annotations

import re

from prosa.template.numbers import parse_number

_ESCAPE = re.compile(r"\\(x[0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8}|[0-7]{3}|.)", re.DOTALL)
_SIMPLE = {"a": 7, "b": 8, "f": 12, "n": 10, "r": 13, "t": 9, "v": 11, "\\": 92}
_MAX_RUNE = 0x10FFFF


class LiteralError(ValueError):
    """A constant that Go would not accept; the text is a sentence."""


def literal_value(source: str) -> int | float | str:
    """The value of a constant as written, quotes included. Raises `LiteralError`."""
    if source.startswith("`"):
        return source[1:-1].replace("\r", "")
    if source.startswith('"'):
        return _unescape(source[1:-1], '"').decode("utf-8", "replace")
    try:
        return parse_number(source)
    except ValueError as error:
        raise LiteralError(str(error)) from None


def _unescape(inner: str, quote: str) -> bytes:
    """The bytes of a quoted text: ``\\x`` and octal escapes are bytes, the others characters."""
    pieces: list[bytes] = []
    done = 0
    for found in _ESCAPE.finditer(inner):
        pieces += (inner[done : found.start()].encode("utf-8", "replace"), _escaped(found.group(1), quote))
        done = found.end()
    return b"".join((*pieces, inner[done:].encode("utf-8", "replace")))


def _escaped(code: str, quote: str) -> bytes:
    if code in _SIMPLE:
        return bytes((_SIMPLE[code],))
    if code == quote:
        return quote.encode()
    if len(code) > 1 and code[0] == "x":
        return bytes((int(code[1:], 16),))
    if len(code) > 1 and code[0] in "uU":
        return _rune(int(code[1:], 16), code)
    if len(code) == 3:
        return _octal(code)
    raise LiteralError(f"unknown escape \\{code}")


def _rune(number: int, code: str) -> bytes:
    if number > _MAX_RUNE or 0xD800 <= number <= 0xDFFF:
        raise LiteralError(f"\\{code} is not a character")
    return chr(number).encode()


def _octal(code: str) -> bytes:
    number = int(code, 8)
    if number > 255:
        raise LiteralError(f"\\{code} is larger than a byte")
    return bytes((number,))
