"""The stamps of all documents at the last scan, by folder, in one value: a refresh compares it with the present
stamps, and only reads the rows of changed documents.

In: a connection, and a scan. Out: `KnownStamps`, or None if the value is missing, unreadable or belongs to other rows:
then the rows themselves are compared, and it is rebuilt. It is written together with the rows.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Set

import msgspec
from msgspec import Struct

from prosa.adapters.sqlite import writing
from prosa.corpus.found import Folders, FoundDocument, Scan, Stamp, Stamps, sure

MOST_TOUCHED = 200
"""Number of single updates from which on the whole value is rebuilt."""


class KnownStamps(Struct, frozen=True):
    """``hints`` is that of the scan, ``count`` the number of all documents."""

    hints: str
    count: int
    stamps: Stamps

    @classmethod
    def of(cls, hints: str, stamps: Stamps) -> KnownStamps:
        """Return the value for stamps."""
        return cls(hints, sum(map(len, stamps.values())), stamps)


_DECODER = msgspec.msgpack.Decoder(KnownStamps)
_ROW = "SELECT size, mtime_ns, ctime_ns, inode FROM document WHERE path = ?"


def known(connection: sqlite3.Connection, scan: Scan) -> KnownStamps | None:
    """Return the stored stamps with later updates; None if they do not belong to this index or to the hints of the
    ``scan``. Its own stamps are returned where they are stored just so, which saves reading those."""
    row = connection.execute("SELECT value FROM meta WHERE name = 'stamps'").fetchone()
    (count,) = connection.execute("SELECT count(*) FROM document").fetchone()
    touched, now = _touched(connection), KnownStamps.of(scan.hints, stamps_of(scan))
    if row is not None and not touched and now.count == count and row[0] == msgspec.msgpack.encode(now):
        return now
    try:
        stamps = _DECODER.decode(row[0]) if row is not None else None
    except (msgspec.MsgspecError, TypeError, UnicodeDecodeError):
        return None
    if stamps is None or stamps.hints != scan.hints or stamps.count != sum(map(len, stamps.stamps.values())):
        return None
    for path in touched:
        _bring_up(connection, stamps.stamps, path)
    return stamps if sum(map(len, stamps.stamps.values())) == count else None


_NO_METAS = "SELECT path, size, mtime_ns, ctime_ns, inode FROM document WHERE dialect = 'magi' AND globs IS NULL"


def no_metas(connection: sqlite3.Connection, mark: str) -> dict[str, Stamp]:
    """Return the MAGI documents that are no meta files, with the stamps they had then (MA18); none where the index is
    not of the code and the settings that ``mark`` stands for."""
    if writing.meta(connection, "mark") != mark:
        return {}
    return {path: Stamp(*stamp) for path, *stamp in connection.execute(_NO_METAS)}


def _touched(connection: sqlite3.Connection) -> list[str]:
    return list(json.loads(writing.meta(connection, "touched") or "[]"))


def _bring_up(connection: sqlite3.Connection, stamps: Stamps, path: str) -> None:
    folder, name = split(path)
    row = connection.execute(_ROW, (path,)).fetchone()
    if row is None:
        stamps.get(folder, {}).pop(name, None)
    else:
        stamps.setdefault(folder, {})[name] = row


def differing(before: Stamps, now: Stamps) -> tuple[list[str], list[str]]:
    """Return the paths of documents that look otherwise than before or were not there, and of those that are gone."""
    changed: list[str] = []
    gone: list[str] = []
    for folder in {**now, **before}:
        old, new = before.get(folder, {}), now.get(folder, {})
        if old != new:
            changed += (folder + name for name in sorted(new) if old.get(name) != new[name])
            gone += (folder + name for name in old if name not in new)
    return changed, gone


def keep(connection: sqlite3.Connection, scan: Scan, unread: Set[str]) -> None:
    """Store the stamps of a scan, except for unreadable documents."""
    stamps = {
        folder: {name: sure(stamp, scan.at_ns) for name, stamp in names.items() if folder + name not in unread}
        for folder, names in stamps_of(scan).items()
    }
    value = msgspec.msgpack.encode(KnownStamps.of(scan.hints, stamps))
    connection.execute("INSERT OR REPLACE INTO meta VALUES ('stamps', ?)", (value,))
    writing.set_meta(connection, "touched", "[]")
    writing.set_meta(connection, "hints", scan.hints)


def touch(connection: sqlite3.Connection, paths: Iterable[str], hints: str) -> None:
    """Record that single documents were updated, with some ``hints``."""
    touched = list(dict.fromkeys((*_touched(connection), *paths)))
    same = writing.meta(connection, "hints") == hints
    if not same or len(touched) > MOST_TOUCHED:
        connection.execute("DELETE FROM meta WHERE name IN ('stamps', 'touched', 'hints')")
    else:
        writing.set_meta(connection, "touched", json.dumps(touched))


def stamps_of(scan: Scan) -> Stamps:
    """Return the stamps of a scan by folder."""
    if isinstance(scan.documents, Folders):
        return scan.documents.stamps
    stamps: Stamps = {}
    for document in scan.documents:
        folder, name = split(document.path)
        stamps.setdefault(folder, {})[name] = document.stamp
    return stamps


def found_at(scan: Scan, paths: Iterable[str]) -> list[FoundDocument]:
    """Return those documents of a scan that lie at some paths."""
    if isinstance(scan.documents, Folders):
        return [scan.documents.found(*split(path)) for path in paths]
    wanted = set(paths)
    return [document for document in scan.documents if document.path in wanted]


def split(path: str) -> tuple[str, str]:
    """Return the folder of a path, with its slash, and the name in it."""
    at = path.rfind("/") + 1
    return path[:at], path[at:]
