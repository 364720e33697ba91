"""The records of documents from the index, for callers that need few of many: by path, by key, by their references.

In: a connection and which paths count. Out: records, in the order of their paths. Nothing is cached.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Iterable, Iterator
from itertools import islice

from msgspec import Struct

from prosa.adapters.sqlite import naming
from prosa.adapters.sqlite.linking import records_of, stored_records
from prosa.dialects import DialectName
from prosa.graph.names import Key
from prosa.graph.record import Record
from prosa.graph.sites import Sites

BATCH = 500
"""Documents whose records are in memory together."""

_ASKING = """SELECT e.document FROM lookup l JOIN edge e ON e.id = l.edge WHERE l.space = ? AND l.name = ?"""
_CALLED = """SELECT d.path, d.dialect FROM key k JOIN document d ON d.id = k.document
  WHERE k.space = ? AND k.name = ? ORDER BY d.path"""


class StoredRecords(Struct, frozen=True):
    """The records of the documents whose paths are ``wanted``."""

    connection: sqlite3.Connection
    wanted: Callable[[str], bool]

    def sites(self) -> Sites | None:
        """Return the sites that these documents form, as long as the keys of the index rest on the same ones; else
        None."""
        given = naming.given_root(self.connection)
        found = naming.sites_among(self.connection, self.wanted, given=given)
        return found if found == naming.kept_sites(self.connection) else None

    def paths(self) -> list[str]:
        """Return their paths in order."""
        rows = self.connection.execute("SELECT path FROM document ORDER BY path")
        return [path for (path,) in rows if self.wanted(path)]

    def record(self, path: str) -> Record | None:
        """Return the record of a document, None where there is none."""
        row = self.connection.execute("SELECT id FROM document WHERE path = ?", (path,)).fetchone()
        return next(records_of(self.connection, [row[0]]))[1] if row is not None and self.wanted(path) else None

    def records(self) -> Iterator[Record]:
        """Return all of them."""
        return (record for _, record in stored_records(self.connection) if self.wanted(record.path))

    def called(self, key: Key) -> list[Record]:
        """Return the documents that answer to a key: records of path and dialect alone."""
        return [Record(*row) for row in self.connection.execute(_CALLED, key) if self.wanted(row[0])]

    def asking(self, keys: Iterable[Key], dialect: DialectName | None = None) -> Iterator[Record]:
        """Yield the documents, with a ``dialect`` only its, with a reference that looks under any of some keys."""
        numbers = {number for key in keys for (number,) in self.connection.execute(_ASKING, key)}
        question = "SELECT path, dialect FROM document WHERE id = ?"
        found = ((self.connection.execute(question, (each,)).fetchone(), each) for each in numbers)
        rows = sorted((path, each) for (path, name), each in found if dialect in (None, name))
        waiting = iter([number for path, number in rows if self.wanted(path)])
        while batch := list(islice(waiting, BATCH)):
            yield from sorted((record for _, record in records_of(self.connection, batch)), key=lambda each: each.path)

    def owners(self, name: str) -> list[Record]:
        """Return the documents that give themselves an id."""
        question = """SELECT DISTINCT d.id, d.path FROM definition f JOIN document d ON d.id = f.document
          WHERE f.kind = 'id' AND f.name = ? ORDER BY d.path"""
        numbers = [id_ for id_, path in self.connection.execute(question, (name,)) if self.wanted(path)]
        return [record for each in numbers for _, record in records_of(self.connection, [each])]

    def ids(self) -> set[str]:
        """Return all ids that documents give themselves."""
        rows = self.connection.execute(
            "SELECT f.name, d.path FROM definition f JOIN document d ON d.id = f.document WHERE f.kind = 'id'"
        )
        return {name for name, path in rows if self.wanted(path)}

    def standing(self) -> Iterator[tuple[str, DialectName, tuple[str, ...]]]:
        """Path, dialect and canonical URLs of the documents that may make a site."""
        for path, dialect, urls in naming.site_rows(self.connection):
            if self.wanted(path):
                yield path, dialect, tuple(json.loads(urls))
