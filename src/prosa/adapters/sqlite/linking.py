"""Keys and edges: the target of each reference, for all documents or for those affected by a change.

In: records, or the numbers of documents that changed. Out: rows of `key`, `edge` and `lookup`. `graph` defines keys
and look-ups; they are only stored here, so that a reference is resolved again exactly if one of its keys has changed.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from msgspec import Struct

from prosa.adapters.sqlite.packing import Row
from prosa.data import Value
from prosa.dialects.magi.relationships import normal_rel
from prosa.graph.keys import keys_of, tiers_of
from prosa.graph.names import Key, Names
from prosa.graph.record import Definition, Record, Reference
from prosa.graph.resolve import Resolution, resolve_tiers
from prosa.graph.sites import Sites

BATCH = 500
"""Documents whose edges are written in one go."""


def link_all(
    connection: sqlite3.Connection,
    records: Sequence[Iterable[tuple[int, Record]]],
    sites: Sites,
    ready: Callable[[], None],
) -> None:
    """Write the keys and edges of all documents into empty tables. ``records`` are iterated twice. The connection is
    not used before ``ready`` has been called."""
    rows = [(Numbered(number, record.path), keys_of(record, sites)) for some in records for number, record in some]
    rows.sort(key=lambda row: row[0].path)
    names = KnownNames.of(rows)
    ready()
    _write_keys(connection, rows)
    last = 0
    for some in records:
        last = _write_edges(connection, some, sites, names, last)


def _write_keys(connection: sqlite3.Connection, rows: Iterable[tuple[Numbered, Sequence[Key]]]) -> None:
    keys = sorted((*key, document.id) for document, some in rows for key in some)
    connection.executemany("INSERT INTO key VALUES (?, ?, ?)", keys)


def _write_edges(
    connection: sqlite3.Connection,
    records: Iterable[tuple[int, Record]],
    sites: Sites,
    names: Names[Numbered],
    last: int,
) -> int:
    """Return the edges of some documents, with numbers from ``last`` + 1 on; gives the last number."""
    edges: list[Row] = []
    lookups: list[Row] = []
    for number, record in records:
        for at, reference in enumerate(record.references):
            last += 1
            tiers = tiers_of(record, reference, sites)
            lookups += [(*key, last) for key in dict.fromkeys(key for tier in tiers for key in tier.keys)]
            edges.append((last, number, at, *_edge(reference, resolve_tiers(record, reference, tiers, names))))
    connection.executemany(_EDGE, edges)
    connection.executemany("INSERT INTO lookup VALUES (?, ?, ?)", sorted(lookups))
    return last


_EDGE = f"INSERT INTO edge VALUES (?{', ?' * 16})"  # noqa: S608 - only question marks


def _edge(reference: Reference, found: Resolution[Numbered]) -> Row:
    """Return the columns of an edge from `origin` on."""
    rel = reference.rel.strip() if reference.rel else ""
    return (
        *(reference.origin, reference.target, reference.kind, normal_rel(rel) if rel else None, reference.strength),
        *(reference.bidirectional, reference.fragment, reference.start, reference.end, reference.line),
        *_where(found),
    )


def _where(found: Resolution[Numbered]) -> Row:
    """Return `state`, `target_document`, `exact` and `candidates`."""
    if found.state == "resolved":
        return found.state, found.targets[0].id, found.exact, None
    candidates = [each.id for each in found.targets]
    return found.state, None, found.exact, json.dumps(candidates) if candidates else None


def link_some(
    connection: sqlite3.Connection,
    records: Sequence[tuple[int, Record]],
    before: Iterable[tuple[Key, int]],
    sites: Sites,
) -> None:
    """Write the keys and edges of documents that were added or changed, and follow again every reference elsewhere that
    asks for a key which they, or documents that were removed, have gained or lost. ``before`` are the keys that all of
    these had, with the number of the document."""
    rows = [(Numbered(number, record.path), keys_of(record, sites)) for number, record in records]
    _write_keys(connection, rows)
    names = StoredNames(connection)
    (last,) = connection.execute("SELECT coalesce(max(id), 0) FROM edge").fetchone()
    _write_edges(connection, records, sites, names, last)
    after = {(key, document.id) for document, keys in rows for key in keys}
    touched = sorted({key for key, _ in after ^ set(before)})
    _follow_again(connection, touched, {number for number, _ in records}, sites, names)


def _follow_again(
    connection: sqlite3.Connection, keys: Iterable[Key], done: set[int], sites: Sites, names: Names[Numbered]
) -> None:
    edges = {
        edge
        for key in keys
        for (edge,) in connection.execute("SELECT edge FROM lookup WHERE space = ? AND name = ?", key)
    }
    for edge in sorted(edges):
        row = connection.execute(_WRITTEN_EDGE, (edge,)).fetchone()
        if row is not None and row[0] not in done:
            record, reference = Record(row[1], row[2]), _reference(row[3:])
            found = resolve_tiers(record, reference, tiers_of(record, reference, sites), names)
            connection.execute(_SET_EDGE, (*_where(found), edge))


_WRITTEN_EDGE = """SELECT d.id, d.path, d.dialect, e.origin, e.target, e.kind, e.start, e."end", e.line, e.rel,
  e.strength, e.bidirectional, e.fragment FROM edge e JOIN document d ON d.id = e.document WHERE e.id = ?"""

_SET_EDGE = "UPDATE edge SET state = ?, target_document = ?, exact = ?, candidates = ? WHERE id = ?"


def _reference(row: Sequence[Value]) -> Reference:
    return Reference(*row)


def stored_records(connection: sqlite3.Connection) -> Iterator[tuple[int, Record]]:
    """Return the stored records of all documents, for linking them again."""
    return _records(connection, "", ())


def records_of(connection: sqlite3.Connection, documents: Sequence[int]) -> Iterator[tuple[int, Record]]:
    """Return the same of some documents, few enough for one statement."""
    return _records(connection, f"IN ({', '.join('?' * len(documents))})", documents)


def _records(connection: sqlite3.Connection, some: str, values: Sequence[int]) -> Iterator[tuple[int, Record]]:
    which, of = (f"WHERE {column} {some}" if some else "" for column in ("id", "document"))
    definitions = _by_document(connection, f"{_DEFINITIONS} {of} ORDER BY rowid", values)
    references = _by_document(connection, f"{_REFERENCES} {of} ORDER BY document, seq", values)
    columns = "id, path, dialect, title, type, canonical, actions"
    rows = connection.execute(f"SELECT {columns} FROM document {which} ORDER BY id", values)  # noqa: S608 - numbers
    for number, path, dialect, title, kind, canonical, actions in rows:
        yield (
            number,
            Record(
                *(path, dialect, title, kind),
                tuple(Definition(*each) for each in definitions.get(number, ())),
                tuple(_reference(each) for each in references.get(number, ())),
                tuple(json.loads(canonical)),
                tuple(json.loads(actions)),
            ),
        )


_DEFINITIONS = 'SELECT document, kind, name, start, "end", line FROM definition'
_REFERENCES = """SELECT document, origin, target, kind, start, "end", line, rel, strength, bidirectional, fragment
  FROM edge"""


def _by_document(connection: sqlite3.Connection, question: str, values: Sequence[int]) -> dict[int, list[Row]]:
    found: dict[int, list[Row]] = {}
    for number, *rest in connection.execute(question, values):
        found.setdefault(number, []).append(tuple(rest))
    return found


def unlink_all(connection: sqlite3.Connection) -> None:
    """Remove all keys and edges."""
    for table in ("lookup", "edge", "key"):
        connection.execute(f"DELETE FROM {table}")  # noqa: S608 - names of ours


# Names of documents: in memory while a whole index is built, in the index itself when little has changed.
#
# In: keys. Out: the documents that answer to them, in the order of their paths (`graph.names.Names`).


class Numbered(NamedTuple):
    """A document by its number in the index."""

    id: int
    path: str


class KnownNames(Struct, frozen=True):
    """Names in memory. Most keys lead to one document, so one that does holds it without a list."""

    known: Mapping[Key, Numbered | list[Numbered]]

    @classmethod
    def of(cls, rows: Iterable[tuple[Numbered, Iterable[Key]]]) -> KnownNames:
        """Return the names of documents, which come in the order of their paths."""
        known: dict[Key, Numbered | list[Numbered]] = {}
        for document, keys in rows:
            for key in keys:
                before = known.setdefault(key, document)
                if before is not document:
                    known[key] = [before, document] if isinstance(before, Numbered) else [*before, document]
        return cls(known)

    def find(self, key: Key) -> Sequence[Numbered]:
        """Return the documents that answer to a key."""
        found = self.known.get(key, ())
        return (found,) if isinstance(found, Numbered) else found


class StoredNames(Struct, frozen=True):
    """Names in the index."""

    connection: sqlite3.Connection

    def find(self, key: Key) -> Sequence[Numbered]:
        """Return the documents that answer to a key."""
        rows = self.connection.execute(
            "SELECT d.id, d.path FROM key k JOIN document d ON d.id = k.document WHERE k.space = ? AND k.name = ?"
            " ORDER BY d.path",
            key,
        )
        return [Numbered(*row) for row in rows]
