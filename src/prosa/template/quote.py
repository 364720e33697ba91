"""Go's quoted strings and characters, as ``%q`` writes them. In: text or a code point. Out: quoted text."""

from __future__ import annotations

from typing import Final

_NAMED: Final = {7: "\\a", 8: "\\b", 12: "\\f", 10: "\\n", 13: "\\r", 9: "\\t", 11: "\\v", 92: "\\\\"}
_REPLACEMENT: Final = 0xFFFD
_BYTE_ORDER_MARK: Final = "\ufeff"


def quoted(text: str, *, ascii_only: bool = False, quote: str = '"') -> str:
    """The text between quotes with Go's escapes; ``ascii_only`` escapes every other character too."""
    return quote + "".join(_escaped(character, quote, ascii_only) for character in text) + quote


def quoted_character(code: int, *, ascii_only: bool = False) -> str:
    """A character constant such as ``'a'``; what is no character becomes ``U+FFFD``."""
    return quoted(character_of(code), ascii_only=ascii_only, quote="'")


def character_of(code: int) -> str:
    """The character of a code point, ``U+FFFD`` for a number that has none."""
    valid = 0 <= code <= 0x10FFFF and not 0xD800 <= code <= 0xDFFF
    return chr(code if valid else _REPLACEMENT)


def can_backquote(text: str) -> bool:
    """Whether the text can stand between backquotes on one line, unescaped."""
    return not any(
        (character < " " and character != "\t") or character in ("`", "\x7f", _BYTE_ORDER_MARK) for character in text
    )


def _escaped(character: str, quote: str, ascii_only: bool) -> str:
    code = ord(character)
    if character == quote:
        return "\\" + character
    if code in _NAMED:
        return _NAMED[code]
    if character.isprintable() and (not ascii_only or character.isascii()):
        return character
    if code < 0x20 or code == 0x7F:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"
