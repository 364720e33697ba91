"""The tokens of a condition → a tree. Raises `WhereError` with the column, what was found and what was expected."""

from __future__ import annotations

from typing import Final, cast

from prosa.corpus.where.errors import WhereError
from prosa.corpus.where.lex import Token, lex
from prosa.corpus.where.literals import constant
from prosa.corpus.where.tree import Compare, Constant, Expression, FieldName, Has, Join, Not, Operator

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
    found = _expression(cursor)
    if cursor.peek().kind != "end":
        raise cursor.error("and, or, or the end")
    return found


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
    operands = [_conjunction(cursor)]
    while cursor.takes("or"):
        operands.append(_conjunction(cursor))
    return Join("or", tuple(operands)) if len(operands) > 1 else operands[0]


def _conjunction(cursor: _Cursor) -> Expression:
    """conjunction = negation { "and" negation }"""
    operands = [_negation(cursor)]
    while cursor.takes("and"):
        operands.append(_negation(cursor))
    return Join("and", tuple(operands)) if len(operands) > 1 else operands[0]


def _negation(cursor: _Cursor) -> Expression:
    """negation = "not" negation | "(" expression ")" | "has" field | comparison"""
    cursor.depth += 1
    if cursor.depth > MAX_DEPTH:
        raise cursor.error(f"at most {MAX_DEPTH} parentheses and `not` within each other")
    found = _primary(cursor)
    cursor.depth -= 1
    return found


def _primary(cursor: _Cursor) -> Expression:
    if cursor.takes("not"):
        return Not(_negation(cursor))
    if cursor.peek().kind == "(":
        cursor.next()
        found = _expression(cursor)
        if cursor.peek().kind != ")":
            raise cursor.error("and, or, or `)`")
        cursor.next()
        return found
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
