"""Opening the store: made if absent, an older one migrated with a copy beside it, anything else refused (X25).

In: the path of a file, in a folder that is private. Out: a connection, or `StoreProblem` that says what is wrong with
the file and what to do. Nothing is ever healed by making it anew: what the file holds exists nowhere else.
"""

from __future__ import annotations

import json
import os
import sqlite3
import stat
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

from msgspec import ValidationError

from prosa.adapters.store import schema
from prosa.adapters.store.runs import DamagedRecord, Unwritable
from prosa.adapters.store.schema import TABLES
from prosa.records.run import StorePlace, StoreServer
from prosa.runtime.errors import RunError, StoreProblem

if TYPE_CHECKING:
    from prosa.adapters.store.database import Database, Row, ServerAdapter, Statement

T = TypeVar("T")

_MOMENT = 0.02

PRIVATE = 0o600

WAIT_SECONDS = 30.0
"""How long to wait for another process that writes; its transactions take milliseconds."""

NETWORK = frozenset(
    ("nfs", "nfs4", "cifs", "smb3", "smbfs", "afs", "9p", "ceph", "glusterfs", "lustre", "fuse.sshfs", "fuse.rclone")
)
"""Kinds of file systems that other machines write to: the log of writes needs memory that processes share."""

FAULTS = (sqlite3.Error, UnicodeDecodeError, json.JSONDecodeError, ValidationError)
"""What a file can make SQLite raise, and those who read its rows."""

_MOUNTS = Path("/proc/self/mountinfo")
_ESCAPES = {"\\040": " ", "\\011": "\t", "\\012": "\n", "\\134": "\\"}


_PAGES = 2_000
"""Pages given back to the file system at a time."""


class SqliteDatabase(sqlite3.Connection):
    """Meets `Database` with a file."""

    away = False
    shared: ClassVar[str] = ""
    locked: ClassVar[str] = ""

    def stream(self, text: str, values: Sequence[Any] = (), /) -> Iterator[Row]:
        """Return the rows, which SQLite finds one by one."""
        return self.execute(text, values)

    def change(self, text: str, values: Sequence[Any], otherwise: Callable[[], RunError] | None = None, /) -> None:
        """Do one statement that changes or finds a row."""
        done = self.execute(text, values)
        if otherwise is None:
            return
        if not done.rowcount or (done.rowcount < 0 and done.fetchone() is None):
            raise otherwise()

    def change_all(self, statement: Statement, rows: Sequence[Sequence[Any]], /) -> int:
        """Do a statement for many rows of values."""
        return self.executemany(statement.single(self.shared), rows).rowcount

    def transact(self, work: Callable[[], T]) -> T:
        """Do work as the only process that writes."""
        try:
            self.execute("BEGIN IMMEDIATE")
            result = work()
            self.execute("COMMIT")
        except BaseException:
            with suppress(sqlite3.Error):
                self.execute("ROLLBACK")
            raise
        return result

    def hold(self, name: str) -> None:
        """Do nothing: a locked file holds the store (see `holding`)."""

    def mark(self) -> str:
        """Count the commits of other connections."""
        return str(self.execute("PRAGMA data_version").fetchone()[0])

    def size(self) -> int:
        """Pages that are in use."""
        names = "page_count", "freelist_count", "page_size"
        pages, free, size = (self.execute(f"PRAGMA {name}").fetchone()[0] for name in names)
        return int((pages - free) * size)

    def shrink(self) -> None:
        """Give back pages."""
        (free,) = self.execute("PRAGMA freelist_count").fetchone()
        for _ in range(min(free, _PAGES)):
            self.execute("PRAGMA incremental_vacuum(1)")  # one page for each time that Python lets it step


def open_store(place: StorePlace, *, wait: float = WAIT_SECONDS) -> Database:
    """Return a connection that may write. Raises `StoreProblem`."""
    return server_adapter().open_server(place) if isinstance(place, StoreServer) else open_file(place, wait=wait)


def open_reader(place: StorePlace) -> Database | None:
    """Return a connection that only reads; None where there is no store yet. Raises `StoreProblem`.

    A store of an older version is migrated first: what is read has one form.
    """
    return server_adapter().open_server_reader(place) if isinstance(place, StoreServer) else open_file_reader(place)


def server_adapter() -> ServerAdapter:
    """Return what talks to a server. Raises `StoreProblem` where the library for that is not installed."""
    try:
        from prosa.adapters.store import postgres
    except ImportError:
        from prosa.extras import lacking

        raise lacking(StoreProblem, "a store on PostgreSQL", "batch") from None
    return postgres


def open_file(path: Path, *, wait: float = WAIT_SECONDS) -> SqliteDatabase:
    """Return a connection to a file that may write. Raises `StoreProblem`."""
    refuse_network(path)
    _make_private(path)
    with in_words(path):
        connection = sqlite3.connect(
            path, timeout=wait, isolation_level=None, check_same_thread=False, factory=SqliteDatabase
        )
        try:
            _prepare_in_turn(connection, path, wait)
        except BaseException:
            connection.close()
            raise
    return connection


