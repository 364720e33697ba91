"""The port to the database that a store is in, with what the two that there are do not have in common (X25, X29).

In: statements with `?` for their values, the same for SQLite and PostgreSQL: no functions of one of them, no rowid,
times as texts that sort. Out: rows. A writer is already in a transaction, and never ends it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cache, partial, wraps
from typing import TYPE_CHECKING, Any, ClassVar, Concatenate, ParamSpec, Protocol, TypeAlias, TypeVar

from msgspec import Struct

if TYPE_CHECKING:
    from prosa.records.run import StoreServer
    from prosa.runtime.errors import RunError, StoreProblem

T = TypeVar("T")
P = ParamSpec("P")

Row: TypeAlias = Any
"""A row has the columns that its statement names."""


SHARED, GIVEN, BESIDE = "<shared>", "<given>", "<beside>"
"""What databases put differently into a `Statement`: the rows found stay as they are until the transaction ends; where
a FROM names the rows of values, if they are many; the same in front of another table."""


class Statement(Struct, frozen=True, eq=False):
    """A statement that is done for one row of values or for many. ``columns`` name the kinds of its values; those of
    one run are done in the order of their ``rank``."""

    text: str
    columns: tuple[str, ...]
    rank: int = 0

    def single(self, shared: str) -> str:
        """Return the text for one row of values."""
        return _single(self.text, shared)


@cache
def _single(text: str, shared: str) -> str:
    return text.replace(GIVEN, "").replace(BESIDE, "").replace(SHARED, shared)


class Change(Struct, frozen=True):
    """A statement with its values. ``otherwise`` says what it means that it neither changes nor finds a row."""

    statement: Statement
    values: Sequence[Any]
    otherwise: Callable[[Database], RunError] | None = None


class Changes(Struct, frozen=True):
    """A piece of work for a writer that is known before it is done: those of many runs are done together. ``fence`` is
    done first."""

    run: str
    changes: Callable[[], Sequence[Change]]
    fence: Callable[[Database], None] | None = None

    def __call__(self, connection: Database) -> None:
        """Do the work alone."""
        if self.fence is not None:
            self.fence(connection)
        for change in self.changes():
            otherwise = None if change.otherwise is None else partial(change.otherwise, connection)
            connection.change(change.statement.single(connection.shared), change.values, otherwise)


class ResultRows(Protocol):
    """What a statement gave."""

    @property
    def rowcount(self) -> int:
        """How many rows it changed."""
        ...

    def fetchone(self) -> Row:
        """Return the next row, None where there is no further one."""
        ...

    def fetchall(self) -> list[Row]:
        """Return all rows that are left."""
        ...

    def __iter__(self) -> Iterator[Row]:
        """Return the rows one by one."""
        ...


class Database(Protocol):
    """A connection to the database of a store."""

    away: bool
    """Whether the database is lost, and waited for."""

    shared: ClassVar[str]
    """What a SELECT ends with whose rows are to stay as they are until the transaction ends. A transaction that writes
    SQLite is alone, and needs nothing."""

    locked: ClassVar[str]
    """The suffix of a SELECT that locks its rows until the transaction ends."""

    def execute(self, text: str, values: Sequence[Any] = (), /) -> ResultRows:
        """Do one statement."""
        ...

    def change(self, text: str, values: Sequence[Any], otherwise: Callable[[], RunError] | None = None, /) -> None:
        """Do one statement whose result is not asked for. Raises what ``otherwise`` gives where it neither changes nor
        finds a row."""
        ...

    def change_all(self, statement: Statement, rows: Sequence[Sequence[Any]], /) -> int:
        """Do a statement for many rows of values, and return how many rows it changed."""
        ...

    def executemany(self, text: str, values: Sequence[Sequence[Any]], /) -> ResultRows:
        """Do one statement for each of many rows of values."""
        ...

    def stream(self, text: str, values: Sequence[Any] = (), /) -> Iterator[Row]:
        """Return the rows of one SELECT, of which only some are in memory at a time."""
        ...

    def transact(self, work: Callable[[], T]) -> T:
        """Do ``work`` in one transaction that may write; once more where it could not be committed for a reason that
        passes. Raises what ``work`` raises, and what the database does."""
        ...

    def hold(self, name: str) -> None:
        """Show other processes, as long as the connection lives, that the one of this name does, where the database
        can."""
        ...

    def mark(self) -> str:
        """Return a text that is another one once other processes have changed something."""
        ...

    def size(self) -> int | None:
        """Return bytes of what the store holds, without what is free again; None where it is not the store's to
        bound."""
        ...

    def shrink(self) -> None:
        """Give back to the file system what is free, a part of it at a time."""
        ...

    def close(self) -> None:
        """End the connection."""
        ...


class ServerAdapter(Protocol):
    """What a module for servers does."""

    def open_server(self, server: StoreServer, /) -> Database:
        """Return a connection that may write. Raises `StoreProblem`."""
        ...

    def open_server_reader(self, server: StoreServer, /) -> Database | None:
        """Return a connection that only reads; None where there is no store yet. Raises `StoreProblem`."""
        ...

    def problem_of(self, error: Exception, server: StoreServer, /) -> StoreProblem | None:
        """Return what the server said, in words; None for an error of something else."""
        ...

    def living_names(self, server: StoreServer, /) -> Callable[[str], bool]:
        """Return whether a process of that name writes the store now. Raises `StoreProblem`."""
        ...


def deferred(do: Callable[Concatenate[Database, P], T]) -> Callable[P, Callable[[Database], T]]:
    """Return a function that takes its values now, and the connection when a writer does the work."""

    @wraps(do)
    def later(*values: P.args, **named: P.kwargs) -> Callable[[Database], T]:
        return lambda connection: do(connection, *values, **named)

    return later
