"""What a template computes with: plain data, one value for a name that is absent (X12, X13), and variables in scope.

Plain data is None (an explicit null), bool, int, float, str, list and dict with string keys. Nothing here prints.
"""

from __future__ import annotations

from typing import Final, Generic, TypeAlias, TypeVar, final

from prosa.data import Value


@final
class Absent:
    """The class of `ABSENT`: no value at all."""

    __slots__ = ()

    def __repr__(self) -> str:
        return "ABSENT"


ABSENT: Final = Absent()
"""A name that is not there (X13): it prints nothing and is false. An explicit null is None."""

TemplateValue: TypeAlias = "Value | Absent"
"""What an expression of a template is worth."""


def truth(value: TemplateValue) -> bool:
    """Return whether ``if`` takes the first branch: false, 0, null, absent, and the empty string, list and map are
    false."""
    return value is not ABSENT and bool(value)


def go_type(value: TemplateValue) -> str:
    """Return the Go type that ``%T`` and the error texts of ``printf`` name; null and absent are ``<nil>``."""
    for kind, name in _GO_TYPES:
        if isinstance(value, kind):
            return name
    return "<nil>"


def described(value: TemplateValue) -> str:
    """Return the kind of a value in words for a message, with its article: ``a list``, ``an integer``, ``null``."""
    if value is None:
        return "null"
    if isinstance(value, Absent):
        return "an absent value"
    for kind, name in _WORDS:
        if isinstance(value, kind):
            return name
    return f"a Python {type(value).__name__}"


# A Python bool is an int, so it is tested first.
_GO_TYPES: Final[tuple[tuple[type, str], ...]] = (
    (bool, "bool"),
    (int, "int"),
    (float, "float64"),
    (str, "string"),
    (list, "[]interface {}"),
    (dict, "map[string]interface {}"),
)

_WORDS: Final[tuple[tuple[type, str], ...]] = (
    (bool, "a boolean"),
    (int, "an integer"),
    (float, "a number with a fraction"),
    (str, "a string"),
    (list, "a list"),
    (dict, "a map"),
)


T = TypeVar("T")


class Scope(Generic[T]):
    """Variables with the name they have in the template, ``$`` included. A new scope holds only ``$``."""

    __slots__ = ("_order", "_values")

    def __init__(self, root: T) -> None:
        self._order = ["$"]
        self._values: dict[str, list[T]] = {"$": [root]}

    def __contains__(self, name: str) -> bool:
        return bool(self._values.get(name))

    def mark(self) -> int:
        """Return where the scope stands now, for `leave`."""
        return len(self._order)

    def leave(self, mark: int) -> None:
        """Forget the variables declared since ``mark``."""
        while len(self._order) > mark:
            self._values[self._order.pop()].pop()

    def declare(self, name: str, value: T) -> None:
        """Declare a new variable, which hides others of this name."""
        self._order.append(name)
        self._values.setdefault(name, []).append(value)

    def get(self, name: str) -> T:
        """Return the innermost variable of this name, which must be in scope."""
        return self._values[name][-1]

    def assign(self, name: str, value: T) -> None:
        """Return the innermost variable of this name, which must be in scope, another value."""
        self._values[name][-1] = value
