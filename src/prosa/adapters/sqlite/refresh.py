"""The refresh of the index: changed documents are read, deleted ones removed, and links to either resolved again.
Everything is one transaction, so a reader sees the index before or after, and a killed process leaves it unchanged.

In: a connection, a scan of the documents, a function to read them. Out: `Refreshed`. A document that cannot be read,
or that vanishes meanwhile, never ends a refresh.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from prosa.adapters.sqlite import stamps, writing
from prosa.adapters.sqlite.opening import inode_of
from prosa.adapters.sqlite.reading import Known, Reading
from prosa.corpus.found import FoundDocument, Refreshed, Scan, Stamp

FEW = 500
"""Maximum number of changed documents for which the index is queried one by one."""


class StaleIndex(Exception):
    """The index was made by another version of Prosa: only a whole refresh helps."""


class Replaced(Exception):
    """Another process has put a new file in the place of the one that a connection is open on."""


class IndexFile(NamedTuple):
    """A connection that may write, and the file it is open on: its path and its number."""

    connection: sqlite3.Connection
    path: Path
    inode: int

    def check(self) -> None:
        """Raise `Replaced`."""
        if inode_of(self.path) not in (0, self.inode):
            raise Replaced


def refresh(index: IndexFile, scan: Scan, reading: Reading, *, anew: bool = False) -> Refreshed:
    """Make the index hold the documents of ``scan`` and no others; with ``anew`` all are read again.

    Raises `Replaced`, `sqlite3.Error`.
    """
    connection = index.connection
    version = _version(connection)
    before = None if anew else stamps.known(connection, scan)
    if before is not None and _is_same(connection, before, scan, reading):
        return Refreshed(unchanged=len(scan.documents), unreadable=scan.problems)
    from prosa.adapters.sqlite.update import (  # they load the readers of documents
        Update,
        build_beside,
        is_better_beside,
    )

    with writing_to(index):
        if anew or writing.meta(connection, "mark") != reading.mark:
            if is_better_beside(scan):
                return build_beside(index.path, connection, scan, reading)
            writing.remove_all(connection)
            return _compare_all(connection, scan, reading)
        if _version(connection) != version:  # another process has written meanwhile
            before = stamps.known(connection, scan)
        changed, gone = stamps.differing(before.stamps, stamps.stamps_of(scan)) if before is not None else ([], [])
        if before is not None and len(changed) + len(gone) <= FEW:
            stamps.touch(connection, (*changed, *gone), scan.hints)
            documents, known = stamps.found_at(scan, changed), known_documents(connection, [*changed, *gone])
            return Update(connection, reading, known).run(documents, gone, scan)
        return _compare_all(connection, scan, reading)


def _compare_all(connection: sqlite3.Connection, scan: Scan, reading: Reading) -> Refreshed:
    """Return the same by the rows of all documents."""
    from prosa.adapters.sqlite.update import Update

    known = known_documents(connection)
    gone = known.keys() - {document.path for document in scan.documents}
    update = Update(connection, reading, known)
    report = update.run([document for document in scan.documents if not is_known(document, known)], gone, scan)
    stamps.keep(connection, scan, update.unread)
    return report


def _version(connection: sqlite3.Connection) -> int:
    """Return a number that changes when another connection has written."""
    (number,) = connection.execute("PRAGMA data_version").fetchone()
    return int(number)


def refresh_some(index: IndexFile, scan: Scan, gone: Collection[str], reading: Reading) -> Refreshed:
    """Update single documents: those of ``scan``, and the deleted ones at the paths ``gone``.

    ``unchanged`` counts those that did not change. Raises `StaleIndex`, `Replaced`, `sqlite3.Error`.
    """
    from prosa.adapters.sqlite.update import Update

    connection = index.connection
    with writing_to(index):
        if writing.meta(connection, "mark") != reading.mark:
            raise StaleIndex
        known = known_documents(connection, [*(document.path for document in scan.documents), *gone])
        changed = [document for document in scan.documents if not is_known(document, known)]
        stamps.touch(connection, known.keys() | {document.path for document in changed}, scan.hints)
        return Update(connection, reading, known).run(changed, [path for path in gone if path in known], scan)


@contextmanager
def writing_to(index: IndexFile) -> Iterator[None]:
    """Return one transaction that writes. It begins when no other process writes. Raises `Replaced`."""
    connection = index.connection
    connection.execute("BEGIN IMMEDIATE")
    try:
        index.check()
        yield
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise
    connection.execute("COMMIT")


def known_documents(connection: sqlite3.Connection, paths: Sequence[str] | None = None) -> dict[str, Known]:
    """Return the documents of the index by path, all or some."""
    columns = "SELECT path, id, size, mtime_ns, ctime_ns, inode, digest, hint FROM document"
    if paths is None:
        rows = connection.execute(columns).fetchall()
    else:
        rows = [row for path in paths for row in connection.execute(f"{columns} WHERE path = ?", (path,))]
    return {path: Known(number, Stamp(*stamp), digest, hint) for path, number, *stamp, digest, hint in rows}


def is_known(document: FoundDocument, known: Mapping[str, Known]) -> bool:
    """Return whether a document looks as it did when it was read."""
    before = known.get(document.path)
    return before is not None and before.stamp == document.stamp and before.hint == document.hint_text


def _is_same(connection: sqlite3.Connection, before: stamps.KnownStamps, scan: Scan, reading: Reading) -> bool:
    """Return whether nothing is to be done, which needs no lock."""
    mark, root_given = writing.meta(connection, "mark"), writing.meta(connection, "given")
    return (mark, root_given) == (reading.mark, str(reading.given)) and before.stamps == stamps.stamps_of(scan)
