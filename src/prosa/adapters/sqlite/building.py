"""A new index: built without a journal in a temporary file, and renamed into its place when it is complete.

In: the present index, which no other process writes meanwhile, and the inputs of a refresh. Out: `Refreshed`, and the
new file. Concurrent readers continue with the old one. A killed process leaves the old one, or none if the new one was
about to replace it, and at most a file that the next build removes.
"""

from __future__ import annotations

import contextlib
import os
import sqlite3
import sys
from pathlib import Path

from prosa.adapters.sqlite import opening, place, stamps
from prosa.adapters.sqlite.reading import Reading
from prosa.adapters.sqlite.schema import migrate
from prosa.adapters.sqlite.update import ENOUGH, Update
from prosa.corpus.found import Refreshed, Scan

CACHE_KIB = 16 * 1024
"""Maximum memory for pages of the file in a build, which hardly reads them again."""

CAN_REPLACE = sys.platform != "win32"
"""Whether the system lets a file be replaced that others have open. Where it does not, an index is built in place."""


def is_better_beside(scan: Scan) -> bool:
    """Return whether a new index of these documents is worth a file of its own."""
    return CAN_REPLACE and len(scan.documents) >= ENOUGH


def build_beside(path: Path, before: sqlite3.Connection, scan: Scan, reading: Reading) -> Refreshed:
    """Put a new index of all documents in the place of the one at ``path``. ``before`` is open on that one, in a
    transaction that keeps other writers away. Raises `sqlite3.Error`, `IndexProblem`."""
    place.remove_unfinished(path)
    new = path.with_name(f"{path.name}.{os.urandom(8).hex()}{place.UNFINISHED}")
    try:
        with contextlib.closing(_created(new)) as made:
            made.execute("BEGIN")
            made.executemany("INSERT INTO vector VALUES (?, ?, ?)", before.execute("SELECT * FROM vector"))
            update = Update(made, reading, {})
            report = update.run(scan.documents, (), scan)
            stamps.keep(made, scan, update.unread)
            made.execute("COMMIT")
            made.execute("PRAGMA journal_mode = WAL")  # in the order of use, without waiting
        _put(new, path)
    except BaseException:
        place.remove(new)
        raise
    return report


def _created(path: Path) -> sqlite3.Connection:
    """Return a connection to a new private file, which needs no rollback."""
    place.make_private(path)
    connection = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
    for setting in ("journal_mode = OFF", "synchronous = OFF", "locking_mode = EXCLUSIVE", "temp_store = MEMORY"):
        connection.execute(f"PRAGMA {setting}")
    connection.execute(f"PRAGMA cache_size = -{CACHE_KIB}")
    migrate(connection)
    return connection


def _put(new: Path, path: Path) -> None:
    """Put a finished file in the place of another. The log of the old one must never apply to the new one, so the old
    one is removed first, while neither is open."""
    with new.open("rb") as file:
        os.fsync(file.fileno())
    with opening.held(path, alone=True):
        place.remove(path)
        new.rename(path)
