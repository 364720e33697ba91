"""A store on PostgreSQL, in a schema of its own: opened, made, migrated; statements sent as it takes them (X25, X29).

In: the address of a database, without a password. Out: a connection that meets `Database`, or `StoreProblem` that says
what is wrong and what to do. A connection that is lost is made anew, for a while, and the transaction that was under
way is done again unless the server says that it was committed: nothing is written twice, nothing is lost.
"""

from __future__ import annotations

import os
import re
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import cache
from itertools import count
from math import isfinite
from typing import Any, ClassVar, LiteralString, TypeVar
from zlib import crc32

import msgspec
import psycopg
from psycopg import errors
from psycopg.adapt import Loader

from prosa.adapters.store import schema
from prosa.adapters.store.database import BESIDE, GIVEN, SHARED, Statement
from prosa.data import Value
from prosa.records.run import StoreServer
from prosa.runtime.errors import RunError, StoreProblem

T = TypeVar("T")

SCHEMA = "prosa"
"""The schema of the database that holds the tables."""

LOCKS = 0x50525253
"""Marks the advisory locks of stores among those of other programs."""

OLDEST = 130000
"""PostgreSQL 13 tells what became of a transaction."""

PATIENCE = 60.0
"""Seconds that a lost server is waited for."""

IDLE_SECONDS = 8
"""After so long in the middle of a transaction a process is frozen: the server ends its connection, so that what it has
locked is free."""

_BY_INDEX = "SELECT set_config(name, 'off', false) FROM unnest(ARRAY['enable_hashjoin', 'enable_mergejoin']) AS name"
"""A plan that is kept from when the tables were empty would read all of them for each statement."""

_PAUSES = 0.05, 1.0
_CONFLICTS = 20
"""Maximum retries of a transaction that conflicts with another one."""

_NUMBERED = " RETURNING pg_current_xact_id()::text"
"""Gives the number of the transaction with what it changes, without asking for it."""

_STREAMED = 500
_LARGEST = 1024 * 1024
"""Bytes of the rows that one statement takes."""

_TYPES = {"TEXT": 'TEXT COLLATE "C"', "INTEGER": "BIGINT", "REAL": "DOUBLE PRECISION"}
_CONNECTING: dict[str, str | int] = {
    "connect_timeout": 10,
    "fallback_application_name": "prosa",
    "keepalives_idle": 10,
    "keepalives_interval": 5,
    "keepalives_count": 3,
    "tcp_user_timeout": 15_000,
}
"""What the address of a server does not say: a machine that is gone is noticed in half a minute."""


