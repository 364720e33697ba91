"""Go's comparisons: ``eq``, ``ne``, ``lt``, ``le``, ``gt``, ``ge``. In: plain values. Out: a bool or `FunctionError`.

Only values of one kind are compared. An integer and a number with a fraction are two kinds, as in Go.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, Literal, TypeAlias

from prosa.template.function import FunctionError
from prosa.template.values import Absent, described

_Kind: TypeAlias = Literal["boolean", "integer", "float", "string", "nothing", "nested"]

_ORDERED: Final = ("integer", "float", "string")


def equal(first: object, others: Sequence[object]) -> bool:
    """Whether ``first`` equals any of the others: ``eq a b c`` is ``a == b || a == c``.

    Null and an absent value equal each other and nothing else. Two lists or maps, and two values of different
    kinds, cannot be compared.
    """
    return any(_equal(first, other) for other in others)


def less(first: object, second: object) -> bool:
    """Whether the first is less than the second: two integers, two floats, or two strings by code points."""
    _check_order(first, second)
    return first < second  # type: ignore[operator, no-any-return]


def less_or_equal(first: object, second: object) -> bool:
    """``le``: less or equal, for the same kinds as `less`."""
    return less(first, second) or _equal(first, second)


def _equal(first: object, second: object) -> bool:
    kinds = _kind(first), _kind(second)
    if "nothing" in kinds:
        return kinds == ("nothing", "nothing")
    if kinds == ("nested", "nested"):
        raise FunctionError(f"non-comparable types: {described(first)} and {described(second)}; compare their elements")
    if kinds[0] != kinds[1]:
        raise _incompatible(first, second)
    return first == second


def _check_order(first: object, second: object) -> None:
    kinds = _kind(first), _kind(second)
    if kinds[0] != kinds[1]:
        raise _incompatible(first, second)
    if kinds[0] not in _ORDERED:
        raise FunctionError(f"invalid type for comparison: {described(first)} has no order; numbers and strings have")


def _incompatible(first: object, second: object) -> FunctionError:
    found = f"{described(first)} and {described(second)}"
    if {_kind(first), _kind(second)} == {"integer", "float"}:
        found += "; write the literal as the data has it, 3 or 3.0"
    return FunctionError(f"incompatible types for comparison: {found}")


def _kind(value: object) -> _Kind:
    if value is None or isinstance(value, Absent):
        return "nothing"
    if isinstance(value, bool):
        return "boolean"
    if isinstance(value, int):
        return "integer"
    if isinstance(value, float):
        return "float"
    return "string" if isinstance(value, str) else "nested"
