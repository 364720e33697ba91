"""Conditions and functions in filters of JSONPath (RFC 9535, 2.3.5 and 2.4). In: a value. Out: a decision."""

from __future__ import annotations

from enum import Enum
from typing import Protocol, TypeAlias, TypeGuard

from msgspec import Struct

from prosa.data import Value
from prosa.evaluation.patterns import BadPattern, matches
from prosa.evaluation.rfc9535.selectors import Condition, Parts, Path, Search
from prosa.regex import regex


class Absent(Enum):
    """What a query finds that finds no value: `Nothing` in the standard."""

    NOTHING = "nothing"


NOTHING = Absent.NOTHING

Compared: TypeAlias = Value | Absent


class Comparable(Protocol):
    """What gives one value, or nothing."""

    def value(self, current: Value, search: Search) -> Compared:
        """Return the value, where `@` is ``current``. Raises `TooMuch`."""
        ...


class Literal(Struct, frozen=True):
    """A value that the filter names."""

    constant: Value

    def value(self, current: Value, search: Search) -> Compared:  # noqa: ARG002
        """Return the constant."""
        return self.constant


class Within(Struct, frozen=True):
    """A path in a filter, from `$` or from `@`."""

    path: Path
    from_root: bool

    def start(self, current: Value, search: Search) -> Value:
        """Return the value at which it starts."""
        return search.root if self.from_root else current

    def holds(self, value: Value, search: Search) -> bool:
        """Return whether it finds anything."""
        for _ in self.path.nodes(self.start(value, search), search):
            return True
        return False


class OneValue(Struct, frozen=True):
    """The value of a path that leads to at most one."""

    parts: Parts
    from_root: bool

    def value(self, current: Value, search: Search) -> Compared:
        """Return what stands there."""
        value = search.root if self.from_root else current
        search.visit(len(self.parts))
        for part in self.parts:
            if isinstance(part, str):
                if not isinstance(value, dict) or part not in value:
                    return NOTHING
                value = value[part]
            else:
                if not isinstance(value, list) or not -len(value) <= part < len(value):
                    return NOTHING
                value = value[part]
        return value


class Length(Struct, frozen=True):
    """`length()`: characters of a text, elements of an array, members of an object."""

    of: Comparable

    def value(self, current: Value, search: Search) -> Compared:
        """Return the number."""
        value = self.of.value(current, search)
        return len(value) if isinstance(value, str | list | dict) else NOTHING


class Count(Struct, frozen=True):
    """`count()`: how many nodes a path finds."""

    of: Within

    def value(self, current: Value, search: Search) -> Compared:
        """Return the number."""
        return sum(1 for _ in self.of.path.nodes(self.of.start(current, search), search))


class ValueOf(Struct, frozen=True):
    """`value()`: the value of the only node that a path finds."""

    of: Within

    def value(self, current: Value, search: Search) -> Compared:
        """Return the value, or nothing for several."""
        nodes = self.of.path.nodes(self.of.start(current, search), search)
        first = next(nodes, None)
        return NOTHING if first is None or next(nodes, None) is not None else first.value


class Matches(Struct, frozen=True):
    """`match()` and `search()`: RE2 answers, in linear time."""

    text: Comparable
    pattern: Comparable
    whole: bool

    def holds(self, value: Value, search: Search) -> bool:
        """Return whether the text matches as a whole, or holds a match."""
        text, pattern = self.text.value(value, search), self.pattern.value(value, search)
        if not isinstance(text, str) or not isinstance(pattern, str):
            return False
        try:
            pattern = _DOT.sub(lambda match: "[^\\n\\r]" if match[0] == "." else match[0], pattern)
            return matches(f"^(?:{pattern})$" if self.whole else pattern, text)
        except BadPattern:
            return False


_DOT = regex(r"\\.|\[(?:\\.|[^\]])*+\]?|\.")
"""A dot, which matches no end of a line (RFC 9485), or an escape or a class around one."""


class Compare(Struct, frozen=True):
    """Two values and one of `==`, `!=`, `<`, `<=`, `>`, `>=`."""

    left: Comparable
    operator: str
    right: Comparable

    def holds(self, value: Value, search: Search) -> bool:
        """Return what the comparison says."""
        left, right = self.left.value(value, search), self.right.value(value, search)
        if "=" in self.operator and _equal(left, right):
            return self.operator != "!="
        if self.operator[0] == "<":
            return _less(left, right)
        return _less(right, left) if self.operator[0] == ">" else self.operator == "!="


class Not(Struct, frozen=True):
    """`!`."""

    condition: Condition

    def holds(self, value: Value, search: Search) -> bool:
        """Return the contrary."""
        return not self.condition.holds(value, search)


class Both(Struct, frozen=True):
    """`&&` between conditions."""

    conditions: tuple[Condition, ...]

    def holds(self, value: Value, search: Search) -> bool:
        """Return whether all hold."""
        return all(condition.holds(value, search) for condition in self.conditions)


class Either(Struct, frozen=True):
    """`||` between conditions."""

    conditions: tuple[Condition, ...]

    def holds(self, value: Value, search: Search) -> bool:
        """Return whether one holds."""
        return any(condition.holds(value, search) for condition in self.conditions)


def _equal(left: Compared, right: Compared) -> bool:
    """Compare as JSON does: `true` is not 1, however deep it stands."""
    if isinstance(left, bool) or isinstance(right, bool):
        return left is right
    if isinstance(left, list) and isinstance(right, list):
        return len(left) == len(right) and all(map(_equal, left, right))
    if isinstance(left, dict) and isinstance(right, dict):
        return left.keys() == right.keys() and all(_equal(member, right[name]) for name, member in left.items())
    return left == right


def _less(left: Compared, right: Compared) -> bool:
    if isinstance(left, str) and isinstance(right, str):
        return left < right
    return _is_number(left) and _is_number(right) and left < right


def _is_number(value: Compared) -> TypeGuard[int | float]:
    return isinstance(value, int | float) and not isinstance(value, bool)
