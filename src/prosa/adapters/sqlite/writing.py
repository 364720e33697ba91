"""Rows into the index and out of it. In: what `packing` made. Out: nothing. The caller holds the one transaction.

Full-text tables follow the sections: they are filled from them, and a section leaves them before it is removed.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from prosa.adapters.sqlite.packing import Item, Packed, Row

_DOCUMENT = f"INSERT INTO document VALUES (?{', ?' * 25})"  # noqa: S608 - only question marks
_SECTION = f"INSERT INTO section VALUES (NULL{', ?' * 13})"  # noqa: S608 - only question marks

_INDEX_TEXT = """INSERT INTO section_text (rowid, title, heading, tags, text)
  SELECT id, title, heading, tags, text FROM section WHERE id > ?"""
_INDEX_CJK = """INSERT INTO section_cjk (rowid, text, title, heading, tags)
  SELECT id, text, title, heading, tags FROM section WHERE id > ? AND cjk"""
_FORGET_TEXT = """INSERT INTO section_text (section_text, rowid, title, heading, tags, text)
  SELECT 'delete', id, title, heading, tags, text FROM section WHERE document = ?"""
_FORGET_CJK = """INSERT INTO section_cjk (section_cjk, rowid, text, title, heading, tags)
  SELECT 'delete', id, text, title, heading, tags FROM section WHERE document = ? AND cjk"""

_OF_DOCUMENTS = ("definition", "key", "metadata", "section", "embedding", "edge")
"""Tables with a column `document`, in which a document leaves rows."""

_FULL_TEXT = ("section_text", "section_cjk")


def add(connection: sqlite3.Connection, packed: Packed) -> None:
    """Write documents that are not in the index: everything but keys, edges and full text."""
    connection.executemany(_DOCUMENT, packed.documents)
    connection.executemany("INSERT INTO definition VALUES (?, ?, ?, ?, ?, ?)", packed.definitions)
    connection.executemany("INSERT INTO metadata VALUES (?, ?, ?, ?, ?, ?, ?)", packed.fields)
    connection.executemany(_SECTION, packed.sections)
    connection.executemany("INSERT INTO embedding VALUES (?, ?, ?, ?, ?, ?, ?, ?)", packed.embeddings)


def fill_full_text(connection: sqlite3.Connection) -> None:
    """Fill the full-text tables with the sections that were written since they were filled: those with higher ids."""
    (last,) = connection.execute("SELECT coalesce(max(id), 0) FROM section_text_docsize").fetchone()
    connection.execute(_INDEX_TEXT, (last,))
    connection.execute(_INDEX_CJK, (last,))


def remove(connection: sqlite3.Connection, documents: Sequence[int]) -> None:
    """Remove documents and all their rows."""
    numbers = [(number,) for number in documents]
    connection.executemany(_FORGET_TEXT, numbers)
    connection.executemany(_FORGET_CJK, numbers)
    connection.executemany("DELETE FROM lookup WHERE edge IN (SELECT id FROM edge WHERE document = ?)", numbers)
    for table in _OF_DOCUMENTS:
        connection.executemany(f"DELETE FROM {table} WHERE document = ?", numbers)  # noqa: S608 - names of ours
    connection.executemany("DELETE FROM document WHERE id = ?", numbers)


def remove_all(connection: sqlite3.Connection) -> None:
    """Empty the index."""
    for table in _FULL_TEXT:
        connection.execute(f"INSERT INTO {table} ({table}) VALUES ('delete-all')")  # noqa: S608 - names of ours
    for table in ("lookup", *_OF_DOCUMENTS, "document", "meta"):
        connection.execute(f"DELETE FROM {table}")  # noqa: S608 - names of ours


@contextmanager
def in_bulk(connection: sqlite3.Connection, *, wanted: bool) -> Iterator[None]:
    """Insert many documents into an empty index: the row indexes are built once, at the end; full text is written in
    few large pieces, for `merge_full_text`. Documents themselves stay in order meanwhile, since ids and sites are
    queried."""
    if not wanted:
        yield
        return
    indexes = connection.execute(
        "SELECT name, sql FROM sqlite_schema WHERE type = 'index' AND sql <> '' AND tbl_name <> 'document'"
    ).fetchall()
    for name, _ in indexes:
        connection.execute(f"DROP INDEX {name}")
    _configure_full_text(connection, _LARGE_PIECES)
    yield
    for _, statement in indexes:
        connection.execute(statement)
    _configure_full_text(connection, _SMALL_PIECES)


def merge_full_text(connection: sqlite3.Connection) -> None:
    """Make one piece of those that full text was written in: a search looks into each of them."""
    for table in _FULL_TEXT:
        connection.execute(f"INSERT INTO {table} ({table}) VALUES ('optimize')")  # noqa: S608 - names of ours


_LARGE_PIECES = {"hashsize": 16 * 1024 * 1024, "automerge": 0, "crisismerge": 8}
_SMALL_PIECES = {"hashsize": 1024 * 1024, "automerge": 4, "crisismerge": 16}
"""How many bytes FTS5 holds in memory before it writes a piece, and how many pieces it merges; the last are its own
values."""


def _configure_full_text(connection: sqlite3.Connection, settings: Mapping[str, int]) -> None:
    for table in _FULL_TEXT:
        statement = f"INSERT INTO {table} ({table}, rank) VALUES (?, ?)"  # noqa: S608 - names of ours
        connection.executemany(statement, settings.items())


def restamp(connection: sqlite3.Connection, items: Iterable[Item]) -> None:
    """Note that files are as they were, though the system says something else of them."""
    rows: list[Row] = [(*each.found.stamp, each.id) for each in items]
    connection.executemany("UPDATE document SET size = ?, mtime_ns = ?, ctime_ns = ?, inode = ? WHERE id = ?", rows)


def set_meta(connection: sqlite3.Connection, name: str, value: str) -> None:
    """Store a value about the whole index."""
    connection.execute("INSERT OR REPLACE INTO meta VALUES (?, ?)", (name, value))


def meta(connection: sqlite3.Connection, name: str) -> str:
    """Return a stored note, or an empty text."""
    row = connection.execute("SELECT value FROM meta WHERE name = ?", (name,)).fetchone()
    return "" if row is None else str(row[0])
