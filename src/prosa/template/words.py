"""The text functions of a program: ``upper``, ``lower``, ``title``, ``default``, ``join``, ``split`` (X14, L26).

In: plain values; every value has a text (X12). Out: text, a list of text, or the value that ``default`` chose.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final
from unicodedata import category

from prosa.data import Value
from prosa.template.function import FunctionError, bounded, joined
from prosa.template.printing import value_text
from prosa.template.values import Absent, described

MAX_PARTS: Final = 1_000_000
"""Maximum number of elements that ``split`` returns: each takes some sixty bytes."""

_APOSTROPHES: Final = "'’"


def upper(value: Value) -> str:
    """Return the text in upper case, each character for itself as in Go: ``ß`` has no capital letter and stays."""
    return _mapped(value_text(value), str.upper, _upper)


def lower(value: Value) -> str:
    """Return the text in lower case, each character for itself as in Go."""
    return _mapped(value_text(value), str.lower, _lower)


def title(value: Value) -> str:
    """Return the first letter of each word in upper case, the rest unchanged; an apostrophe does not start a word
    (LA24)."""
    letters: list[str] = []
    inside = False
    for character in bounded(value_text(value)):
        letters.append(character if inside else _title(character))
        inside = _goes_on(character, inside)
    return "".join(letters)


def default(fallback: Value, value: Value) -> Value:
    """Return the value, or the fallback for absent, null, ``""``, ``[]`` and ``{}``. 0 and false are values (X14)."""
    empty = value is None or isinstance(value, Absent) or (isinstance(value, str | list | dict) and not value)
    return fallback if empty else value


def join(items: Value, separator: Value) -> str:
    """Return the texts of a list's elements with the separator between them. Null and absent return the empty text."""
    if items is None or isinstance(items, Absent):
        return ""
    if not isinstance(items, list):
        hint = '; write `join LIST ", "` or `LIST | join ", "`' if isinstance(separator, list) else ""
        raise FunctionError(f"needs a list, found {described(items)}{hint}")
    return joined(map(value_text, items), _separator(separator))


def split(value: Value, separator: Value) -> list[object]:
    """Return the parts of a text between separators; an empty separator splits it into characters. Null and absent
    return ``[]``.

    Raises `FunctionError` for a list or map, and for more than `MAX_PARTS` parts.
    """
    between = _separator(separator)
    if value is None or isinstance(value, Absent):
        return []
    if isinstance(value, list | dict):
        raise FunctionError(f"needs a string, found {described(value)}")
    text = value_text(value)
    if (text.count(between) if between else len(text)) >= MAX_PARTS:
        raise FunctionError(f"makes more than {MAX_PARTS:,} parts")
    return [*text.split(between)] if between else [*text]


def _separator(separator: Value) -> str:
    if isinstance(separator, str):
        return separator
    raise FunctionError(f"needs a string as separator, found {described(separator)}")


def _mapped(text: str, ascii_way: Callable[[str], str], one: Callable[[str], str]) -> str:
    return bounded(ascii_way(text) if text.isascii() else "".join(map(one, text)))


def _upper(character: str) -> str:
    """Return one character for one: where the capital form is several, the title form (``ᾳ``), else the character
    itself."""
    capital = character.upper()
    return capital if len(capital) == 1 else _title(character)


def _lower(character: str) -> str:
    return character.lower()[0]


def _title(character: str) -> str:
    capital = character.title()
    return capital if len(capital) == 1 else character


def _goes_on(character: str, inside: bool) -> bool:
    """Return whether the next character continues a word."""
    if character in _APOSTROPHES:
        return inside
    if character.isalnum() or character == "_":
        return True
    kind = category(character)
    return inside if kind == "Cf" else kind.startswith("M")
