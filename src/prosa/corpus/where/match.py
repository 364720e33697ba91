"""A condition on plain data: the same results as in SQL over the fields of an index, without either.

In: a tree and a value. Out: whether the value meets it. Fields are dotted paths; a list has each of its items.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from operator import ge, gt, le, lt
from typing import TypeAlias

from prosa.corpus.where.parse import Compare, Constant, Expression, Has, Join, Not, Operator, is_year, version_key
from prosa.data import Value
from prosa.regex import regex

MAX_KEY = 300
"""Characters of a dotted path, as in the index."""

_ORDER: dict[str, Callable[[str | float, str | float], bool]] = {"<": lt, "<=": le, ">": gt, ">=": ge}
_IS_DATE = regex(r"[0-9]{4}-[0-9]{2}")
_LAST = "\U0010ffff"

_Row: TypeAlias = tuple[str, str, float | None]
"""The kind of a value, its text, and the number that it is."""


def is_met(expression: Expression, value: Value) -> bool:
    """Return whether a value meets a condition."""
    rows: dict[str, list[_Row]] = {}
    for key, row in _rows("", value):
        rows.setdefault(key, []).append(row)
    return _met(expression, rows)


def _met(expression: Expression, rows: dict[str, list[_Row]]) -> bool:
    if isinstance(expression, Not):
        return not _met(expression.operand, rows)
    if isinstance(expression, Join):
        every = all if expression.word == "and" else any
        return every(_met(operand, rows) for operand in expression.operands)
    if isinstance(expression, Has):
        name, below = expression.field.name, f"{expression.field.name}."
        values = (row for key, some in rows.items() if key == name or key.startswith(below) for row in some)
        return any(kind in ("text", "number", "boolean") for kind, _, _ in values)
    return _compares(expression, rows.get(expression.field.name, ()))


def _compares(compare: Compare, rows: Iterator[_Row] | list[_Row] | tuple[()]) -> bool:
    return any(_is_one(compare.operator, row, value) for row in rows for value in compare.values)


def _is_one(operator: Operator, row: _Row, value: Constant) -> bool:
    kind, text, number = row
    if operator == "~":
        return value.text.casefold() in text.casefold() and (kind in ("text", "number", "boolean") or bool(value.text))
    if operator == "=":
        return _is_equal(row, value)
    order = _ORDER[operator]
    if value.kind == "number":
        return (number is not None and order(number, value.number)) or (
            is_year(value) and _is_date(operator, text, value.text)
        )
    if value.kind == "date":
        return _is_date(operator, text, value.text)
    if value.kind == "version":
        key = version_key(text)
        return key is not None and order(key, version_key(value.text) or "")
    return kind == "text" and order(text, value.text)


def _is_equal(row: _Row, value: Constant) -> bool:
    kind, text, number = row
    same = text == value.text and (bool(value.text) or kind == "text")
    if value.kind == "null":
        return kind == "null"
    if value.kind == "boolean":
        return same or text == ("true" if value.number else "false")
    if value.kind == "number":
        return same or number == value.number or (is_year(value) and _is_date("=", text, value.text))
    if value.kind == "date":
        return _is_date("=", text, value.text)
    if value.kind == "version":
        return same or version_key(text) == version_key(value.text)
    return same


def _is_date(operator: Operator, text: str, wanted: str) -> bool:
    """Return dates as text, at the precision of the condition."""
    if _IS_DATE.match(text) is None:
        return False
    after = wanted + _LAST
    if operator == "=":
        return wanted <= text < after
    if operator in ("<", ">="):
        return _ORDER[operator](text, wanted)
    return text >= after if operator == ">" else text < after


def _rows(key: str, value: Value) -> Iterator[tuple[str, _Row]]:
    """Yield every value below a value by its path, including empty ones. Depth is bounded by readers of JSON."""
    if len(key) > MAX_KEY:
        return
    if isinstance(value, dict) and value:
        for name, member in value.items():
            yield from _rows(f"{key}.{name}" if key else name, member)
    elif isinstance(value, list) and value:
        for member in value:
            yield from _rows(key, member)
    else:
        yield key, _row(value)


def _row(value: Value) -> _Row:
    if isinstance(value, dict | list):
        return "list" if isinstance(value, list) else "mapping", "", None
    if value is None:
        return "null", "", None
    if isinstance(value, str):
        return "text", value, None
    text = json.dumps(value)
    return ("boolean", text, None) if isinstance(value, bool) else ("number", text, _number(value))


def _number(value: float) -> float | None:
    try:
        return float(value)
    except OverflowError:
        return None