def open_memory() -> SqliteDatabase:
    """Return an empty store that is in no file."""
    connection = sqlite3.connect(":memory:", isolation_level=None, check_same_thread=False, factory=SqliteDatabase)
    schema.migrate(connection)
    return connection


def open_file_reader(path: Path) -> SqliteDatabase | None:
    """Return a connection that only reads a file; None where there is none yet. Raises `StoreProblem`."""
    if not path.exists():
        return None
    if not path.is_file():
        raise StoreProblem(f"the store {path} is not a regular file", hint=_ELSEWHERE)
    refuse_network(path)
    with in_words(path):
        connection = sqlite3.connect(
            read_only_uri(path), uri=True, timeout=WAIT_SECONDS, isolation_level=None, factory=SqliteDatabase
        )
        try:
            version = _checked(connection, path)
            if version == schema.SCHEMA_VERSION:
                return connection
            connection.close()
        except BaseException:
            connection.close()
            raise
    if not version:
        return None
    open_file(path).close()
    return open_file_reader(path)


def read_only_uri(path: Path) -> str:
    """Return the address under which SQLite opens a file to be read and nothing else."""
    return f"{path.absolute().as_uri()}?mode=ro"


@contextmanager
def in_words(place: StorePlace) -> Iterator[None]:
    """Raise errors of the store at ``place`` in the block as `StoreProblem`."""
    try:
        yield
    except Exception as error:
        problem = problem_of(error, place)
        if problem is None:
            raise
        raise problem from None


def problem_of(error: Exception, place: StorePlace) -> StoreProblem | None:
    """Return what a database said, in words; what is no text, or no value of its column, was damaged. None for an error
    of something else."""
    if isinstance(error, FAULTS) and not isinstance(error, sqlite3.Error):
        return StoreProblem(f"the store {place} is damaged", hint=_AWAY)
    if isinstance(place, StoreServer):
        return server_adapter().problem_of(error, place)
    return _problem_of_file(error, place) if isinstance(error, sqlite3.Error) else None


def is_of_values(error: Exception) -> bool:
    """Return whether an error is about what was to be written or was read, and not about the database as a whole."""
    if isinstance(error, sqlite3.InterfaceError | sqlite3.ProgrammingError):
        return True
    if getattr(error, "sqlite_errorname", "") == "SQLITE_CONSTRAINT_TRIGGER":
        return False  # no trigger is ours
    names = {base.__name__ for base in type(error).__mro__}  # those of PEP 249, which both libraries have
    whole = {"DatabaseError", "InterfaceError", "OSError", "RunError"}
    return bool(names & {"DataError", "IntegrityError"}) or not names & whole


def unwritable(error: Exception, place: StorePlace) -> RunError:
    """Return what one piece of work fails with alone: a number, a text or an object that a store does not take."""
    if isinstance(error, FAULTS) and not isinstance(error, sqlite3.Error):
        return DamagedRecord(f"the store {place} is damaged", hint=_AWAY)
    return Unwritable(f"the store {place} cannot keep what came of it: {type(error).__name__}: {error}")


def _problem_of_file(error: sqlite3.Error, path: Path) -> StoreProblem:
    name = getattr(error, "sqlite_errorname", "")
    if name.startswith("SQLITE_NOTADB"):
        return StoreProblem(f"the store {path} is not an SQLite file", hint=_AWAY)
    if name.startswith("SQLITE_CORRUPT"):
        return StoreProblem(f"the store {path} is damaged", hint=_AWAY)
    if name.startswith("SQLITE_FULL"):
        return StoreProblem(f"there is no room for the store {path}: the disk is full")
    if name.startswith(("SQLITE_READONLY", "SQLITE_PERM", "SQLITE_CANTOPEN", "SQLITE_AUTH")):
        return StoreProblem(f"the store {path} may not be written", hint=_ELSEWHERE)
    if name.startswith(("SQLITE_BUSY", "SQLITE_LOCKED")):
        return StoreProblem(f"another process has held the store {path} for {WAIT_SECONDS:g} s", hint="try again")
    return StoreProblem(f"the store {path} cannot be used: {error}", hint=_ELSEWHERE)


_AWAY = "it is left unchanged: move it away, and the next run creates a new one"
_ELSEWHERE = "--store PATH or PROSA_DATA_DIR names another place"


def _prepare_in_turn(connection: sqlite3.Connection, path: Path, wait: float) -> None:
    """Prepare the store, retrying while other processes create it. SQLite does not wait for locks at every step."""
    until = time.monotonic() + wait
    while True:
        try:
            return _prepare(connection, path)
        except sqlite3.OperationalError as error:
            name = getattr(error, "sqlite_errorname", "")
            if not name.startswith(("SQLITE_BUSY", "SQLITE_LOCKED")) or time.monotonic() >= until:
                raise
            time.sleep(_MOMENT)