class PostgresDatabase:
    """Meets `Database` with a server. ``token`` names the process that writes; ``away`` says that the server is lost
    and waited for."""

    shared: ClassVar[str] = " FOR SHARE"
    locked: ClassVar[str] = " FOR UPDATE"

    def __init__(self, server: StoreServer, *, reads: bool = False) -> None:
        self.server = server
        self.away = False
        self._reads = reads
        self._token = ""
        self._number = ""
        self._fences: set[tuple[Any, ...]] = set()
        self._connection = _connected(server, reads=reads)

    @property
    def connection(self) -> psycopg.Connection[tuple[Any, ...]]:
        """The connection as it is now; another one after the server was lost."""
        return self._connection

    def execute(self, text: str, values: Sequence[Any] = (), /) -> psycopg.Cursor[tuple[Any, ...]]:
        """Do one statement."""
        self._fences.clear()
        return self._sent(text, values)

    def change(self, text: str, values: Sequence[Any], otherwise: Callable[[], RunError] | None = None, /) -> None:
        """Do one statement that changes or finds a row; a fence once, which holds until the transaction ends."""
        fence = (text, *values) if text.endswith(self.shared) else None
        if fence is not None and fence in self._fences:
            return
        done = self._sent(text if fence is not None else f"{text}{_NUMBERED}", values)
        if not done.rowcount and otherwise is not None:
            raise otherwise()
        if fence is not None:
            self._fences.add(fence)
        else:
            self._note_number(done)

    def _sent(self, text: str, values: Sequence[Any]) -> psycopg.Cursor[tuple[Any, ...]]:
        return self._connection.execute(_sent(text), [_value(value) for value in values])

    def change_all(self, statement: Statement, rows: Sequence[Sequence[Any]], /) -> int:
        """Do a statement for many rows of values, which are one text: a hundred arrays would cost more than the
        statements that they save."""
        if len(rows) == 1:
            done = self._sent(f"{statement.single(self.shared)}{_NUMBERED}", rows[0])
            self._note_number(done)
            return done.rowcount
        changed = 0
        for some in _as_json(rows):
            done = self._connection.execute(_many(statement), (some,))
            self._note_number(done)
            changed += done.rowcount
        return changed

    def _note_number(self, done: psycopg.Cursor[tuple[Any, ...]]) -> None:
        if (row := done.fetchone()) is not None:
            self._number = str(row[0])

    def executemany(self, text: str, values: Sequence[Sequence[Any]], /) -> psycopg.Cursor[tuple[Any, ...]]:
        """Do one statement for each of many rows of values."""
        cursor = self._connection.cursor()
        cursor.executemany(_sent(text), [[_value(value) for value in row] for row in values])
        return cursor

    def stream(self, text: str, values: Sequence[Any] = (), /) -> Iterator[tuple[Any, ...]]:
        """Yield the rows of one SELECT, some at a time."""
        name = f"prosa_{os.urandom(4).hex()}"
        with self._connection.transaction(), self._connection.cursor(name) as cursor:
            cursor.itersize = _STREAMED
            yield from cursor.execute(_sent(text), [_value(value) for value in values])

    def transact(self, work: Callable[[], T]) -> T:
        """Do ``work`` in one transaction. Where the server is lost meanwhile it is waited for, and the work is done
        again if it was not committed; so it is where two transactions stood in each other's way."""
        for _ in range(_CONFLICTS):
            committing = ""
            self._fences.clear()
            self._number = ""
            try:
                self._connection.execute("BEGIN")
                result = work()
                committing = self._number or self._assigned()
                self._connection.execute("COMMIT")
                return result
            except (errors.DeadlockDetected, errors.SerializationFailure):
                self._roll_back()
            except psycopg.Error as error:
                self._reconnect(error)
                if committing and self._was_committed(committing):
                    return result
            except BaseException:
                self._roll_back()
                raise
        raise StoreProblem(f"the store {self.server} is asked for the same rows by too many at once", hint="try again")

    def hold(self, token: str) -> None:
        """Show other processes that this one is alive, as long as the connection lives."""
        self._token = token
        self.execute("SELECT pg_advisory_lock(?, ?)", (LOCKS, _lock_number(token)))

    def mark(self) -> str:
        """Return the snapshot of the transactions that are over, which any that writes changes."""
        row = self.execute("SELECT pg_current_snapshot()::text").fetchone()
        return str(row[0]) if row else ""

    def size(self) -> None:
        """Return None: the size of a server is up to its administrator."""

    def shrink(self) -> None:
        """Do nothing: the server reclaims space by itself."""

    def close(self) -> None:
        """Close the connection. Locks are released first, because the server may notice the end late."""
        if self._token:
            with suppress(psycopg.Error):
                self._connection.execute("SELECT pg_advisory_unlock_all()")
        self._connection.close()

    def _assigned(self) -> str:
        """Return the number of the transaction that is under way, empty where it has written nothing."""
        row = self._connection.execute("SELECT pg_current_xact_id_if_assigned()::text").fetchone()
        return (row[0] or "") if row else ""

    def _was_committed(self, number: str) -> bool:
        while True:
            row = self._connection.execute("SELECT pg_xact_status(%s::xid8)", (number,)).fetchone()
            if row is None or row[0] != "in progress":
                return row is not None and row[0] == "committed"
            time.sleep(_PAUSES[0])

    def _roll_back(self) -> None:
        with suppress(psycopg.Error):
            self._connection.execute("ROLLBACK")

    def _reconnect(self, error: psycopg.Error) -> None:
        """Wait for a server that is lost. Raises ``error`` where it is not, `StoreProblem` where it stays away."""
        if not self._connection.closed and not isinstance(error, ENDINGS):
            self._roll_back()
            raise error
        self._connection.close()
        self.away = True
        pause, end = _PAUSES[0], time.monotonic() + PATIENCE
        while True:
            try:
                self._connection = _connected(self.server, reads=self._reads)
                if self._token:
                    self.hold(self._token)
                self.away = False
                return
            except (psycopg.OperationalError, StoreProblem) as problem:
                if time.monotonic() >= end:
                    reason = _first_line(error)
                    why = f"the store {self.server} was lost and is away for {PATIENCE:g} s: {reason}"
                    raise StoreProblem(why, hint=_AGAIN) from problem
            time.sleep(pause)
            pause = min(pause * 2, _PAUSES[1])


