"""The functions of the template language, by name: Go's own and those of markdownlang programs (X14, L26)."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from types import MappingProxyType
from typing import Final, Literal, TypeAlias
from urllib.parse import quote_plus

from prosa.data import Value
from prosa.template.errors import Function, FunctionError, bounded, joined
from prosa.template.printing import print_text, println_text, value_text
from prosa.template.values import ABSENT, Absent, TemplateValue, described, truth

_Kind: TypeAlias = Literal["boolean", "integer", "float", "string", "nothing", "nested"]

_ORDERED: Final = ("integer", "float", "string")


def equal(first: TemplateValue, others: Sequence[TemplateValue]) -> bool:
    """Return whether ``first`` equals any of the others: ``eq a b c`` is ``a == b || a == c``.

    Null and an absent value equal each other and nothing else. Two lists or maps, and two values of different
    kinds, cannot be compared.
    """
    return any(_equal(first, other) for other in others)


def less(first: TemplateValue, second: TemplateValue) -> bool:
    """Return whether the first is less than the second: two integers, two floats, or two strings by code points."""
    _check_order(first, second)
    if isinstance(first, str) and isinstance(second, str):
        return first < second
    return isinstance(first, int | float) and isinstance(second, int | float) and first < second


def less_or_equal(first: TemplateValue, second: TemplateValue) -> bool:
    """Return ``le``: less or equal, for the same kinds as `less`."""
    return less(first, second) or _equal(first, second)


def _equal(first: TemplateValue, second: TemplateValue) -> bool:
    kinds = _kind(first), _kind(second)
    if "nothing" in kinds:
        return kinds == ("nothing", "nothing")
    if kinds == ("nested", "nested"):
        raise FunctionError(f"non-comparable types: {described(first)} and {described(second)}; compare their elements")
    if kinds[0] != kinds[1]:
        raise _incompatible(first, second)
    return bool(first == second)


def _check_order(first: TemplateValue, second: TemplateValue) -> None:
    kinds = _kind(first), _kind(second)
    if kinds[0] != kinds[1]:
        raise _incompatible(first, second)
    if kinds[0] not in _ORDERED:
        raise FunctionError(f"invalid type for comparison: {described(first)} has no order; numbers and strings have")


def _incompatible(first: TemplateValue, second: TemplateValue) -> FunctionError:
    kinds = f"{described(first)} and {described(second)}"
    if {_kind(first), _kind(second)} == {"integer", "float"}:
        kinds += "; write the literal as the data has it, 3 or 3.0"
    return FunctionError(f"incompatible types for comparison: {kinds}")


def _kind(value: TemplateValue) -> _Kind:
    if value is None or isinstance(value, Absent):
        return "nothing"
    if isinstance(value, bool):
        return "boolean"
    if isinstance(value, int):
        return "integer"
    if isinstance(value, float):
        return "float"
    return "string" if isinstance(value, str) else "nested"


# Parts of a value: ``index``, ``slice`` and ``len``. In: plain values. Out: a part, a number, or `FunctionError`.
#
# A string counts code points (X14). A step through an absent value or null is absent (X13).

_MAX_SLICE_BOUNDS: Final = 3


def index(value: TemplateValue, keys: Sequence[TemplateValue]) -> TemplateValue:
    """``index x i j`` is ``x[i][j]``: a list by number from 0, a map by key, a string by number.

    A key that a map lacks is absent. An element of a string is its code point as an integer (Go: its byte).
    Raises `FunctionError` for a number out of range, a key of the wrong type, and a value without parts.
    """
    for key in keys:
        value = _step(value, key)
    return value


def cut(value: TemplateValue, bounds: Sequence[TemplateValue]) -> TemplateValue:
    """``slice x i j`` is ``x[i:j]`` of a string or list; no bounds: all of it.

    Bounds beyond the end mean the end (X14). A third bound, of a list only, is checked and changes nothing. Raises
    `FunctionError` for a negative or reversed range. Null and absent return absent.
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


def length(value: TemplateValue) -> int:
    """Return code points of a string, elements of a list, keys of a map; 0 of null and of an absent value."""
    if value is None or isinstance(value, Absent):
        return 0
    if isinstance(value, str | list | dict):
        return len(value)
    raise FunctionError(f"needs a string, a list or a map, found {described(value)}")


def _step(value: TemplateValue, key: TemplateValue) -> TemplateValue:
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


def _place(value: str | list[Value], key: TemplateValue) -> int:
    if isinstance(key, bool) or not isinstance(key, int):
        raise FunctionError(f"{described(value)} needs an integer, found {described(key)}")
    if not 0 <= key < len(value):
        expected = f"0 to {len(value) - 1}" if value else "nothing, it is empty"
        raise FunctionError(f"out of range of {described(value)}: found {_shown(key)}, expected {expected}")
    return key


def _bound(bound: TemplateValue) -> int:
    if isinstance(bound, bool) or not isinstance(bound, int):
        raise FunctionError(f"needs integers as bounds, found {described(bound)}")
    if bound < 0:
        raise FunctionError(f"found the negative bound {_shown(bound)}")
    return bound


