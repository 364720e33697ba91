"""Opening an index: created if absent, migrated, and rebuilt if broken (X10).

In: its path. Out: a connection to an index of this version, and the problem of the previous file. Broken are files
that SQLite cannot read, foreign files, and those of an unknown schema. A file that is only locked is never touched.
"""

# Texts, not Paths: `os` says what a link is, and what its owner is.
# ruff: noqa: PTH108

from __future__ import annotations

import contextlib
import os
import sqlite3
import stat
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from prosa.adapters.sqlite.schema import APPLICATION_ID, SCHEMA_VERSION, TABLES, migrate
from prosa.corpus.errors import IndexProblem
from prosa.source.files import sha256

WAIT_SECONDS = 60.0
"""How long to wait for another process that writes. It builds the same index, so waiting saves the work; a build of
100,000 documents takes about this long."""

CACHE_KIB = 32 * 1024
"""Maximum memory for pages of a connection."""

_TABLES = frozenset(
    ("document", "definition", "key", "edge", "lookup", "section", "metadata", "embedding", "vector", "meta")
)


LOG_BYTES = 64 * 1024 * 1024
"""How large the log of writes may stay after a build, whose log is as large as the index."""

LOG_PAGES = 4_000
"""Pages of 4 KiB in the log after which it is worked into the index: some hundred updates of one document."""

DAMAGE = (sqlite3.DatabaseError, ValueError, TypeError, LookupError)
"""Errors from reading a broken file: SQLite detects most damage, the rest is invalid text, numbers or JSON."""


ELSEWHERE = "PROSA_CACHE_DIR names another place"

TRIES = 5
"""How often a file is opened that is broken, or that other processes replace meanwhile."""


class Opened(NamedTuple):
    """A writing connection, and the number of its open file. ``healed`` is the problem of the previous file."""

    connection: sqlite3.Connection
    inode: int
    healed: str = ""


def open_index(path: Path, *, wait: float = WAIT_SECONDS) -> Opened:
    """Open the index for reading and writing. Raises `IndexProblem`."""
    complaint = ""
    for _ in range(TRIES):
        inode = inode_of(path)
        if not inode:
            remove_older(path)  # the first index of this version: the cache keeps one of each corpus
        try:
            with held(path, alone=False):
                connection, inode = _opened(path, wait), inode_of(path)
            _migrated(connection, path)
        except DAMAGE as error:
            complaint = complaint or complaint_of(error)
            replace(path, inode)
            continue
        if inode_of(path) == inode:
            return Opened(connection, inode, complaint)
        connection.close()  # another process has put a new file there, while this one waited for it
    raise IndexProblem(f"the index {path} {complaint} and cannot be made anew", hint="remove the file")


def replace(path: Path, inode: int) -> None:
    """Remove a broken index, unless another process has put a new one in its place since it had this number."""
    with held(path, alone=True):
        if inode_of(path) == inode:
            remove(path)


def open_reader(path: Path) -> sqlite3.Connection:
    """Return a connection that cannot write. Raises `sqlite3.Error`, `IndexProblem`."""
    with held(path, alone=False):
        connection = sqlite3.connect(read_only_uri(path), uri=True, isolation_level=None, check_same_thread=False)
        connection.execute("SELECT count(*) FROM sqlite_schema")  # the log beside it is opened now, not under new names
    connection.execute("PRAGMA query_only = ON")
    connection.execute(f"PRAGMA cache_size = -{CACHE_KIB}")
    return connection


def is_frozen(path: Path) -> bool:
    """Return whether an index lies where nothing can be written, as in the image of a container, and is complete: no
    log of writes waits to be worked into it."""
    log = Path(f"{path}-wal")
    return path.is_file() and not os.access(path.parent, os.W_OK) and not (log.exists() and log.stat().st_size)


def open_frozen(path: Path) -> sqlite3.Connection:
    """Return a connection to an index that `is_frozen`. Raises `IndexProblem`."""
    _require_own(path, path.lstat())
    connection = sqlite3.connect(read_only_uri(path), uri=True, isolation_level=None, check_same_thread=False)
    try:
        _check(connection)
    except DAMAGE as error:
        connection.close()
        raise IndexProblem(f"the index {path} {complaint_of(error)}", hint=ELSEWHERE) from None
    return connection