ENDINGS = (
    errors.AdminShutdown,
    errors.CrashShutdown,
    errors.CannotConnectNow,
    errors.IdleInTransactionSessionTimeout,
)
_AGAIN = "answers so far are stored; start again when the server is available"


def open_server(server: StoreServer) -> PostgresDatabase:
    """Return a connection that may write, to a schema of this version. Raises `StoreProblem`."""
    database = PostgresDatabase(server)
    with _closed_on_error(database, server):
        _prepare(database)
    return database


def open_server_reader(server: StoreServer) -> PostgresDatabase | None:
    """Return a connection that only reads; None where there is no store yet. Raises `StoreProblem`."""
    database = PostgresDatabase(server, reads=True)
    with _closed_on_error(database, server):
        version = _version(database)
    if version == schema.SCHEMA_VERSION:
        return database
    database.close()
    if not version:
        return None
    open_server(server).close()
    return open_server_reader(server)


def living_names(server: StoreServer) -> Callable[[str], bool]:
    """Return whether a process of a name writes the store, asked once for all names. Raises `StoreProblem`."""
    database = PostgresDatabase(server, reads=True)
    try:
        text = (
            "SELECT objid FROM pg_locks WHERE locktype = 'advisory' AND classid = ? AND granted"
            " AND database = (SELECT oid FROM pg_database WHERE datname = current_database())"
        )
        locks = frozenset(int(number) for (number,) in database.execute(text, (LOCKS,)))
    except psycopg.Error as error:
        raise _problem_of(error, server) from None
    finally:
        database.close()
    return lambda name: bool(name) and _lock_number(name) in locks


def _lock_number(name: str) -> int:
    """Return the number of the advisory lock of a process."""
    return crc32(name.encode()) & 0x7FFFFFFF


def problem_of(error: Exception, server: StoreServer) -> StoreProblem | None:
    """Return what PostgreSQL said, in words, without a password; None for an error of something else."""
    return _problem_of(error, server) if isinstance(error, psycopg.Error) else None


def _problem_of(error: psycopg.Error, server: StoreServer) -> StoreProblem:
    reason = _first_line(error)
    if isinstance(error, errors.InvalidPassword | errors.InvalidAuthorizationSpecification) or _lacks_password(reason):
        hint = "the password comes from PGPASSWORD, or from ~/.pgpass (see docs/batches.md)"
        return StoreProblem(f"the store {server} refuses the connection: {reason}", hint=hint)
    if isinstance(error, errors.InvalidCatalogName) or re.fullmatch(r'database ".*" does not exist', reason):
        return StoreProblem(f"the store {server} is not there: {reason}", hint="make the database: createdb NAME")
    if isinstance(error, errors.InsufficientPrivilege) or "store_version" in reason:
        hint = f"its user needs: GRANT CREATE ON DATABASE … TO …, and to own the schema {SCHEMA}"
        return StoreProblem(f"the store {server} may not be used: {reason}", hint=hint)
    if isinstance(error, errors.ReadOnlySqlTransaction):
        return StoreProblem(f"the store {server} may only be read: {reason}", hint="name the server that takes writes")
    if isinstance(error, errors.DiskFull):
        return StoreProblem(f"there is no room for the store {server}: its disk is full")
    if isinstance(error, psycopg.OperationalError):
        return StoreProblem(f"the store {server} cannot be reached: {reason}", hint="is the server there?")
    return StoreProblem(f"the store {server} cannot be used: {reason}")