def _shown(number: int) -> str:
    """Return a number in a message; one that no list has is not spelt out."""
    return str(number) if number.bit_length() <= 64 else "a number of more than 64 bits"


# Go's escapers for text that goes into HTML, JavaScript or a query: ``html``, ``js``, ``urlquery``. Text to text.

_HTML: Final = str.maketrans(
    {"\0": "\ufffd", '"': "&#34;", "'": "&#39;", "&": "&amp;", "<": "&lt;", ">": "&gt;"},
)
_JS: Final = {
    "\\": "\\\\",
    "'": "\\'",
    '"': '\\"',
    "<": "\\u003C",
    ">": "\\u003E",
    "&": "\\u0026",
    "=": "\\u003D",
}
_JS_SPECIAL: Final = r"""[\\'"<>&=\x00-\x1f\x80-\U0010ffff]"""


def html(text: str) -> str:
    """Go's ``HTMLEscapeString``: quotes, ``&``, ``<`` and ``>`` as entities, NUL as U+FFFD."""
    return text.translate(_HTML)


def js(text: str) -> str:
    r"""Go's ``JSEscapeString``: what could end a string or a script, controls and the unprintable as ``\u003C``."""
    return re.sub(_JS_SPECIAL, _js_character, text)  # compiled at its first use: few templates need it


def urlquery(text: str) -> str:
    """Go's ``url.QueryEscape``: UTF-8 bytes as ``%XX``, a space as ``+``; letters, digits and ``-_.~`` stay."""
    return quote_plus(text, safe="", errors="replace")


def _js_character(match: re.Match[str]) -> str:
    character = match[0]
    if character in _JS:
        return _JS[character]
    return character if character.isprintable() else f"\\u{ord(character):04X}"


# The text functions of a program: ``upper``, ``lower``, ``title``, ``default``, ``join``, ``split`` (X14, L26).

MAX_PARTS: Final = 1_000_000
"""Maximum number of elements that ``split`` returns: each takes some sixty bytes."""

_APOSTROPHES: Final = "'’"


def upper(value: TemplateValue) -> str:
    """Return the text in upper case, each character for itself as in Go: ``ß`` has no capital letter and stays."""
    return _mapped(value_text(value), str.upper, _upper)


def lower(value: TemplateValue) -> str:
    """Return the text in lower case, each character for itself as in Go."""
    return _mapped(value_text(value), str.lower, _lower)


def title(value: TemplateValue) -> str:
    """Return the first letter of each word in upper case, the rest unchanged; an apostrophe does not start a word
    (LA24)."""
    letters: list[str] = []
    inside = False
    for character in bounded(value_text(value)):
        letters.append(character if inside else _title(character))
        inside = _goes_on(character, inside)
    return "".join(letters)


def default(fallback: TemplateValue, value: TemplateValue) -> TemplateValue:
    """Return the value, or the fallback for absent, null, ``""``, ``[]`` and ``{}``. 0 and false are values (X14)."""
    empty = value is None or isinstance(value, Absent) or (isinstance(value, str | list | dict) and not value)
    return fallback if empty else value


def join(items: TemplateValue, separator: TemplateValue) -> str:
    """Return the texts of a list's elements with the separator between them. Null and absent return the empty text."""
    if items is None or isinstance(items, Absent):
        return ""
    if not isinstance(items, list):
        hint = '; write `join LIST ", "` or `LIST | join ", "`' if isinstance(separator, list) else ""
        raise FunctionError(f"needs a list, found {described(items)}{hint}")
    return joined(map(value_text, items), _separator(separator))


def split(value: TemplateValue, separator: TemplateValue) -> list[Value]:
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


def _separator(separator: TemplateValue) -> str:
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
    from unicodedata import category  # only here: most words are letters

    kind = category(character)
    return inside if kind == "Cf" else kind.startswith("M")


def _subject_first(args: Sequence[TemplateValue], *, piped: bool) -> list[TemplateValue]:
    """Return the arguments with the subject in front: a piped value comes last in the call and is the subject (X14)."""
    return [args[-1], *args[:-1]] if piped else [*args]


def _simple(name: str, call: Callable[..., TemplateValue], count: int, most: int | None = None) -> Function:
    """Return a function of a fixed number of arguments, or from ``count`` to ``most``, in the order of the call."""
    return Function(name, lambda args, _piped: call(*args), count, count if most is None else most)


def _subject(name: str, call: Callable[..., TemplateValue], count: int) -> Function:
    """Return a function whose subject comes first in a direct call and last when it came through ``|``."""
    return Function(name, lambda args, piped: call(*_subject_first(args, piped=piped)), count, count)


def _escaper(name: str, escaped: Callable[[str], str]) -> Function:
    return Function(name, lambda args, _piped: bounded(escaped(print_text(args))), 0, None)


def _slice(args: Sequence[TemplateValue], piped: bool) -> TemplateValue:
    value, *bounds = _subject_first(args, piped=piped)
    return cut(value, bounds)


