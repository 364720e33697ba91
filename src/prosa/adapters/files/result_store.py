"""Rows that a check keeps between runs: one SQLite file in the user's private cache folder (X10).

In: a folder, and a mark of everything that rows rest on besides their key. Out: rows by key. A file of another mark is
emptied, a broken one is replaced, and a cache that cannot be used at all only costs time.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import Struct

if TYPE_CHECKING:
    import sqlite3

FILE_NAME = "check.sqlite"

MAX_ROWS = 200_000
"""Rows beyond this are dropped, the ones not used for longest first: some 100 MB of an average corpus."""

_MOST_KEYS = 30_000  # SQLite takes at most 32,766 parameters in one question since 3.32
_WAIT_SECONDS = 0.5  # another check writes for some milliseconds; waiting longer costs more than the cache saves
_PRIVATE_FILE = 0o600

_TABLES = """
CREATE TABLE IF NOT EXISTS mark (version TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS row (key TEXT PRIMARY KEY, text TEXT NOT NULL, used INTEGER NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS stamp (
  path TEXT PRIMARY KEY, size INTEGER, mtime_ns INTEGER, ctime_ns INTEGER, inode TEXT, digest TEXT NOT NULL
) WITHOUT ROWID;
"""


class ResultStore(Struct):
    """Meets `prosa.rules.cache.Store`. ``folder`` is private (`places.cache_dir`); ``day`` counts days and marks
    when a row was used last. Each process opens the file for itself; ``name`` is that of the file."""

    folder: Path
    version: str
    day: int
    name: str = FILE_NAME
    _connection: sqlite3.Connection | None = None
    _process: int = 0
    _inherited: sqlite3.Connection | None = None
    """That of the process this one was forked from. SQLite wants it neither used nor closed here."""

    def __reduce__(self) -> tuple[type[ResultStore], tuple[Path, str, int, str]]:
        return ResultStore, (self.folder, self.version, self.day, self.name)

    def close(self) -> None:
        """Close the file. It is opened again by the next question."""
        if self._connection is not None and self._process == os.getpid():
            self._connection.close()
            self._connection = None

    def get(self, keys: Sequence[str]) -> Mapping[str, str]:
        """Return the existing rows."""
        texts: dict[str, str] = {}
        self._safely(lambda store: self._fetch(store, [key for key in keys if _is_key(key)], texts))
        return texts

    def put(self, rows: Mapping[str, str]) -> None:
        """Keep rows. That they cannot be kept is no error."""
        if kept := {key: text for key, text in rows.items() if _is_key(key)}:
            self._safely(lambda store: self._keep(store, kept))

    def digests(self, stamps: Mapping[str, tuple[int, int, int, int]]) -> Mapping[str, str]:
        """Return the digests of the files that look as they did when they were hashed, by path."""
        by_path: dict[str, str] = {}
        self._safely(lambda store: self._compare(store, stamps, by_path))
        return by_path

    def remember(self, digests: Mapping[str, tuple[tuple[int, int, int, int], str]]) -> None:
        """Keep the digests of files with their stamps."""
        if kept := [(path, *_columns(stamp), digest) for path, (stamp, digest) in digests.items() if _is_key(path)]:
            self._safely(lambda store: self._keep_stamps(store, kept))

    def _compare(
        self, store: sqlite3.Connection, stamps: Mapping[str, tuple[int, int, int, int]], by_path: dict[str, str]
    ) -> None:
        paths = [path for path in stamps if _is_key(path)]
        for start in range(0, len(paths), _MOST_KEYS):
            some = paths[start : start + _MOST_KEYS]
            marks = ",".join("?" * len(some))
            question = f"SELECT * FROM stamp WHERE path IN ({marks})"  # noqa: S608 - only question marks
            rows = store.execute(question, some)
            by_path.update((path, digest) for path, *stamp, digest in rows if tuple(stamp) == _columns(stamps[path]))

    def _keep_stamps(self, store: sqlite3.Connection, rows: Sequence[tuple[object, ...]]) -> None:
        with store:
            (count,) = store.execute("SELECT count(*) FROM stamp").fetchone()
            if count > MAX_ROWS:
                store.execute("DELETE FROM stamp")  # those of files that are still there come back at the next check
            store.executemany("INSERT OR REPLACE INTO stamp VALUES (?, ?, ?, ?, ?, ?)", rows)

    def _fetch(self, store: sqlite3.Connection, keys: Sequence[str], texts: dict[str, str]) -> None:
        old: list[str] = []
        for start in range(0, len(keys), _MOST_KEYS):
            some = keys[start : start + _MOST_KEYS]
            marks = ",".join("?" * len(some))
            question = f"SELECT key, text, used FROM row WHERE key IN ({marks})"  # noqa: S608 - only question marks
            for key, text, used in store.execute(question, some):
                texts[key] = text
                if used < self.day:
                    old.append(key)
        if old:
            with store:
                store.executemany("UPDATE row SET used = ? WHERE key = ?", [(self.day, key) for key in old])

    def _keep(self, store: sqlite3.Connection, rows: Mapping[str, str]) -> None:
        with store:
            values = [(key, text, self.day) for key, text in rows.items()]
            store.executemany("INSERT OR REPLACE INTO row VALUES (?, ?, ?)", values)
            _make_room(store)

    def _safely(self, work: Callable[[sqlite3.Connection], None]) -> None:
        """Works on the open file. A broken file is removed, so that the next run is well."""
        import sqlite3

        try:
            work(self._opened())
        except sqlite3.OperationalError:
            pass  # locked, full, read-only or not there: this run goes without
        except sqlite3.DatabaseError:
            self._connection = None
            with contextlib.suppress(OSError):
                (self.folder / self.name).unlink()

    def _opened(self) -> sqlite3.Connection:
        import sqlite3

        if self._connection is not None and self._process == os.getpid():
            return self._connection
        self._inherited = self._connection
        path = self.folder / self.name
        with contextlib.suppress(FileExistsError, OSError):
            os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, _PRIVATE_FILE))
        # Autocommit off by "with store"; a lost write after a crash costs time and nothing else.
        store = sqlite3.connect(path, timeout=_WAIT_SECONDS)
        store.execute("PRAGMA synchronous = OFF")
        self._prepare(store)
        self._connection, self._process = store, os.getpid()
        return store

    def _prepare(self, store: sqlite3.Connection) -> None:
        """Empty a file that was written by another version."""
        try:
            if store.execute("SELECT version FROM mark").fetchone() == (self.version,):
                return
        except store.OperationalError:
            pass  # a new file
        with store:
            store.execute("DROP TABLE IF EXISTS row")
            store.execute("DROP TABLE IF EXISTS stamp")
            store.execute("DROP TABLE IF EXISTS mark")
            for statement in filter(str.strip, _TABLES.split(";")):
                store.execute(statement)
            store.execute("INSERT INTO mark VALUES (?)", (self.version,))


def _columns(stamp: tuple[int, int, int, int]) -> tuple[object, ...]:
    """Return a stamp as stored: the number of a file may be larger than an integer of SQLite."""
    size, mtime_ns, ctime_ns, inode = stamp
    return size, mtime_ns, ctime_ns, str(inode)


def _is_key(text: str) -> bool:
    """Return whether a text can be a key: one with the path of a file whose name is not UTF-8 can not."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _make_room(store: sqlite3.Connection) -> None:
    (count,) = store.execute("SELECT count(*) FROM row").fetchone()
    if count > MAX_ROWS:
        oldest = "SELECT key FROM row ORDER BY used LIMIT ?"
        store.execute(f"DELETE FROM row WHERE key IN ({oldest})", (count - MAX_ROWS // 2,))  # noqa: S608
