"""The core schema of YAML 1.2 (section 10.3.2): what a scalar means, unquoted or under a core tag. In: the text of one.
Out: its value."""

from __future__ import annotations

from prosa.data.limits import MAX_INTEGER_DIGITS
from prosa.data.tree import Value
from prosa.regex import regex

WORDS: dict[str, Value] = {
    **dict.fromkeys(("", "~", "null", "Null", "NULL")),
    **dict.fromkeys(("true", "True", "TRUE"), True),
    **dict.fromkeys(("false", "False", "FALSE"), False),
    **dict.fromkeys((".inf", ".Inf", ".INF", "+.inf", "+.Inf", "+.INF"), float("inf")),
    **dict.fromkeys(("-.inf", "-.Inf", "-.INF"), float("-inf")),
    **dict.fromkeys((".nan", ".NaN", ".NAN"), float("nan")),
}
_FIRST = frozenset("0123456789+-.")
_INTEGER = regex(r"[-+]?[0-9]+")
_OCTAL = regex(r"0o[0-7]+")
_HEXADECIMAL = regex(r"0x[0-9a-fA-F]+")
_FLOAT = regex(r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?")
_TOO_LARGE = 10**MAX_INTEGER_DIGITS

_TAG = "tag:yaml.org,2002:"
_KINDS: dict[str, tuple[str, tuple[type, ...]]] = {
    _TAG + "null": ("null", (type(None),)),
    _TAG + "bool": ("a boolean", (bool,)),
    _TAG + "int": ("an integer", (int,)),
    _TAG + "float": ("a number", (float, int)),
}


class TooManyDigits(ValueError):
    """An integer of more than `MAX_INTEGER_DIGITS` digits."""


class NotOfTag(ValueError):
    """A scalar that its core tag does not describe, as ``!!int seven``; the message says what was expected."""


def core_value(text: str) -> Value:
    """Return the value of a plain scalar. Raises `TooManyDigits`."""
    if text in WORDS:
        return WORDS[text]
    if text[0] not in _FIRST:
        return text
    if _INTEGER.fullmatch(text):
        return _integer(text, 10)
    if _FLOAT.fullmatch(text):
        return float(text)
    if _OCTAL.fullmatch(text):
        return _integer(text, 8)
    if _HEXADECIMAL.fullmatch(text):
        return _integer(text, 16)
    return text


def tagged_value(tag: str, text: str) -> Value:
    """Return the value of a scalar under a core tag such as ``tag:yaml.org,2002:int``.

    Raises KeyError for a tag outside the core schema, `NotOfTag` for a text the tag does not describe,
    `TooManyDigits`.
    """
    if tag == _TAG + "str":
        return text
    expected, types = _KINDS[tag]
    value = core_value(text)
    if type(value) not in types:
        raise NotOfTag(expected)
    return float(value) if tag == _TAG + "float" and type(value) is int and abs(value) < 2**1023 else value


def _integer(text: str, base: int) -> int:
    # 4,300 decimal digits are fewer than 4,900 octal ones; the length is checked first because int() is quadratic.
    if len(text) > MAX_INTEGER_DIGITS + (600 if base == 8 else 2):
        raise TooManyDigits
    digits = text.lstrip("+-") if base == 10 else text[2:]
    if base == 10 and len(digits) > MAX_INTEGER_DIGITS:
        raise TooManyDigits
    value = int(text if base == 10 else digits, base)
    if base != 10 and value >= _TOO_LARGE:
        raise TooManyDigits
    return value
