"""Queries in SQL from a user or an agent (X10): they only read the views of a store.

The connection cannot write; the authoriser of `guard` denies everything but reading the views; time, rows and bytes are
bounded. A `QueryRefused` has the problem, its place, and what is allowed.
"""

from __future__ import annotations

import re
import sqlite3
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from threading import Thread

from prosa.adapters.sqlite.guard import FOR_ALL, Denied, guarded
from prosa.adapters.sqlite.opening import read_only_uri
from prosa.adapters.sqlite.views import CORPUS_VIEWS, make_views
from prosa.corpus.errors import QueryRefused
from prosa.corpus.sql import QueryAnswer, QueryLimits, Readable, distinct_names
from prosa.data import Value
from prosa.diagnostics.nearest import nearest
from prosa.regex import regex
from prosa.source import LineIndex

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
    outcomes: list[QueryAnswer | BaseException] = []
    thread = Thread(target=lambda: outcomes.append(_asked(connect, readable, query, limits)), daemon=True)
    thread.start()
    thread.join(limits.seconds + _GRACE)
    if not outcomes:
        raise too_slow(limits.seconds)
    if isinstance(outcomes[0], BaseException):
        raise outcomes[0]
    return outcomes[0]


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
        raise QueryRefused("the query is empty", hint=hint_of(readable))
    columns = distinct_names(column[0] for column in cursor.description)
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


MAX_QUERY = 100_000
"""Characters of a query."""

MAX_EXCERPT = 100
"""Characters of a line that is shown."""

_NEAR = regex(r'near "(.*)": syntax error', re.DOTALL)
_MISSING = regex(r"no such (table|column|function): (.+)", re.DOTALL)

_READS = "a query only reads"

_WORDS: dict[int, str] = {
    sqlite3.SQLITE_ATTACH: "ATTACH would open another file",
    sqlite3.SQLITE_DETACH: "DETACH is not allowed",
    sqlite3.SQLITE_PRAGMA: "PRAGMA is not allowed",
    sqlite3.SQLITE_TRANSACTION: "a query needs no transaction",
    sqlite3.SQLITE_SAVEPOINT: "a query needs no transaction",
}
"""The denied actions; everything else would write."""


def hint_of(readable: Readable) -> str:
    """Return the hint about allowed queries."""
    columns = f"\ntheir columns: {readable.help}" if readable.help else ""
    return f"a query is one SELECT over {', '.join(readable.names)}{columns}"


def check_text(query: str, readable: Readable) -> None:
    """Raise `QueryRefused` for a text that is no query at all."""
    hint = hint_of(readable)
    if not query.strip():
        raise QueryRefused("the query is empty", hint=hint)
    if len(query) > MAX_QUERY:
        raise QueryRefused(f"the query has more than {MAX_QUERY:,} characters", hint=hint)
    if "\0" in query or any("\ud800" <= char <= "\udfff" for char in query):
        raise QueryRefused("the query holds characters that are not text", hint=hint)


def too_slow(seconds: float) -> QueryRefused:
    """Return the words for a query that took too long."""
    return QueryRefused(f"the query took longer than {seconds:g} s", hint="ask for less, or give it time: --timeout")


def refusal(
    error: sqlite3.Error | sqlite3.Warning,
    query: str,
    denied: Denied | None,
    connection: sqlite3.Connection,
    readable: Readable,
) -> Exception:
    """Return the refusal for an error of SQLite; the error itself if the file is broken."""
    text, hint = str(error), hint_of(readable)
    if getattr(error, "sqlite_errorname", "").startswith(("SQLITE_CORRUPT", "SQLITE_NOTADB", "SQLITE_IOERR")):
        return error
    if denied is not None:
        return _denied(denied, readable)
    if match := _NEAR.fullmatch(text):
        return _at(query, _place(query, match[1], connection), f"the query is wrong near `{match[1]}`", hint)
    if match := _MISSING.fullmatch(text):
        return _missing(match[1], match[2], query, readable)
    return QueryRefused(_plain(text), hint=hint)


def _plain(text: str) -> str:
    if text == "incomplete input":
        return "the query ends too early"
    if text.startswith("You can only execute one statement"):
        return "there is more than one statement"
    if "bindings supplied" in text:
        return "`?` and names with `:`, `@` or `$` stand for values that are not given: write the values"
    if text.startswith("cannot modify"):
        return _READS
    if text == "string or blob too big":
        return "a value is too large"
    return f"the query cannot be answered: {text}"


def _denied(denied: Denied, readable: Readable) -> QueryRefused:
    if denied.action == sqlite3.SQLITE_READ:
        return _missing("table", denied.first, "", readable)
    if denied.action == sqlite3.SQLITE_FUNCTION:
        return QueryRefused(f"the function {denied.second} is not allowed: {_READS}", hint=hint_of(readable))
    return QueryRefused(_WORDS.get(denied.action, _READS), hint=hint_of(readable))


def _missing(what: str, name: str, query: str, readable: Readable) -> QueryRefused:
    """Return an unknown name, with the nearest one."""
    if name.startswith("sqlite_"):
        return QueryRefused("a query reads the views, not what they are made of", hint=hint_of(readable))
    near: str | None = None
    last = name.rpartition(".")[2]
    if what == "table":
        near = nearest(last, readable.names)
    elif what == "column":
        asked = [view for view in readable.views if view.name in query.lower()] or list(readable.views)
        columns = list(dict.fromkeys(column for view in asked for column, _ in view.columns))
        near = nearest(last, columns)
        if near is None and len(asked) == 1:
            hint = f"{asked[0].name} has {', '.join(columns)}"
            return _at(query, _found(query, name), f"there is no column `{name}`", hint)
    hint = f"did you mean {near}?" if near else hint_of(readable)
    return _at(query, _found(query, name), f"there is no {what} `{name}`", hint)


def _found(query: str, name: str) -> int:
    """Return where a name first occurs as a word."""
    match = re.search(rf"(?<!\w){re.escape(name)}(?!\w)", query)
    return match.start() if match else -1


def _place(query: str, token: str, connection: sqlite3.Connection) -> int:
    """Return where a token stands that SQLite stumbled over: the first place at which it stumbles when nothing
    follows."""
    at = query.find(token)
    while at >= 0:
        try:
            connection.execute(f"EXPLAIN {query[: at + len(token)]}")
        except (sqlite3.Error, sqlite3.Warning) as error:
            if _NEAR.fullmatch(str(error)):
                return at
        at = query.find(token, at + 1)
    return -1


def _at(query: str, offset: int, message: str, hint: str) -> QueryRefused:
    """Return the message with its place and line."""
    if offset < 0:
        return QueryRefused(message, hint=hint)
    lines = LineIndex(query)
    line, column = lines.position(offset)
    start = max(0, column - 1 - MAX_EXCERPT // 2)
    shown = lines.line_text(line)[start : start + MAX_EXCERPT]
    excerpt = f"{shown}\n{' ' * (column - 1 - start)}^"
    return QueryRefused(f"line {line}, column {column}: {message}", hint=f"{excerpt}\n{hint}")
