"""Variables in scope, innermost last. In: names and values. Out: the innermost value of a name.

Every operation takes constant time, so even a template with a hundred thousand variables takes linear time.
"""

from __future__ import annotations

from typing import Generic, TypeVar

Value = TypeVar("Value")


class Scope(Generic[Value]):
    """Variables with the name they have in the template, ``$`` included. A new scope holds only ``$``."""

    __slots__ = ("_order", "_values")

    def __init__(self, root: Value) -> None:
        self._order = ["$"]
        self._values: dict[str, list[Value]] = {"$": [root]}

    def __contains__(self, name: str) -> bool:
        return bool(self._values.get(name))

    def mark(self) -> int:
        """Return where the scope stands now, for `leave`."""
        return len(self._order)

    def leave(self, mark: int) -> None:
        """Forget the variables declared since ``mark``."""
        while len(self._order) > mark:
            self._values[self._order.pop()].pop()

    def declare(self, name: str, value: Value) -> None:
        """Declare a new variable, which hides others of this name."""
        self._order.append(name)
        self._values.setdefault(name, []).append(value)

    def get(self, name: str) -> Value:
        """Return the innermost variable of this name, which must be in scope."""
        return self._values[name][-1]

    def assign(self, name: str, value: Value) -> None:
        """Return the innermost variable of this name, which must be in scope, another value."""
        self._values[name][-1] = value
