"""The only authoriser of statements with untrusted parts: a query in SQL, a condition of `--where` (X10).

In: a connection and its readable parts. Out: the same connection, restricted to reading those: no other file, setting
or extension is accessible, and nothing is written, whatever the statement.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import NamedTuple

from prosa.corpus.sql import Readable

_DENIED_FUNCTIONS = frozenset(("load_extension", "fts3_tokenizer", "readfile", "writefile", "edit"))
"""Functions that reach outside. Most builds do not have them; none may be called."""

_VIRTUAL = "SELECT name FROM sqlite_master WHERE sql LIKE 'CREATE VIRTUAL TABLE%'"

FOR_ALL = frozenset(("json_each", "json_tree"))
"""Tables that are functions of their arguments."""


class Denied(NamedTuple):
    """What an authoriser was asked: the number of an action and its first two arguments."""

    action: int
    first: str
    second: str


@contextmanager
def guarded(connection: sqlite3.Connection, readable: Readable) -> Iterator[list[Denied]]:
    """Restrict statements prepared here to permitted reads. Return the denied ones, in order: the list fills as
    they run."""
    denied: list[Denied] = []

    def authorise(action: int, first: str | None, second: str | None, place: str | None, view: str | None) -> int:
        if _allows(readable, action, first or "", second or "", place or "", view or ""):
            return sqlite3.SQLITE_OK
        denied.append(Denied(action, first or "", second or ""))
        return sqlite3.SQLITE_DENY

    _connect_virtual_tables(connection)
    connection.set_authorizer(authorise)
    try:
        yield denied
    finally:
        connection.set_authorizer(None)


def _connect_virtual_tables(connection: sqlite3.Connection) -> None:
    """Have SQLite make its full-text tables ready, which it does at their first use and after every change of the
    schema, by statements of its own that no reader may send."""
    for (name,) in connection.execute(_VIRTUAL).fetchall():
        connection.execute(f'SELECT 1 FROM "{name}" LIMIT 0').close()  # noqa: S608 - a name of our own schema


def select(
    connection: sqlite3.Connection, readable: Readable, statement: str, values: Sequence[str | float] = ()
) -> sqlite3.Cursor:
    """Return the rows of one restricted statement. Other code may keep writing on the same connection. Raises
    `sqlite3.Error`."""
    with guarded(connection, readable):
        return connection.execute(statement, bindable(*values))


def bindable(*values: str | float) -> tuple[str | float, ...]:
    """Return values as SQLite takes them: half of a surrogate pair, as in a file name that is not UTF-8, becomes
    `?`."""
    return tuple(value.encode("utf-8", "replace").decode() if isinstance(value, str) else value for value in values)


def _allows(readable: Readable, action: int, first: str, second: str, place: str, view: str) -> bool:
    if action in (sqlite3.SQLITE_SELECT, sqlite3.SQLITE_RECURSIVE):
        return True
    if action == sqlite3.SQLITE_READ:
        return first in FOR_ALL or readable.allows(first, second, place, view)
    if action == sqlite3.SQLITE_FUNCTION:
        return second.lower() not in _DENIED_FUNCTIONS
    return action == sqlite3.SQLITE_PRAGMA and first == "data_version"  # the full-text table asks for changes so