def is_damage(error: Exception) -> bool:
    """Return whether an error shows a broken file rather than a wrong query."""
    name = getattr(error, "sqlite_errorname", "")
    text = str(error)
    return name.startswith(("SQLITE_CORRUPT", "SQLITE_NOTADB")) or text.startswith("Could not decode to UTF-8")


def unusable(error: Exception, path: Path) -> IndexProblem | None:
    """Return the message for an error that rebuilding the index does not fix; None for others."""
    name = getattr(error, "sqlite_errorname", "")
    if name.startswith(("SQLITE_BUSY", "SQLITE_LOCKED")):
        hint = "try again, or use --no-refresh to ask what the index holds now"
        return IndexProblem(f"another process is writing the index {path}", hint=hint)
    if name.startswith(("SQLITE_FULL", "SQLITE_IOERR", "SQLITE_CANTOPEN", "SQLITE_READONLY", "SQLITE_PERM")):
        hint = ELSEWHERE
        if name.startswith(("SQLITE_FULL", "SQLITE_IOERR")):
            hint = f"is the disk full? {hint}"
        return IndexProblem(f"the index {path} cannot be written: {error}", hint=hint)
    return None


def _opened(path: Path, wait: float) -> sqlite3.Connection:
    """Raise `sqlite3.DatabaseError` for a file that is broken, and `IndexProblem` for one that cannot be used."""
    make_private(path)
    connection = sqlite3.connect(path, timeout=wait, isolation_level=None, check_same_thread=False)
    try:
        _check(connection)
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = NORMAL")
        connection.execute(f"PRAGMA cache_size = -{CACHE_KIB}")
        connection.execute("PRAGMA temp_store = MEMORY")
        connection.execute(f"PRAGMA journal_size_limit = {LOG_BYTES}")
        connection.execute(f"PRAGMA wal_autocheckpoint = {LOG_PAGES}")
    except BaseException as error:
        raise _closed(connection, path, error) from None
    return connection


def _migrated(connection: sqlite3.Connection, path: Path) -> None:
    """Return a file its tables. This may wait for another process that writes, so the lock of the file is not held."""
    try:
        migrate(connection)
    except BaseException as error:
        raise _closed(connection, path, error) from None


def _closed(connection: sqlite3.Connection, path: Path, error: BaseException) -> BaseException:
    """Return the error to be raised, the connection closed."""
    connection.close()
    return (unusable(error, path) if isinstance(error, sqlite3.Error) else None) or error