def _lacks_password(reason: str) -> bool:
    return any(words in reason for words in ("no password supplied", "authentication failed", "no pg_hba.conf entry"))


def _first_line(error: psycopg.Error) -> str:
    """Return the part of a message that says what is wrong: the last line of one about a connection."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    wrong = next((line for line in lines if "FATAL:" in line), lines[0] if lines else "no reason was given")
    return re.sub(r"^(connection (failed|is bad): )?(connection to server .*? failed: )?(FATAL: *)?", "", wrong)


def _connected(server: StoreServer, *, reads: bool) -> psycopg.Connection[tuple[Any, ...]]:
    """Raise `StoreProblem`."""
    try:
        connection = psycopg.connect(address_of(server), autocommit=True)
    except psycopg.Error as error:
        raise _problem_of(error, server) from None
    with _closed_on_error(connection, server):
        _require_fit(connection, server)
        connection.adapters.register_loader("numeric", _Number)
        connection.execute(f"SET search_path TO {SCHEMA}")
        if reads:
            connection.execute("SET default_transaction_read_only TO on")
        else:
            connection.execute(f"SET idle_in_transaction_session_timeout TO '{IDLE_SECONDS}s'")
            connection.execute(_BY_INDEX)
    return connection


@contextmanager
def _closed_on_error(
    connection: PostgresDatabase | psycopg.Connection[tuple[Any, ...]], server: StoreServer
) -> Iterator[None]:
    """Close a connection if the block fails. Raises `StoreProblem` for what PostgreSQL said."""
    try:
        yield
    except BaseException as error:
        connection.close()
        if isinstance(error, psycopg.Error):
            raise _problem_of(error, server) from None
        raise


def address_of(server: StoreServer) -> str:
    """Return the address of a server with what the user's leaves open. Raises `psycopg.Error` for one that is none."""
    known = psycopg.conninfo.conninfo_to_dict(server.url)
    defaults = {name: value for name, value in _CONNECTING.items() if name not in known}
    return psycopg.conninfo.make_conninfo(server.url, **defaults)


def _require_fit(connection: psycopg.Connection[tuple[Any, ...]], server: StoreServer) -> None:
    """Raise `StoreProblem` for a server that cannot be a store, and for a pooler in front of one."""
    info = connection.info
    if info.server_version < OLDEST:
        version = f"{info.server_version // 10000}"
        raise StoreProblem(f"the store {server} is PostgreSQL {version}", hint=f"{OLDEST // 10000} or newer is needed")
    if info.parameter_status("server_encoding") != "UTF8":
        encoding = info.parameter_status("server_encoding")
        raise StoreProblem(f"the store {server} has the encoding {encoding}", hint="createdb --encoding UTF8 makes one")
    row = connection.execute("SELECT pg_backend_pid()").fetchone()
    if row is None or row[0] != info.backend_pid:
        hint = "name the server itself: a pooler such as PgBouncer loses the locks and notices that workers live by"
        raise StoreProblem(f"the store {server} is behind a connection pooler", hint=hint)


