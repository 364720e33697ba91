"""The text of a condition becomes tokens, and those a tree. A `WhereError` names the column, what was found and what
was expected.

    word     = characters other than blanks, quotes, `( ) , = ! < > ~`
    string   = '"' … '"' | "'" … "'", in which a backslash takes the next character as it is
    operator = "=" | "==" | "!=" | "<" | "<=" | ">" | ">=" | "~" | "!~"

A value between quotes is always text. Dates are ISO 8601 of any precision (`2026`, `2026-03`, `2026-03-01`,
`2026-03-01T12:00Z`); a year alone is a number that also compares with dates.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import lru_cache
from typing import Final, Literal, NamedTuple, TypeAlias, cast

from msgspec import Struct

from prosa.regex import regex
from prosa.source import ProsaError

MOST_SHOWN = 60
"""Characters of what was found that are repeated in a message."""


class WhereError(ProsaError):
    """``column`` counts characters of ``text`` from 1. ``found`` and ``expected`` are words for people; ``field`` is
    the name in front of the place, if one was read."""

    def __init__(self, text: str, offset: int, actual: str, expected: str, *, field: str = "") -> None:
        self.text = text
        self.column = offset + 1
        self.found = actual
        self.expected = expected
        self.field = field
        super().__init__(f"column {self.column}: found {actual}, expected {expected}")

    @property
    def excerpt(self) -> str:
        """The part of the condition around the place, with a caret under it: two lines."""
        start = max(self.column - 1 - MOST_SHOWN, 0)
        shown = self.text[start : self.column - 1 + MOST_SHOWN]
        line = "".join(char if char.isprintable() else " " for char in shown)
        return f"{line}\n{' ' * (self.column - 1 - start)}^"


def quoted(text: str) -> str:
    """Return what was found, between backticks and not too long."""
    return f"`{text}`" if len(text) <= MOST_SHOWN else f"`{text[:MOST_SHOWN]}…`"


# A condition as an immutable tree.

Operator: TypeAlias = Literal["=", "<", "<=", ">", ">=", "~"]
"""`~` is "contains". `!=`, `!~` and `not in` are `Not` of another."""

Kind: TypeAlias = Literal["text", "number", "date", "version", "boolean", "null"]
"""How a literal compares."""


class Constant(Struct, frozen=True):
    """A value as written, without quotes. ``number`` is the value of a number, 1 or 0 for a boolean."""

    text: str
    kind: Kind = "text"
    number: float = 0.0


class FieldName(NamedTuple):
    """A dotted name and its offset in the condition."""

    name: str
    offset: int


class Compare(Struct, frozen=True):
    """Some value of the field compares so with one of the values. More than one only for `=`."""

    field: FieldName
    operator: Operator
    values: tuple[Constant, ...]


class Has(Struct, frozen=True):
    """The field has a value other than null."""

    field: FieldName


class Not(Struct, frozen=True):
    """The opposite, also true of a document without the field."""

    operand: Expression


class Join(Struct, frozen=True):
    """All of them, or any of them; two at least."""

    word: Literal["and", "or"]
    operands: tuple[Expression, ...]


Expression: TypeAlias = Compare | Has | Not | Join


def fields_of(expression: Expression) -> Iterator[FieldName]:
    """Yield the fields that a condition names, in the order they are written. The depth is bounded by the parser."""
    if isinstance(expression, Compare | Has):
        yield expression.field
    elif isinstance(expression, Not):
        yield from fields_of(expression.operand)
    else:
        for operand in expression.operands:
            yield from fields_of(operand)


# What a value in a condition is: a number, a date, a version, a boolean, null, or text.

_NUMBER = regex(r"[-+]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][-+]?[0-9]{1,4})?")
_DATE = regex(r"[0-9]{4}-[0-9]{2}(?:-[0-9]{2}(?:[Tt ][0-9:.]{2,15}(?:[Zz]|[-+][0-9:]{2,5})?)?)?")
_YEAR = regex(r"[0-9]{4}")
_VERSION = regex(r"[vV]?([0-9]{1,9}(?:\.[0-9]{1,9}){0,7})([-+][0-9A-Za-z.+-]{1,40})?")

MAX_DIGITS = 300
"""Characters of a number; a longer one is text."""


def constant(text: str) -> Constant:
    """Return a bare value."""
    lowered = text.lower()
    if lowered in ("true", "false"):
        return Constant(text, "boolean", float(lowered == "true"))
    if lowered == "null":
        return Constant(text, "null")
    if len(text) <= MAX_DIGITS and _NUMBER.fullmatch(text):
        return Constant(text, "number", float(text))
    if _DATE.fullmatch(text):
        return Constant(text, "date")
    if text.count(".") >= 2 and version_key(text) is not None:
        return Constant(text, "version")
    return Constant(text)


def is_year(value: Constant) -> bool:
    """Return whether a number may be meant as a year."""
    return value.kind == "number" and _YEAR.fullmatch(value.text) is not None


@lru_cache(maxsize=4096)
def version_key(text: str | None) -> str | None:
    """Return a text that sorts as the version does: `1.10` after `1.9`, `2.0.0-rc1` before `2.0.0`. None for no
    version."""
    match = _VERSION.fullmatch(text) if text is not None and len(text) <= MAX_DIGITS else None
    if match is None:
        return None
    parts = [int(part) for part in match[1].split(".")]
    while len(parts) > 1 and parts[-1] == 0:
        parts.pop()
    suffix = match[2] or ""
    # `-` marks a pre-release; both `!` and `~` stand outside what a part can hold, one before and one after it.
    release = f"!{suffix}" if suffix.startswith("-") else "~"
    return ".".join(f"{part:010d}" for part in parts) + "!" + release


# The text of a condition → tokens. Raises `WhereError` for an unclosed string and for characters that start no token.

MAX_WHERE = 8_000
"""Characters of a condition. A list of a hundred ids fits; a longer text is some mistake."""

TokenKind: TypeAlias = Literal["word", "string", "operator", "(", ")", ",", "end"]

_TOKEN = regex(
    r"""(?P<blank>\s+)|(?P<operator>[=!<>]=|!~|[=<>~])|(?P<mark>[(),])|(?P<word>[^\s"'(),=!<>~]+)
        |(?P<string>"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*')""",
    re.VERBOSE | re.DOTALL,
)
_ESCAPED = regex(r"\\(.)", re.DOTALL)


class Token(NamedTuple):
    """A piece of a condition. ``text`` of a string is without quotes and escapes; ``offset`` is its start."""

    kind: TokenKind
    text: str
    offset: int

    @property
    def shown(self) -> str:
        """The token in a message."""
        return "the end" if self.kind == "end" else quoted(self.text)


def lex(text: str) -> list[Token]:
    """All tokens, an ``end`` token last."""
    if len(text) > MAX_WHERE:
        raise WhereError(text, MAX_WHERE, f"{len(text):,} characters", f"at most {MAX_WHERE:,}")
    tokens: list[Token] = []
    at = 0
    while at < len(text):
        match = _TOKEN.match(text, at)
        if match is None:
            raise _no_token(text, at)
        if match.lastgroup != "blank":
            tokens.append(_token(match, at))
        at = match.end()
    return [*tokens, Token("end", "", len(text))]


def _token(match: re.Match[str], at: int) -> Token:
    if match.lastgroup == "string":
        return Token("string", _ESCAPED.sub(r"\1", match[0][1:-1]), at)
    if match.lastgroup == "operator":
        return Token("operator", "=" if match[0] == "==" else match[0], at)
    if match.lastgroup == "word":
        return Token("word", match[0], at)
    return Token(match[0], match[0], at)  # type: ignore[arg-type]


def _no_token(text: str, at: int) -> WhereError:
    if text[at] in "\"'":
        return WhereError(text, at, f"an opening {text[at]}", f"a closing {text[at]} after it")
    return WhereError(text, at, quoted(text[at]), "!= or !~, or the word not")


# The tokens of a condition → a tree. Raises `WhereError` with the column, what was found and what was expected.

MAX_DEPTH: Final = 40
"""Parentheses and `not` within each other; the parser recurses for each, and so does SQLite."""

MAX_CONDITIONS: Final = 200
"""Comparisons in one condition: each is a lookup."""

MAX_VALUES: Final = 200
"""Values of one `in (…)`: SQLite joins at most 500 lookups."""

_OPERATORS = "an operator: = != < <= > >= ~ in"


def parse_where(text: str, *, bare: bool = False) -> Expression:
    """Return the tree of a condition. ``bare`` lets a field stand alone, and mean that it is true. Raises `WhereError`,
    also for an empty text."""
    cursor = _Cursor(text, bare=bare)
    expression = _expression(cursor)
    if cursor.peek().kind != "end":
        raise cursor.error("and, or, or the end")
    return expression


class _Cursor:
    """The state of one parse."""

    def __init__(self, text: str, *, bare: bool = False) -> None:
        self.text = text
        self.bare = bare
        self._tokens = lex(text)
        self._at = 0
        self.depth = 0
        self.conditions = 0

    def peek(self, ahead: int = 0) -> Token:
        """Return the token at hand, or one further on."""
        return self._tokens[min(self._at + ahead, len(self._tokens) - 1)]

    def next(self) -> Token:
        """Take the token at hand."""
        token = self.peek()
        self._at += token.kind != "end"
        return token

    def takes(self, word: str) -> bool:
        """Take a word of the language, in any case, if it is at hand and is not the name of a field."""
        token = self.peek()
        if token.kind != "word" or token.text.lower() != word or self.peek(1).kind == "operator":
            return False
        self._at += 1
        return True

    @property
    def stands_alone(self) -> bool:
        """Whether nothing follows on a field that may stand alone."""
        token = self.peek()
        return self.bare and (token.kind in ("end", ")") or token.text.lower() in ("and", "or"))

    def error(self, expected: str, *, field: str = "") -> WhereError:
        """Return an error at the current token."""
        token = self.peek()
        return WhereError(self.text, token.offset, token.shown, expected, field=field)


def _expression(cursor: _Cursor) -> Expression:
    """expression = conjunction { "or" conjunction }"""
    return _joined(cursor, "or", _conjunction)


def _conjunction(cursor: _Cursor) -> Expression:
    """conjunction = negation { "and" negation }"""
    return _joined(cursor, "and", _negation)


def _joined(cursor: _Cursor, word: Literal["and", "or"], operand: Callable[[_Cursor], Expression]) -> Expression:
    operands = [operand(cursor)]
    while cursor.takes(word):
        operands.append(operand(cursor))
    return Join(word, tuple(operands)) if len(operands) > 1 else operands[0]


def _negation(cursor: _Cursor) -> Expression:
    """negation = "not" negation | "(" expression ")" | "has" field | comparison"""
    cursor.depth += 1
    if cursor.depth > MAX_DEPTH:
        raise cursor.error(f"at most {MAX_DEPTH} parentheses and `not` within each other")
    expression = _primary(cursor)
    cursor.depth -= 1
    return expression


def _primary(cursor: _Cursor) -> Expression:
    if cursor.takes("not"):
        return Not(_negation(cursor))
    if cursor.peek().kind == "(":
        cursor.next()
        expression = _expression(cursor)
        if cursor.peek().kind != ")":
            raise cursor.error("and, or, or `)`")
        cursor.next()
        return expression
    cursor.conditions += 1
    if cursor.conditions > MAX_CONDITIONS:
        raise cursor.error(f"at most {MAX_CONDITIONS} comparisons")
    if cursor.takes("has"):
        return Has(_field(cursor))
    return _comparison(cursor)


def _comparison(cursor: _Cursor) -> Expression:
    """comparison = field operator value | field ["not"] "in" list | field"""
    field = _field(cursor)
    if cursor.takes("not"):
        if not cursor.takes("in"):
            raise cursor.error("in", field=field.name)
        return Not(Compare(field, "=", _list(cursor, field)))
    if cursor.takes("in"):
        return Compare(field, "=", _list(cursor, field))
    if cursor.peek().kind != "operator":
        if cursor.stands_alone:
            return Compare(field, "=", (constant("true"),))
        raise cursor.error(_OPERATORS, field=field.name)
    operator = cursor.next().text
    value = (_value(cursor, field),)
    if operator in ("!=", "!~"):
        return Not(Compare(field, "=" if operator == "!=" else "~", value))
    return Compare(field, cast("Operator", operator), value)


def _field(cursor: _Cursor) -> FieldName:
    """field = word | string"""
    token = cursor.peek()
    if token.kind not in ("word", "string") or not token.text:
        raise cursor.error("the name of a field")
    cursor.next()
    return FieldName(token.text, token.offset)


def _list(cursor: _Cursor, field: FieldName) -> tuple[Constant, ...]:
    """list = "(" value { "," value } ")" """
    if cursor.peek().kind != "(":
        raise cursor.error("`(` and values after in", field=field.name)
    cursor.next()
    values = [_value(cursor, field)]
    while cursor.peek().kind == ",":
        cursor.next()
        values.append(_value(cursor, field))
        if len(values) > MAX_VALUES:
            raise cursor.error(f"at most {MAX_VALUES} values")
    if cursor.peek().kind != ")":
        raise cursor.error("`,` or `)`", field=field.name)
    cursor.next()
    return tuple(values)


def _value(cursor: _Cursor, field: FieldName) -> Constant:
    """value = word | string"""
    token = cursor.peek()
    if token.kind not in ("word", "string"):
        raise cursor.error("a value", field=field.name)
    cursor.next()
    return constant(token.text) if token.kind == "word" else Constant(token.text)