def _printf(args: Sequence[TemplateValue], _piped: bool) -> str:
    text = args[0]
    if not isinstance(text, str):
        raise FunctionError(f"needs a string as format, found {described(text)}")
    from prosa.template.printf import sprintf

    return sprintf(text, args[1:])


def _call(args: Sequence[TemplateValue], _piped: bool) -> TemplateValue:
    raise FunctionError(f"needs a function, found {described(args[0])}; data has no functions")


# The table of functions, and what the editor says about each.

_ALL: Final = (
    _simple("not", lambda value: not truth(value), 1),
    Function("eq", lambda args, _piped: equal(args[0], args[1:]), 2, None),
    _simple("ne", lambda first, second: not equal(first, (second,)), 2),
    _simple("lt", less, 2),
    _simple("le", less_or_equal, 2),
    _simple("gt", lambda first, second: not less_or_equal(first, second), 2),
    _simple("ge", lambda first, second: not less(first, second), 2),
    Function("index", lambda args, _piped: index(args[0], args[1:]), 1, None),
    Function("slice", _slice, 1, 4),
    _simple("len", length, 1),
    Function("print", lambda args, _piped: print_text(args), 0, None),
    Function("println", lambda args, _piped: println_text(args), 0, None),
    Function("printf", _printf, 1, None),
    _escaper("html", html),
    _escaper("js", js),
    _escaper("urlquery", urlquery),
    Function("call", _call, 1, None),
    _simple("upper", upper, 1),
    _simple("lower", lower, 1),
    _simple("title", title, 1),
    _simple("default", default, 2),
    _subject("join", join, 2),
    _subject("split", split, 2),
)

FUNCTIONS: Final[Mapping[str, Function]] = MappingProxyType({function.name: function for function in _ALL})
"""Every function but ``and`` and ``or``, by its name."""

ABOUT: Final[Mapping[str, tuple[str, str]]] = MappingProxyType(
    {
        "and": ("and A B …", "the first argument that is false or empty, else the last one"),
        "or": ("or A B …", "the first argument that is neither false nor empty, else the last one"),
        "not": ("not A", "whether a value is false or empty"),
        "eq": ("eq A B …", "whether the first argument equals any of the others"),
        "ne": ("ne A B", "whether two values differ"),
        "lt": ("lt A B", "whether the first of two numbers or texts is less"),
        "le": ("le A B", "whether the first is less or equal"),
        "gt": ("gt A B", "whether the first is greater"),
        "ge": ("ge A B", "whether the first is greater or equal"),
        "index": ("index VALUE KEY …", "an item of a list by its number from 0, or a member of a map by its name"),
        "slice": ("slice VALUE FROM TO", "a part of a text or of a list"),
        "len": ("len VALUE", "the characters of a text, the items of a list, the members of a map"),
        "print": ("print VALUE …", "the values as one text, with a blank between two that are not strings"),
        "println": ("println VALUE …", "the values as one line, a blank between them"),
        "printf": ("printf FORMAT VALUE …", "the values in a format such as `%s: %d`"),
        "html": ("html VALUE …", "the text with `<`, `>`, `&` and quotes written for HTML"),
        "js": ("js VALUE …", "the text written for a string of JavaScript"),
        "urlquery": ("urlquery VALUE …", "the text written for the query of a URL"),
        "call": ("call FUNCTION …", "calls a function that the data holds; data has none here"),
        "upper": ("upper TEXT", "the text in upper case"),
        "lower": ("lower TEXT", "the text in lower case"),
        "title": ("title TEXT", "the text with the first letter of each word in upper case"),
        "default": ("VALUE | default FALLBACK", "the value, or the fallback where it is absent or empty"),
        "join": ('join LIST ", "', "the items of a list as one text, with a separator between them"),
        "split": ('split TEXT ","', "the parts of a text between separators, as a list"),
    }
)
"""Each function's signature and description, for people."""

KEYWORDS_ABOUT: Final[Mapping[str, tuple[str, str]]] = MappingProxyType(
    {
        "if": ("if CONDITION", "the text up to `end`, or up to `else`, where the condition holds"),
        "else": ("else", "what stands where the condition does not hold, or the list is empty"),
        "end": ("end", "ends `if`, `range`, `with`, `define` or `block`"),
        "range": ("range LIST", "the text once for each item; the item is `.`"),
        "with": ("with VALUE", "the text where the value is not empty; the value is `.`"),
        "break": ("break", "ends the innermost `range`"),
        "continue": ("continue", "continues with the next item of the innermost `range`"),
        "define": ('define "NAME"', "a text with a name, for `template`"),
        "template": ('template "NAME" VALUE', "the text of that name; the value is `.` in it"),
        "block": ('block "NAME" VALUE', "`define` and `template` in one"),
        "true": ("true", "the truth value"),
        "false": ("false", "the truth value"),
        "nil": ("nil", "no value"),
    }
)
"""The same for the words that are no functions."""