def _check(connection: sqlite3.Connection) -> None:
    """Whether the file is an index or empty. Raises `sqlite3.DatabaseError`."""
    names = {name for (name,) in connection.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")}
    (made_by,) = connection.execute("PRAGMA application_id").fetchone()
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    if not names and not made_by:
        return
    if made_by != APPLICATION_ID:
        raise sqlite3.DatabaseError("was written by something else")
    if version > SCHEMA_VERSION:
        raise sqlite3.DatabaseError("was written by a newer Prosa")
    if version == SCHEMA_VERSION and not names >= TABLES:
        raise sqlite3.DatabaseError("lacks some of its tables")


def complaint_of(error: Exception) -> str:
    """Return the problem, in words that finish "the index …"."""
    name = getattr(error, "sqlite_errorname", None)
    if isinstance(error, sqlite3.Error) and name is None:
        return str(error)
    known = {"SQLITE_NOTADB": "was not an SQLite file", "SQLITE_CORRUPT": "was damaged"}
    return known.get((name or "").partition("_VTAB")[0], f"could not be read ({error})")


def read_only_uri(path: Path) -> str:
    """Return the address under which SQLite opens a file to be read and nothing else."""
    mode = "ro&immutable=1" if is_frozen(path) else "ro"  # without a log nothing else is read, and no file made
    return f"{path.absolute().as_uri()}?mode={mode}"


# A lock that ends with its process, so that two processes never replace one broken index at once. In: the path of an
# index. Out: a context in which no other process opens or replaces it. It is never held while documents are read or
# rows are written; the locks of SQLite cover that.

_PRIVATE = 0o600


@contextlib.contextmanager
def held(path: Path, *, alone: bool) -> Iterator[None]:
    """Hold the lock of an index, ``alone`` or together with others that only open it. Where the system has no such
    locks it does without: SQLite itself never opens a file that is being replaced there. Raises `IndexProblem`."""
    if sys.platform == "win32":
        yield
        return
    import fcntl

    flags = os.O_CREAT | os.O_RDWR | os.O_NOFOLLOW | os.O_CLOEXEC
    try:
        descriptor = os.open(f"{path}.lock", flags, _PRIVATE)
    except OSError as error:
        message = f"the index {path} cannot be {'written' if path.exists() else 'made'}: {error.strerror or error}"
        hint = f"{ELSEWHERE}; --no-refresh uses it as it is" if is_frozen(path) else ELSEWHERE
        raise IndexProblem(message, hint=hint) from None
    try:
        with contextlib.suppress(OSError):  # a file system without locks
            fcntl.flock(descriptor, fcntl.LOCK_EX if alone else fcntl.LOCK_SH)
        yield
    finally:
        os.close(descriptor)


PRIVATE = 0o600

COMPANIONS = ("", "-wal", "-shm", "-journal")
"""What stands behind the name of each file that SQLite keeps for one database."""

UNFINISHED = ".new"
"""Suffix of an index that is being built."""


def index_path(folder: Path, root: Path) -> Path:
    """Return the file of the corpus at ``root``, a real path. ``folder`` is private."""
    name = sha256(os.fsencode(root)).hexdigest()[:32]
    return folder / f"{name}-v{SCHEMA_VERSION}.sqlite"


def make_private(path: Path) -> None:
    """Make the file if it is absent, and refuse one that another user owns or may write to. Raises `IndexProblem`."""
    try:
        with contextlib.suppress(FileExistsError):
            flags = os.O_CREAT | os.O_EXCL | os.O_RDWR | getattr(os, "O_NOFOLLOW", 0)
            os.close(os.open(path, flags, PRIVATE))
        status = path.lstat()
    except OSError as error:
        raise IndexProblem(f"the index {path} cannot be made: {error.strerror or error}", hint=ELSEWHERE) from None
    _require_own(path, status)
    if sys.platform != "win32" and stat.S_IMODE(status.st_mode) != PRIVATE:
        path.chmod(PRIVATE)


def _require_own(path: Path, status: os.stat_result) -> None:
    if not stat.S_ISREG(status.st_mode):
        raise IndexProblem(f"the index {path} is not a regular file and is not used", hint="remove it")
    if sys.platform == "win32":
        return  # rights there are lists, inherited from the profile folder, which is private
    if status.st_uid != os.geteuid():
        raise IndexProblem(f"the index {path} belongs to another user and is not used", hint="remove it")
    if status.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
        raise IndexProblem(f"the index {path} may be written by others and is not used", hint="remove it")


def inode_of(path: Path) -> int:
    """Return the number of the file that lies there now, 0 for none."""
    try:
        return path.lstat().st_ino
    except OSError:
        return 0


def remove(path: Path) -> None:
    """Remove an index with everything that SQLite keeps beside it."""
    for suffix in COMPANIONS:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(f"{path}{suffix}")


def remove_older(path: Path) -> None:
    """Remove indexes of the same corpus that older versions left behind."""
    corpus, _, version = path.stem.rpartition("-v")
    names = [name for name in _names_in(path.parent) if name.startswith(f"{corpus}-v")]
    for number in range(1, int(version)):
        older = path.with_name(f"{corpus}-v{number}{path.suffix}")
        if not any(name.startswith(older.name) for name in names):
            continue
        with contextlib.suppress(OSError):
            remove(older)
            remove_unfinished(older)


def remove_unfinished(path: Path) -> None:
    """Remove the remains of an index whose build was killed."""
    for name in _names_in(path.parent):
        if name.startswith(f"{path.name}.") and name.endswith(UNFINISHED):
            with contextlib.suppress(OSError):
                remove(path.with_name(name))


def _names_in(folder: Path) -> list[str]:
    """Return the names in a folder; none where there is no such folder."""
    try:
        return [file.name for file in folder.iterdir()]
    except OSError:
        return []