def _prepare(database: PostgresDatabase) -> None:
    """Make the tables, or bring those of an older version to this one, all or nothing."""
    if _version(database) == schema.SCHEMA_VERSION:
        return

    def work() -> None:
        database.execute("SELECT pg_advisory_xact_lock(?, 0)", (LOCKS,))
        version = _version(database)
        if not version:
            database.execute(f"CREATE SCHEMA IF NOT EXISTS {SCHEMA}")
            database.execute("CREATE TABLE store_version (version BIGINT NOT NULL)")
            database.execute("INSERT INTO store_version (version) VALUES (0)")
        for statements in schema.MIGRATIONS[version:]:
            for statement in statements:
                database.execute(_defined(statement))
        database.execute("UPDATE store_version SET version = ?", (schema.SCHEMA_VERSION,))

    database.transact(work)


def _version(database: PostgresDatabase) -> int:
    """Return the version of the tables, 0 where there are none. Raises `StoreProblem` for those of something else."""
    text = "SELECT tablename FROM pg_tables WHERE schemaname = ?"
    names = {name for (name,) in database.execute(text, (SCHEMA,))}
    if not names:
        return 0
    if "store_version" not in names:
        hint = "name another database: --store postgresql://HOST/DATABASE"
        raise StoreProblem(f"the schema {SCHEMA} of {database.server} is that of something else", hint=hint)
    row = database.execute("SELECT version FROM store_version").fetchone()
    version = int(row[0]) if row else 0
    if version > schema.SCHEMA_VERSION:
        known = f"it has version {version} of the schema, and this Prosa knows {schema.SCHEMA_VERSION}"
        raise StoreProblem(f"the store {database.server} was written by a newer Prosa: {known}", hint="update Prosa")
    return version


@cache
def _sent(text: str) -> LiteralString:
    """Return a statement with the marks of psycopg. None of ours has a question mark or a percent sign in it."""
    return text.replace("%", "%%").replace("?", "%s")


@cache
def _many(statement: Statement) -> LiteralString:
    """Return a statement that takes rows of values as the text of a JSON array."""
    types = dict(re.findall(r"\b(\w+) (TEXT|INTEGER|REAL)\b", " ".join(sum(schema.MIGRATIONS, ()))))
    columns = ", ".join(f"v{at} {_TYPES[types[name]]}" for at, name in enumerate(statement.columns))
    source = f"json_to_recordset(?::json) AS given({columns})"
    numbers = count()
    text = re.sub(r"\?", lambda _: f"given.v{next(numbers)}", statement.text)
    text = (
        text.replace(GIVEN, f" FROM {source}").replace(BESIDE, f"{source}, ").replace(SHARED, PostgresDatabase.shared)
    )
    return _sent(f"{text}{_NUMBERED}")


def _as_json(rows: Sequence[Sequence[Any]]) -> Iterator[str]:
    """Yield rows as JSON arrays of objects, none much larger than its largest row."""
    waiting: list[bytes] = []
    size = 0
    for row in rows:
        waiting.append(msgspec.json.encode({f"v{at}": _in_json(value) for at, value in enumerate(row)}))
        size += len(waiting[-1])
        if size > _LARGEST:
            yield f"[{b','.join(waiting).decode()}]"
            waiting, size = [], 0
    if waiting:
        yield f"[{b','.join(waiting).decode()}]"


def _in_json(value: Value) -> Value:
    """Return a value as JSON has it: NaN and infinity become their names."""
    return str(value) if isinstance(value, float) and not isfinite(value) else _value(value)


def _defined(statement: str) -> str:
    """Return a definition with types that hold what those of SQLite do, and texts that sort by their characters."""
    return re.sub(r"\b(TEXT|INTEGER|REAL)\b", lambda match: _TYPES[match[1]], statement)


def _value(value: Value) -> Value:
    """Return a value as the server takes it: no truth in a column of numbers, and no NUL in a text."""
    if isinstance(value, bool):
        return int(value)
    if isinstance(value, str) and "\0" in value:
        return value.replace("\0", "\\x00")
    return value


class _Number(Loader):
    """Sums of whole numbers are whole numbers here too."""

    def load(self, data: bytes | bytearray | memoryview) -> int | float:
        """Return a number."""
        text = bytes(data).decode()
        return int(text) if text.lstrip("-").isdigit() else float(text)
