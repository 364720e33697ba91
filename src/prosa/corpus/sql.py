"""What a query in SQL may read and return (X10). A store answers it; these are the values on both sides."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import count

from msgspec import Struct

from prosa.data import Value

MAX_SECONDS = 10.0
"""Default time limit of a query."""

MAX_ROWS = 1_000
"""Default number of rows in an answer: more do not fit a screen or a prompt."""


class View(Struct, frozen=True):
    """A view: its columns in order, each with a description, and the statement that defines it."""

    name: str
    meaning: str
    columns: tuple[tuple[str, str], ...]
    select: str


class Readable(Struct, frozen=True):
    """What a statement may read of a store, and nothing else of it.

    ``views`` are visible to SQL, created for one connection; ``tables`` are behind them and only readable through a
    view; ``direct`` are tables that a statement may read itself. ``full_text`` is a full-text table beside the views,
    empty if there is none; ``help`` says where the columns are described.
    """

    views: tuple[View, ...] = ()
    tables: frozenset[str] = frozenset()
    direct: frozenset[str] = frozenset()
    full_text: str = ""
    help: str = ""

    @property
    def names(self) -> tuple[str, ...]:
        """What can be named, in the order of the documentation."""
        return (*(view.name for view in self.views), *((self.full_text,) if self.full_text else ()))

    def allows(self, table: str, column: str, place: str, view: str) -> bool:
        """Return whether a statement may read a column of a table in a schema (``place``), through a ``view`` if there
        is one. Rows may always be counted."""
        own = {other.name for other in self.views}
        if view in own:
            return table in self.tables
        if not column or table in self.direct or (table in own and place == "temp"):
            return True
        return bool(self.full_text) and table.startswith(self.full_text)


class QueryLimits(Struct, frozen=True):
    """Bounds of one query."""

    seconds: float = MAX_SECONDS
    rows: int = MAX_ROWS


class QueryAnswer(Struct, frozen=True):
    """The columns, whose names differ, and the rows of an answer; ``more`` is true if there are further rows."""

    columns: tuple[str, ...]
    rows: tuple[tuple[Value, ...], ...]
    more: bool = False


def distinct_names(columns: Iterable[str]) -> tuple[str, ...]:
    """Return the names of columns; the second one of a name is called `NAME_2`, and so on."""
    names: dict[str, Iterator[int]] = {}  # each with the numbers that have not been tried for it
    for name in columns:
        if name in names:
            name = next(candidate for number in names[name] if (candidate := f"{name}_{number}") not in names)
        names[name] = count(2)
    return tuple(names)