def _prepare(connection: sqlite3.Connection, path: Path) -> None:
    """Raise `StoreProblem`, and `sqlite3.Error` for what SQLite cannot do."""
    version = _checked(connection, path)
    if version == 0:
        connection.execute("PRAGMA auto_vacuum = INCREMENTAL")
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("PRAGMA synchronous = FULL")
    connection.execute("PRAGMA secure_delete = ON")  # what is forgotten is not to be found in the file
    if version == schema.SCHEMA_VERSION:
        return
    if version:
        _back_up(connection, path, version)
    schema.migrate(connection)


def _checked(connection: sqlite3.Connection, path: Path) -> int:
    """Return the version of the store, 0 for an empty file. Raises `StoreProblem` for any other file."""
    version, made_by, names = _marks(connection)
    if not names and not made_by and not version:
        return 0
    if made_by != schema.APPLICATION_ID:
        raise StoreProblem(f"{path} is the SQLite file of something else, and no store of runs", hint=_ELSEWHERE)
    if version > schema.SCHEMA_VERSION:
        known = f"it has version {version} of the schema, and this Prosa knows {schema.SCHEMA_VERSION}"
        raise StoreProblem(f"the store {path} was written by a newer Prosa: {known}", hint="update Prosa")
    if version == schema.SCHEMA_VERSION and not names >= TABLES:
        lacking = ", ".join(sorted(TABLES - names))
        raise StoreProblem(f"the store {path} is damaged: it lacks the table {lacking}", hint=_AWAY)
    return version


def _marks(connection: sqlite3.Connection) -> tuple[int, int, set[str]]:
    """Return the version, who made the file and its tables, as they are at one moment: others may be making it."""
    connection.execute("BEGIN")
    try:
        version = schema.version_of(connection)
        (made_by,) = connection.execute("PRAGMA application_id").fetchone()
        names = {name for (name,) in connection.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")}
    finally:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
    return version, made_by, names


def backup_path(path: Path, version: int) -> Path:
    """Return where the copy of a store of an older version is left."""
    return path.with_name(f"{path.name}.v{version}.bak")


def _back_up(connection: sqlite3.Connection, path: Path, version: int) -> None:
    target = backup_path(path, version)
    with suppress(FileExistsError):
        os.close(os.open(target, os.O_CREAT | os.O_EXCL | os.O_RDWR, PRIVATE))
    with closing(sqlite3.connect(target)) as copy:
        connection.backup(copy)


def _make_private(path: Path) -> None:
    """Make the file if it is absent, and refuse one that another user owns or may write to. Raises `StoreProblem`."""
    try:
        with suppress(FileExistsError):
            flags = os.O_CREAT | os.O_EXCL | os.O_RDWR | getattr(os, "O_NOFOLLOW", 0)
            os.close(os.open(path, flags, PRIVATE))
        status = path.stat()
    except OSError as error:
        raise StoreProblem(f"the store {path} cannot be made: {error.strerror or error}", hint=_ELSEWHERE) from None
    if not stat.S_ISREG(status.st_mode):
        raise StoreProblem(f"the store {path} is not a regular file", hint=_ELSEWHERE)
    if sys.platform == "win32":
        return  # rights there are lists, inherited from the profile folder, which is private
    if status.st_uid != os.geteuid():
        raise StoreProblem(f"the store {path} belongs to another user and is not used", hint=_ELSEWHERE)
    if status.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
        raise StoreProblem(f"the store {path} may be written by others and is not used", hint=f"run: chmod 600 {path}")
    if stat.S_IMODE(status.st_mode) != PRIVATE:
        path.chmod(PRIVATE)


def refuse_network(path: Path, mounts: str | None = None) -> None:
    """Raise `StoreProblem` for a file on a file system that is known to be one of the network. ``mounts`` is the table
    of mounts as Linux gives it, read where it is None."""
    kind = "a share" if str(path).startswith("\\\\") else file_system(path, _mounts() if mounts is None else mounts)
    if kind in NETWORK or kind == "a share":
        message = f"the store {path} would be on a network file system ({kind}), where SQLite can lose data"
        raise StoreProblem(message, hint=_ELSEWHERE)


def _mounts() -> str:
    try:
        return _MOUNTS.read_text(encoding="utf-8", errors="surrogateescape")
    except OSError:
        return ""


def file_system(path: Path, mounts: str) -> str:
    """Return the kind of the file system that holds a path, by the longest mount point above it; empty where
    unknown."""
    real, best, kind = os.path.realpath(path), -1, ""
    for point, name in _points(mounts.splitlines()):
        if (real == point or real.startswith(point.rstrip("/") + "/")) and len(point) >= best:
            best, kind = len(point), name
    return kind


def _points(lines: Iterable[str]) -> Iterable[tuple[str, str]]:
    for line in lines:
        before, _, after = line.partition(" - ")
        parts = before.split(" ")
        if len(parts) > 4 and after:
            point = parts[4]
            for escape, character in _ESCAPES.items():
                point = point.replace(escape, character)
            yield point, after.split(" ")[0]
