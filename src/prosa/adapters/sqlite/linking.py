"""Keys and edges, ids and URLs: what depends on all documents of a corpus, kept in the rows of each (interface.md,
HA2).

`graph` defines keys and look-ups; they are only stored here, so that a reference is resolved again exactly if one of
its keys has changed. An id that two documents give themselves, or that is the path of another, is the id of none.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import NamedTuple, TypeVar

from msgspec import Struct

from prosa.adapters.sqlite.writing import Row, meta, set_meta
from prosa.dialects import DialectName
from prosa.dialects.magi.relationships import normal_rel
from prosa.graph.names import Key, Names
from prosa.graph.record import Definition, Record, Reference
from prosa.graph.resolve import Resolution, keys_of, resolve_tiers, tiers_of
from prosa.graph.sites import Sites

T = TypeVar("T")

BATCH = 500
"""Documents whose edges are written in one go."""


def link_all(
    connection: sqlite3.Connection,
    named: Iterable[tuple[int, Record]],
    records: Iterable[Iterable[tuple[int, Record]]],
    sites: Sites,
    ready: Callable[[], None],
) -> None:
    """Write the keys and edges of all documents into empty tables. ``named`` are the ``records`` of all, which need no
    references there. The connection is not used before ``ready`` has been called."""
    rows = [(Numbered(number, record.path), keys_of(record, sites)) for number, record in named]
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
            keys = tiers[0].keys if len(tiers) == 1 else dict.fromkeys(key for tier in tiers for key in tier.keys)
            lookups += [(*key, last) for key in keys]
            edges.append((last, number, at, *_edge(reference, resolve_tiers(record, reference, tiers, names))))
    connection.executemany(_EDGE, edges)
    connection.executemany("INSERT INTO lookup VALUES (?, ?, ?)", sorted(lookups))
    return last


_EDGE = f"INSERT INTO edge VALUES (?{', ?' * 17})"  # noqa: S608 - only question marks


def _edge(reference: Reference, resolution: Resolution[Numbered]) -> Row:
    """Return the columns of an edge from `origin` on."""
    rel = reference.rel.strip() if reference.rel else ""
    return (
        *(reference.origin, reference.target, reference.kind, normal_rel(rel) if rel else None, reference.strength),
        *(reference.bidirectional, reference.fragment, reference.start, reference.end, reference.line),
        *_where(resolution),
        reference.range,
    )


def _where(resolution: Resolution[Numbered]) -> Row:
    """Return `state`, `target_document`, `exact` and `candidates`."""
    if resolution.state == "resolved":
        return resolution.state, resolution.targets[0].id, resolution.exact, None
    candidates = [target.id for target in resolution.targets]
    return resolution.state, None, resolution.exact, json.dumps(candidates) if candidates else None


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
            record, reference = Record(row[1], row[2]), Reference(*row[3:])
            resolution = resolve_tiers(record, reference, tiers_of(record, reference, sites), names)
            connection.execute(_SET_EDGE, (*_where(resolution), edge))


_WRITTEN_EDGE = """SELECT d.id, d.path, d.dialect, e.origin, e.target, e.kind, e.start, e."end", e.line, e.rel,
  e.strength, e.bidirectional, e.fragment, e.range FROM edge e JOIN document d ON d.id = e.document WHERE e.id = ?"""

_SET_EDGE = "UPDATE edge SET state = ?, target_document = ?, exact = ?, candidates = ? WHERE id = ?"


def stored_records(connection: sqlite3.Connection) -> Iterator[tuple[int, Record]]:
    """Return the stored records of all documents, for linking them again."""
    return _records(connection, "", ())


def records_of(connection: sqlite3.Connection, documents: Sequence[int]) -> Iterator[tuple[int, Record]]:
    """Return the same of some documents, few enough for one statement."""
    return _records(connection, f"IN ({', '.join('?' * len(documents))})", documents)


def _records(connection: sqlite3.Connection, some: str, values: Sequence[int]) -> Iterator[tuple[int, Record]]:
    which, of = (f"WHERE {column} {some}" if some else "" for column in ("id", "document"))
    definitions = _by_document(connection, f"{_DEFINITIONS} {of} ORDER BY rowid", values, Definition)
    references = _by_document(connection, f"{_REFERENCES} {of} ORDER BY document, seq", values, Reference)
    columns = "id, path, dialect, title, type, canonical, actions"
    rows = connection.execute(f"SELECT {columns} FROM document {which} ORDER BY id", values)  # noqa: S608 - numbers
    for number, path, dialect, title, kind, canonical, actions in rows:
        yield (
            number,
            Record(
                *(path, dialect, title, kind),
                tuple(definitions.get(number, ())),
                tuple(references.get(number, ())),
                tuple(json.loads(canonical)),
                tuple(json.loads(actions)),
            ),
        )


_DEFINITIONS = 'SELECT document, kind, name, start, "end", line FROM definition'
_REFERENCES = """SELECT document, origin, target, kind, start, "end", line, rel, strength, bidirectional, fragment,
  range FROM edge"""


def _by_document(
    connection: sqlite3.Connection, question: str, values: Sequence[int], made: Callable[..., T]
) -> dict[int, list[T]]:
    by_number: dict[int, list[T]] = {}
    for number, *rest in connection.execute(question, values):
        by_number.setdefault(number, []).append(made(*rest))
    return by_number


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
        documents = self.known.get(key, ())
        return (documents,) if isinstance(documents, Numbered) else documents


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


_NODE = """UPDATE document SET node = CASE
  WHEN own <> ''
    AND NOT EXISTS (SELECT 1 FROM document o WHERE o.own = document.own AND o.own <> '' AND o.id <> document.id)
    AND NOT EXISTS (SELECT 1 FROM document p WHERE p.path = document.own)
  THEN own ELSE path END"""

_OF_SITES = """SELECT path, dialect, canonical FROM document
  WHERE dialect = 'mdh' OR path LIKE '%readme.%' OR path LIKE '%index.%'"""


def name_all(connection: sqlite3.Connection) -> None:
    """Return every document the id of its node."""
    connection.execute(f"{_NODE} WHERE own <> ''")


def name_some(connection: sqlite3.Connection, documents: Iterable[int], names: Iterable[str]) -> None:
    """Return documents the ids of their nodes, and all others that call themselves by one of ``names``: the ids and
    paths that documents have gained or lost."""
    connection.executemany(f"{_NODE} WHERE id = ?", [(number,) for number in documents])
    connection.executemany(f"{_NODE} WHERE own = ?1 AND own <> ''", [(name,) for name in names if name])


def find_sites(connection: sqlite3.Connection, *, given: bool) -> Sites:
    """Return the sites that the documents of the index form."""
    return sites_among(connection, lambda _: True, given=given)


def sites_among(connection: sqlite3.Connection, wanted: Callable[[str], bool], *, given: bool) -> Sites:
    """Return the sites that those documents form whose paths are ``wanted``."""
    rows = [row for row in site_rows(connection) if wanted(row[0])]
    nodes = ((path, urls) for path, dialect, urls in rows if dialect == "mdh" and urls != "[]")
    canonical = ((path, url) for path, urls in nodes for url in json.loads(urls))
    return Sites.of(((path, dialect) for path, dialect, _ in rows), canonical, given=given)


def site_rows(connection: sqlite3.Connection) -> list[tuple[str, DialectName, str]]:
    """Path, dialect and canonical URLs, as JSON, of the documents that may make a site."""
    return connection.execute(_OF_SITES).fetchall()


def given_root(connection: sqlite3.Connection) -> bool:
    """Return whether the user had named the root when the index was brought up to date."""
    return meta(connection, "given") == str(True)


def kept_sites(connection: sqlite3.Connection) -> Sites | None:
    """Return the sites that the edges of the index rest on; None where there are no edges yet."""
    text = meta(connection, "sites")
    if not text:
        return None
    roots, origins, readmes = json.loads(text)
    return Sites(frozenset(roots), frozenset((origin, root) for origin, root in origins), frozenset(readmes))


def keep_sites(connection: sqlite3.Connection, sites: Sites) -> None:
    """Note the sites, and write the URLs of nodes that they change."""
    set_meta(connection, "sites", json.dumps([sorted(sites.roots), sorted(sites.origins), sorted(sites.readmes)]))
    rows = connection.execute("SELECT id, path, url FROM document WHERE dialect = 'mdh'").fetchall()
    urls = [(url, number) for number, path, before in rows if (url := sites.url_of(path)) != before]
    connection.executemany("UPDATE document SET url = ? WHERE id = ?", urls)


def url_some(connection: sqlite3.Connection, documents: Iterable[int], sites: Sites) -> None:
    """Write the URLs of some nodes."""
    for number in documents:
        row = connection.execute("SELECT path FROM document WHERE id = ? AND dialect = 'mdh'", (number,)).fetchone()
        if row is not None:
            connection.execute("UPDATE document SET url = ? WHERE id = ?", (sites.url_of(row[0]), number))


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
        is_given = given_root(self.connection)
        sites = sites_among(self.connection, self.wanted, given=is_given)
        return sites if sites == kept_sites(self.connection) else None

    def paths(self) -> list[str]:
        """Return their paths in order."""
        rows = self.connection.execute("SELECT path FROM document ORDER BY path")
        return [path for (path,) in rows if self.wanted(path)]

    def record(self, path: str) -> Record | None:
        """Return the record of a document, None where there is none."""
        row = self.connection.execute("SELECT id FROM document WHERE path = ?", (path,)).fetchone()
        return next(records_of(self.connection, [row[0]]))[1] if row is not None and self.wanted(path) else None

    def outline(self, path: str) -> Record | None:
        """Return the same: it is stored."""
        return self.record(path)

    def records(self) -> Iterator[Record]:
        """Return all of them."""
        return (record for _, record in stored_records(self.connection) if self.wanted(record.path))

    def called(self, key: Key) -> list[Record]:
        """Return the documents that answer to a key: records of path and dialect alone."""
        return [Record(*row) for row in self.connection.execute(_CALLED, key) if self.wanted(row[0])]

    def asking(
        self, keys: Iterable[Key], dialect: DialectName | None = None, *, besides: Collection[str] = ()
    ) -> Iterator[Record]:
        """Yield the documents, with a ``dialect`` only its, with a reference that looks under any of some keys, without
        those at the paths ``besides``."""
        numbers = {number for key in keys for (number,) in self.connection.execute(_ASKING, key)}
        question = "SELECT path, dialect FROM document WHERE id = ?"
        pairs = ((self.connection.execute(question, (number,)).fetchone(), number) for number in numbers)
        rows = sorted((path, number) for (path, name), number in pairs if dialect in (None, name))
        waiting = iter([number for path, number in rows if path not in besides and self.wanted(path)])
        while batch := list(islice(waiting, BATCH)):
            yield from sorted(
                (record for _, record in records_of(self.connection, batch)), key=lambda record: record.path
            )

    def owners(self, name: str) -> list[Record]:
        """Return the documents that give themselves an id."""
        question = """SELECT DISTINCT d.id, d.path FROM definition f JOIN document d ON d.id = f.document
          WHERE f.kind = 'id' AND f.name = ? ORDER BY d.path"""
        numbers = [id_ for id_, path in self.connection.execute(question, (name,)) if self.wanted(path)]
        return [record for number in numbers for _, record in records_of(self.connection, [number])]

    def ids(self) -> set[str]:
        """Return all ids that documents give themselves."""
        rows = self.connection.execute(
            "SELECT f.name, d.path FROM definition f JOIN document d ON d.id = f.document WHERE f.kind = 'id'"
        )
        return {name for name, path in rows if self.wanted(path)}

    def standing(self) -> Iterator[tuple[str, DialectName, tuple[str, ...]]]:
        """Path, dialect and canonical URLs of the documents that may make a site."""
        for path, dialect, urls in site_rows(self.connection):
            if self.wanted(path):
                yield path, dialect, tuple(json.loads(urls))
