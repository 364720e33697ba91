"""Values of which some fields are not shown, or not compared. In: a `Struct` that names them. Out: repr, equality.

Every value is a `msgspec.Struct`, which shows and compares all of its fields. These two stand before `Struct` among the
bases of the few that hold a secret, too much to read, or what does not make two values differ.
"""

from __future__ import annotations

from typing import ClassVar


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
