"""The port to the database that a store is in, with what the two that there are do not have in common (X25, X29).

In: statements with `?` for their values, the same for SQLite and PostgreSQL: no functions of one of them, no rowid,
times as texts that sort. Out: rows. Whoever writes is in a transaction already, and never ends it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, ClassVar, Protocol, TypeAlias

Row: TypeAlias = Any
"""A row has the columns that its statement names."""


class ResultRows(Protocol):
    """What a statement gave."""

    @property
    def rowcount(self) -> int:
        """How many rows it changed."""
        ...

    def fetchone(self) -> Row:
        """The next row, None where there is no further one."""
        ...

    def fetchall(self) -> list[Row]:
        """All rows that are left."""
        ...

    def __iter__(self) -> Iterator[Row]:
        """The rows one by one."""
        ...


class Database(Protocol):
    """A connection to the database of a store."""

    begins: ClassVar[str]
    """The statement that begins a transaction which may write."""

    shared: ClassVar[str]
    """What a SELECT ends with whose rows are to stay as they are until the transaction ends. A transaction that writes
    SQLite is alone, and needs nothing."""

    locked: ClassVar[str]
    """What a SELECT ends with whose rows nobody else may lock until the transaction ends."""

    def execute(self, text: str, values: Sequence[Any] = (), /) -> ResultRows:
        """Does one statement."""
        ...

    def executemany(self, text: str, values: Sequence[Sequence[Any]], /) -> ResultRows:
        """Does one statement for each of many rows of values."""
        ...

    def size(self) -> int | None:
        """Bytes of what the store holds, without what is free again; None where it is not the store's to bound."""
        ...

    def shrink(self) -> None:
        """Gives back to the file system what is free, a part of it at a time."""
        ...

    def close(self) -> None:
        """Ends the connection."""
        ...
