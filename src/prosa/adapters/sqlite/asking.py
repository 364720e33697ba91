"""Queries in SQL from a user or an agent (X10): they only read the views of a store.

In: one SELECT, how to open the store, the readable parts, and limits. Out: a `QueryAnswer`, or `QueryRefused` with the
problem and its place. The connection cannot write; the authoriser of `guard` denies everything but reading the views;
time, rows and bytes are bounded.
"""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from threading import Thread

from prosa.adapters.sqlite.guard import FOR_ALL, guarded
from prosa.adapters.sqlite.opening import read_only_uri
from prosa.adapters.sqlite.refusing import check_text, hint_of, refusal, too_slow
from prosa.adapters.sqlite.views import CORPUS_VIEWS, make_views
from prosa.corpus.errors import QueryRefused
from prosa.corpus.sql import QueryAnswer, QueryLimits, Readable
from prosa.data import Value

MAX_BYTES = 64 * 1024 * 1024
"""Bytes of an answer, and of one value while it is computed."""

_STEPS = 10_000
"""Instructions of SQLite between two checks of the clock: some tenths of a millisecond."""

_GRACE = 1.0
"""Seconds that SQLite has to notice that the time is over, and that the thread has to start."""

Connect = Callable[[], sqlite3.Connection]
"""Opens a connection that has the views of a store, in the thread that asks."""


def ask(connect: Connect, readable: Readable, query: str, limits: QueryLimits | None = None) -> QueryAnswer:
    """Return the answer of a store. Raises `QueryRefused`, and `sqlite3.DatabaseError` for a broken file.

    It runs in a separate thread: SQLite checks the clock between two instructions, and one function call may take
    longer than the limit.
    """
    limits = limits or QueryLimits()
    check_text(query, readable)
    found: list[QueryAnswer | BaseException] = []
    thread = Thread(target=lambda: found.append(_asked(connect, readable, query, limits)), daemon=True)
    thread.start()
    thread.join(limits.seconds + _GRACE)
    if not found:
        raise too_slow(limits.seconds)
    if isinstance(found[0], BaseException):
        raise found[0]
    return found[0]


def ask_index(path: Path, query: str, limits: QueryLimits | None = None) -> QueryAnswer:
    """Return the answer of the index at ``path``, by its views. Raises the same."""
    return ask(lambda: _index(path), CORPUS_VIEWS, query, limits)


def _asked(connect: Connect, readable: Readable, query: str, limits: QueryLimits) -> QueryAnswer | BaseException:
    try:
        with closing(connect()) as connection:
            _bound(connection)
            return _answer(connection, readable, query, limits)
    except Exception as error:  # it is raised in the waiting thread
        return error


def _index(path: Path) -> sqlite3.Connection:
    """Return a connection to an index that has its views."""
    connection = sqlite3.connect(read_only_uri(path), uri=True, isolation_level=None)
    make_views(connection)
    return connection


def _bound(connection: sqlite3.Connection) -> None:
    """Let a connection do nothing but read, and no more than a part of the memory."""
    for table in (f"{name}('[]')" for name in FOR_ALL):
        connection.execute(f"SELECT 1 FROM {table} LIMIT 0")  # noqa: S608 - names of ours; what they set up is done now
    for setting in ("query_only = ON", "trusted_schema = OFF", "cell_size_check = ON"):
        connection.execute(f"PRAGMA {setting}")
    connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, MAX_BYTES)
    connection.setlimit(sqlite3.SQLITE_LIMIT_ATTACHED, 0)


def _answer(connection: sqlite3.Connection, readable: Readable, query: str, limits: QueryLimits) -> QueryAnswer:
    if readable.full_text:
        connection.execute(f"SELECT 1 FROM {readable.full_text} LIMIT 0")  # noqa: S608 - what it sets up is done now
    until = time.monotonic() + limits.seconds
    connection.set_progress_handler(lambda: time.monotonic() > until, _STEPS)
    with guarded(connection, readable) as denied:
        try:
            return _fetched(connection.execute(query), limits.rows, readable)
        except (sqlite3.Error, sqlite3.Warning) as error:
            if time.monotonic() > until:
                raise too_slow(limits.seconds) from None
            connection.set_progress_handler(None, 0)
            raise refusal(error, query, denied[0] if denied else None, connection, readable) from None


def _fetched(cursor: sqlite3.Cursor, most: int, readable: Readable) -> QueryAnswer:
    if cursor.description is None:
        raise QueryRefused("the query asks nothing", hint=hint_of(readable))
    columns = tuple(each[0] for each in cursor.description)
    rows: list[tuple[Value, ...]] = []
    size = 0
    for row in cursor:
        if len(rows) == most:
            return QueryAnswer(columns, tuple(rows), more=True)
        size += sum(len(value) if isinstance(value, str | bytes) else 8 for value in row)
        if size > MAX_BYTES:
            raise QueryRefused(f"the answer is larger than {MAX_BYTES // 2**20} MB", hint="ask for less of it")
        rows.append(row)
    return QueryAnswer(columns, tuple(rows))
