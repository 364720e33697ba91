"""Values of which some fields are not shown, or not compared, and what is made of one at the first question.

In: a `Struct` that names the fields. Out: repr, equality.

Every value is a `msgspec.Struct`, which shows and compares all of its fields. These two stand before `Struct` among the
bases of the few that hold a secret, too much to read, or what does not make two values differ.
"""

# Without postponed annotations: a decoder of values with these bases compiles each of those when it is made.

from collections.abc import Callable
from typing import ClassVar, Generic, TypeVar, cast

T = TypeVar("T")
V = TypeVar("V")


class PartlyShown:
    """The fields ``unshown`` are not in the repr."""

    __slots__ = ()
    __struct_fields__: ClassVar[tuple[str, ...]]
    unshown: ClassVar[frozenset[str]]

    def __repr__(self) -> str:
        shown = (name for name in self.__struct_fields__ if name not in self.unshown)
        return f"{type(self).__qualname__}({', '.join(f'{name}={getattr(self, name)!r}' for name in shown)})"


class PartlyCompared:
    """The fields ``uncompared`` make no difference to ``==`` and to the hash."""

    __slots__ = ()
    __struct_fields__: ClassVar[tuple[str, ...]]
    uncompared: ClassVar[frozenset[str]]

    def __eq__(self, other: object) -> bool:
        if type(other) is not type(self):
            return NotImplemented
        return _compared(self) == _compared(other)

    def __ne__(self, other: object) -> bool:
        return not self == other  # without this a Struct answers, by all fields

    def __hash__(self) -> int:
        return hash(_compared(self))


def _compared(value: PartlyCompared) -> tuple[object, ...]:
    return tuple(getattr(value, name) for name in value.__struct_fields__ if name not in value.uncompared)


class kept(Generic[T]):  # noqa: N801 - a decorator
    """A property that is made once for each value, which needs a ``__dict__``. `functools.cached_property` takes a lock
    before Python 3.12, which costs more than most of what is made; without one, two threads may both make it."""

    def __init__(self, make: Callable[..., T]) -> None:
        self.make = make
        self.name = make.__name__
        self.__doc__ = make.__doc__

    def __get__(self, value: V | None, _: type[V] | None = None) -> T:
        """Return what is made of a value. Python finds it there the next time, and does not ask here."""
        if value is None:
            return cast("T", self)
        made = value.__dict__[self.name] = self.make(value)
        return made
