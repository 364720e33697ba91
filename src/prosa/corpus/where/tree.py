"""A condition as an immutable tree."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal, NamedTuple, TypeAlias

from msgspec import Struct

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
