"""The tree of a condition → a condition in SQL over the fields of a store. Every name and value is a parameter.

In: a tree, and the table or view that holds the fields. Out: text with `?` and the values for them. It needs the
functions of `sql_functions` on the connection, and makes one lookup for each comparison. Nothing is executed here: the
caller sets the authoriser, as for any untrusted SQL.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from msgspec import Struct

from prosa.corpus.where.parse import Compare, Constant, Expression, Has, Join, Not, Operator, is_year, version_key

Value: TypeAlias = str | float

_LAST = "\U0010ffff"
"""Sorts after every other character: `text < prefix + _LAST` holds for all texts with the prefix."""

_IS_DATE = "text GLOB '[0-9][0-9][0-9][0-9]-[0-9][0-9]*'"
_IS_VALUE = "kind IN ('text', 'number', 'boolean')"
_SAME_TEXT = "text = ?"
_SAME_NUMBER = "number = ?"
_OF_KEY = "key = ? AND "


class Condition(Struct, frozen=True):
    """A boolean expression in SQL and the values of its parameters, in order."""

    sql: str
    parameters: tuple[Value, ...] = ()


class Fields(Struct, frozen=True):
    """Where fields are stored, a row for each value: a ``table`` or view with the columns `key`, `kind`, `text` and
    `number`, like `metadata` of the index, and the column ``owner`` for what they are fields of."""

    table: str = "metadata"
    owner: str = "document"

    @property
    def select(self) -> str:
        """The start of a statement that selects the owners of fields."""
        return f"SELECT {self.owner} FROM {self.table} WHERE"  # noqa: S608 - names of ours


FRONT_MATTER = Fields()
"""The fields of documents, as the index keeps them."""


def never(_: Condition) -> bool:
    """No lookup is wide."""
    return False


def compile_where(
    expression: Expression, column: str, wide: Callable[[Condition], bool] = never, fields: Fields = FRONT_MATTER
) -> Condition:
    """Return the condition on ``column``, which names the owner of ``fields`` in the statement around it.

    ``wide`` is called for every lookup, a SELECT of owners, and returns whether it finds so many that testing each in
    turn is faster than selecting all first.
    """
    if isinstance(expression, Join):
        return join(expression.word, [compile_where(operand, column, wide, fields) for operand in expression.operands])
    if isinstance(expression, Not):
        inner = compile_where(expression.operand, column, wide, fields)
        return Condition(f"NOT {inner.sql}", inner.parameters)
    rows = _has(expression) if isinstance(expression, Has) else _compare(expression)
    # One SELECT for each way to answer: with OR inside one of them SQLite would read all rows of the key.
    selects = " UNION ALL ".join(f"{fields.select} {row.sql}" for row in rows)
    lookup = Condition(selects, tuple(value for row in rows for value in row.parameters))
    return _each(rows, column, fields) if wide(lookup) else Condition(f"{column} IN ({lookup.sql})", lookup.parameters)


def _each(rows: list[Condition], column: str, fields: Fields) -> Condition:
    """Return the same question about one owner. The plus keeps SQLite from any index but that of its rows."""
    of_one = f"{fields.select} {fields.owner} = {column}"
    return join("or", [Condition(f"EXISTS ({of_one} AND {_guarded(row.sql)})", row.parameters) for row in rows])


def _guarded(sql: str) -> str:
    if not sql.startswith(_OF_KEY):
        return f"+({sql})"
    return f"{_OF_KEY}+({sql.removeprefix(_OF_KEY)})"


def join(word: str, conditions: list[Condition]) -> Condition:
    """Conditions joined by `and` or `or`, in parentheses."""
    sql = f" {word.upper()} ".join(condition.sql for condition in conditions)
    return Condition(f"({sql})", tuple(value for condition in conditions for value in condition.parameters))


def sql_functions() -> dict[str, tuple[Callable[..., str | bool | None], int]]:
    """Return the functions that a condition may call: name → function, number of arguments. All depend on nothing
    else."""
    return {"prosa_version": (version_key, 1), "prosa_contains": (contains, 2)}


def contains(text: str | None, part: str) -> bool:
    """Return whether a text holds another, ignoring case."""
    return text is not None and part.casefold() in text.casefold()


def _has(has: Has) -> list[Condition]:
    """Return rows of the field itself or of a field below it."""
    name = has.field.name
    return [
        Condition(f"{_OF_KEY}{_IS_VALUE}", (name,)),
        Condition(f"key > ? AND key < ? AND {_IS_VALUE}", (f"{name}.", f"{name}.{_LAST}")),
    ]


def _compare(compare: Compare) -> list[Condition]:
    options = _merged([option for value in compare.values for option in _options(compare.operator, value)])
    return [Condition(f"{_OF_KEY}({option.sql})", (compare.field.name, *option.parameters)) for option in options]


def _merged(options: list[Condition]) -> list[Condition]:
    """Equalities of texts and of numbers as one list each: `in` with many values stays one lookup."""
    conditions: list[Condition] = []
    for sql in (_SAME_TEXT, _SAME_NUMBER):
        values = tuple(option.parameters[0] for option in options if option.sql == sql)
        if values:
            conditions.append(Condition(f"{sql.split()[0]} IN ({', '.join('?' * len(values))})", values))
    return [*conditions, *(option for option in options if option.sql not in (_SAME_TEXT, _SAME_NUMBER))]


def _options(operator: Operator, value: Constant) -> list[Condition]:
    """Return the ways in which a row can answer; any of them is enough."""
    if operator == "~":
        return [_contains(value.text)]
    if operator == "=":
        return _equal(value)
    if value.kind == "number":
        numbers = Condition(f"number {operator} ?", (value.number,))
        return [numbers, _date(operator, value.text)] if is_year(value) else [numbers]
    if value.kind == "date":
        return [_date(operator, value.text)]
    if value.kind == "version":
        return [Condition(f"prosa_version(text) {operator} ?", (version_key(value.text) or "",))]
    return [Condition(f"text {operator} ? AND kind = 'text'", (value.text,))]


def _equal(value: Constant) -> list[Condition]:
    same = Condition(_SAME_TEXT if value.text else f"{_SAME_TEXT} AND kind = 'text'", (value.text,))
    if value.kind == "null":
        return [Condition("kind = 'null'")]
    if value.kind == "boolean":
        return [Condition(_SAME_TEXT, ("true" if value.number else "false",)), same]
    if value.kind == "number":
        numbers = [Condition(_SAME_NUMBER, (value.number,)), same]
        return [*numbers, _date("=", value.text)] if is_year(value) else numbers
    if value.kind == "date":
        return [_date("=", value.text)]
    if value.kind == "version":
        return [Condition("prosa_version(text) = ?", (version_key(value.text) or "",)), same]
    return [same]


def _date(operator: Operator, text: str) -> Condition:
    """Return dates as text, at the precision of the condition: a day is all of that day."""
    after = text + _LAST
    if operator == "=":
        return Condition(f"text >= ? AND text < ? AND {_IS_DATE}", (text, after))
    if operator in ("<", ">="):
        return Condition(f"text {operator} ? AND {_IS_DATE}", (text,))
    return Condition(f"text {'>=' if operator == '>' else '<'} ? AND {_IS_DATE}", (after,))


def _contains(part: str) -> Condition:
    if not part:
        return Condition(_IS_VALUE)
    if not part.isascii():
        return Condition("prosa_contains(text, ?)", (part,))
    escaped = part.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")
    return Condition("text LIKE ? ESCAPE '\\'", (f"%{escaped}%",))
