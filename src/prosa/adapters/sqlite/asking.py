"""Queries in SQL that a person or an agent wrote (X10): they read the views of the index, and do nothing else.

In: one SELECT, and limits. Out: an `QueryAnswer`, or `QueryRefused` with what is wrong and where. The connection cannot
write; an authoriser denies everything but reading the views, so no other file, no setting and no extension is within
reach; time, rows and bytes are bounded.
"""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from threading import Thread

from prosa.adapters.sqlite.opening import held, read_only_uri
from prosa.adapters.sqlite.refusing import HINT, Denied, check_text, refusal, too_slow
from prosa.adapters.sqlite.schema import TABLES
from prosa.adapters.sqlite.views import FULL_TEXT, NAMES, make_views
from prosa.corpus.errors import QueryRefused
from prosa.corpus.sql import QueryAnswer, QueryLimits
from prosa.data import Value

MAX_BYTES = 64 * 1024 * 1024
"""Bytes of an answer, and of one value while it is computed."""

_STEPS = 10_000
"""Instructions of SQLite between two looks at the clock: some tenths of a millisecond."""

_GRACE = 1.0
"""Seconds that SQLite has to notice that the time is over, and that the thread has to start."""

_DENIED_FUNCTIONS = frozenset(("load_extension", "fts3_tokenizer", "readfile", "writefile", "edit"))
"""Functions that reach outside. Most builds do not have them; none may be called."""

_FOR_ALL = frozenset(("json_each", "json_tree"))
"""Tables that are functions of their arguments."""


def ask(path: Path, query: str, limits: QueryLimits | None = None) -> QueryAnswer:
    """The answer of the index at ``path``. Raises `QueryRefused`, and `sqlite3.DatabaseError` for a broken file.

    It is computed in a thread of its own: SQLite looks at the clock between two instructions, and one call of a
    function may take longer than a person waits.
    """
    limits = limits or QueryLimits()
    check_text(query)
    found: list[QueryAnswer | BaseException] = []
    thread = Thread(target=lambda: found.append(_asked(path, query, limits)), daemon=True)
    thread.start()
    thread.join(limits.seconds + _GRACE)
    if not found:
        raise too_slow(limits.seconds)
    if isinstance(found[0], BaseException):
        raise found[0]
    return found[0]


def _asked(path: Path, query: str, limits: QueryLimits) -> QueryAnswer | BaseException:
    try:
        with closing(_connection(path)) as connection:
            return _answer(connection, query, limits)
    except Exception as error:  # it is raised where somebody waits
        return error


def _connection(path: Path) -> sqlite3.Connection:
    """A connection that sees the views, and can do nothing but read."""
    with held(path, alone=False):
        connection = sqlite3.connect(read_only_uri(path), uri=True, isolation_level=None)
        make_views(connection)
    for table in (FULL_TEXT, *(f"{name}('[]')" for name in _FOR_ALL)):
        connection.execute(f"SELECT 1 FROM {table} LIMIT 0")  # noqa: S608 - names of ours; what they set up is done now
    for setting in ("query_only = ON", "trusted_schema = OFF", "cell_size_check = ON"):
        connection.execute(f"PRAGMA {setting}")
    connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, MAX_BYTES)
    connection.setlimit(sqlite3.SQLITE_LIMIT_ATTACHED, 0)
    return connection


def _answer(connection: sqlite3.Connection, query: str, limits: QueryLimits) -> QueryAnswer:
    denied: list[Denied] = []
    until = time.monotonic() + limits.seconds
    connection.set_progress_handler(lambda: time.monotonic() > until, _STEPS)
    connection.set_authorizer(_authoriser(denied))
    try:
        return _fetched(connection.execute(query), limits.rows)
    except (sqlite3.Error, sqlite3.Warning) as error:
        if time.monotonic() > until:
            raise too_slow(limits.seconds) from None
        connection.set_progress_handler(None, 0)
        raise refusal(error, query, denied[0] if denied else None, connection) from None


def _fetched(cursor: sqlite3.Cursor, most: int) -> QueryAnswer:
    if cursor.description is None:
        raise QueryRefused("the query asks nothing", hint=HINT)
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


def _authoriser(denied: list[Denied]) -> Callable[..., int]:
    """What a query may do. The first thing that it may not is noted."""

    def allows(action: int, first: str | None, second: str | None, place: str | None, view: str | None) -> int:
        if action in (sqlite3.SQLITE_SELECT, sqlite3.SQLITE_RECURSIVE):
            return sqlite3.SQLITE_OK
        if action == sqlite3.SQLITE_READ and _readable(first or "", second or "", place, view):
            return sqlite3.SQLITE_OK
        if action == sqlite3.SQLITE_FUNCTION and (second or "").lower() not in _DENIED_FUNCTIONS:
            return sqlite3.SQLITE_OK
        if action == sqlite3.SQLITE_PRAGMA and first == "data_version":
            return sqlite3.SQLITE_OK  # the full-text table asks it whether the index has changed
        denied.append(Denied(action, first or "", second or ""))
        return sqlite3.SQLITE_DENY

    return allows


def _readable(table: str, column: str, place: str | None, view: str | None) -> bool:
    """Views, what they read, and what the full-text table reads to answer. Rows may be counted wherever they are."""
    if view in NAMES:
        return table in TABLES
    named = (table in NAMES and place == "temp") or table in _FOR_ALL
    return named or not column or table == "section" or table.startswith(FULL_TEXT)
