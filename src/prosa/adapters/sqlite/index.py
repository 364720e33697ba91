"""The index of a corpus: opened, refreshed, and queried for nodes, edges, numbers, and a document by what people call
it.

Answers reflect the documents at the last refresh; the next refresh rebuilds a broken file.
"""

from __future__ import annotations

import contextlib
import json
import posixpath
import sqlite3
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from msgspec import Struct
from msgspec.structs import replace

from prosa.adapters.sqlite import opening
from prosa.adapters.sqlite.opening import COMPANIONS
from prosa.adapters.sqlite.reading import Reading
from prosa.adapters.sqlite.refresh import IndexFile, Replaced, refresh, refresh_some, writing_to
from prosa.adapters.sqlite.writing import meta
from prosa.corpus.found import Refreshed, Scan
from prosa.corpus.statistics import Linked, Statistics
from prosa.data.surrogates import has_surrogate
from prosa.diagnostics.nearest import nearest
from prosa.graph.graph import Graph
from prosa.graph.node import Edge, Node
from prosa.source.files import compared_name

if TYPE_CHECKING:
    from prosa.document.references import Origin, RefKind
    from prosa.graph.node import State


class Index(Struct):
    """One index. Several threads may use it, one at a time. ``wait`` are the seconds to wait for another writer."""

    path: Path
    wait: float = opening.WAIT_SECONDS
    _writer: sqlite3.Connection | None = None
    _reader: sqlite3.Connection | None = None
    _inode: int = 0
    _healed: str = ""

    def close(self) -> None:
        """Close open connections. The index can be used again."""
        for connection in (self._reader, self._writer):
            if connection is not None:
                connection.close()
        self._reader = self._writer = None

    def connection(self) -> sqlite3.Connection:
        """Return a connection that only reads, and never waits for a writer. Raises `IndexProblem`."""
        if self._reader is None:
            if self._writer is None and opening.is_frozen(self.path):
                self._reader = opening.open_frozen(self.path)
            else:
                self.writer()
                self._reader = opening.open_reader(self.path)
        return self._reader

    def writer(self) -> sqlite3.Connection:
        """Return the connection that may write. Raises `IndexProblem`."""
        if self._writer is None:
            self._writer, self._inode, healed = opening.open_index(self.path, wait=self.wait)
            self._healed = self._healed or healed
        return self._writer

    @contextmanager
    def writing(self) -> Iterator[sqlite3.Connection]:
        """Return one transaction, for data that is not read from documents: computed vectors."""
        self._follow()
        with writing_to(self._file()):
            yield self.writer()

    def refresh(self, scan: Scan, reading: Reading, *, anew: bool = False) -> Refreshed:
        """Make the index hold the documents of ``scan`` and no others; with ``anew`` all of them are read again. A
        broken file is rebuilt. Raises `IndexProblem`."""
        return self._healing(lambda: refresh(self._file(), scan, reading, anew=anew))

    def refresh_some(self, scan: Scan, gone: Collection[str], reading: Reading) -> Refreshed:
        """Bring single documents up to date; ``gone`` are paths of documents that are no more. Raises `StaleIndex`
        where only a whole refresh helps, and `IndexProblem`."""
        return self._healing(lambda: refresh_some(self._file(), scan, gone, reading))

    def _healing(self, work: Callable[[], Refreshed]) -> Refreshed:
        """Do the work, once more on a new index where the file turns out to be broken."""
        try:
            report = self._current(work)
        except opening.DAMAGE as error:
            self.discard(error)
            report = self._current(work)
        healed, self._healed = self._healed, ""
        return replace(report, healed=healed)

    def _current(self, work: Callable[[], Refreshed]) -> Refreshed:
        """Do the work on the file that lies there now: another process may put a new one in its place (X10)."""
        while True:
            self._follow()
            try:
                report = work()
            except Replaced:
                continue
            self._follow()
            return report

    def _follow(self) -> None:
        """Leave a file that was replaced."""
        if self._writer is not None and opening.inode_of(self.path) not in (0, self._inode):
            self.close()

    def _file(self) -> IndexFile:
        return IndexFile(self.writer(), self.path, self._inode)

    def discard(self, error: Exception) -> None:
        """Remove the file after an error that shows damage, so that it is rebuilt. Raises `IndexProblem` for other
        errors: the file is locked, the disk is full."""
        self.close()
        problem = opening.unusable(error, self.path)
        if problem is not None:
            raise problem from None
        self._healed = opening.complaint_of(error)
        opening.replace(self.path, self._inode)

    @property
    def is_new(self) -> bool:
        """Whether no refresh has ever filled it: then it says nothing about the documents. Raises `IndexProblem`."""
        return not meta(self._writer or self.connection(), "mark")

    def documents(self) -> list[Node]:
        """Return all documents, by path."""
        return nodes(self.connection())

    def graph(self) -> Graph:
        """Return all nodes and edges."""
        return Graph.of(nodes(self.connection()), all_edges(self.connection()))

    def node_at(self, path: str) -> Node | None:
        """Return the document at a path."""
        return None if has_surrogate(path) else node_at(self.connection(), path)

    def node(self, name: str) -> Node | None:
        """Return the document that people call ``name``: its path, its id, its file name with or without suffix, or the
        beginning of one of these. None where no document is called so, or several are."""
        return find_node(self.connection(), name)

    def near(self, name: str) -> list[str]:
        """Return the paths of documents that may be meant by a name that leads to none, the likeliest first."""
        return near_misses(self.connection(), name)

    def edges_from(self, path: str) -> list[Edge]:
        """Return the edges from a document, in their order."""
        return edges_from(self.connection(), path)

    def edges_to(self, path: str) -> list[Edge]:
        """Return what points at a document, and leads to it alone (Y22)."""
        return edges_to(self.connection(), path)


MAX_NEAR = 5
"""Other documents that are named."""

MAX_COMPARED = 20_000
"""Names that a wrong one is compared with."""

_BY_NAME = (
    "SELECT path FROM document WHERE node = ?1",
    "SELECT path FROM document WHERE own = ?1 AND own <> ''",
    "SELECT d.path FROM key k JOIN document d ON d.id = k.document WHERE k.space = 'stem' AND k.name = ?1",
    "SELECT path FROM document WHERE path LIKE '%/' || ?2 ESCAPE '\\'",
    "SELECT d.path FROM key k JOIN document d ON d.id = k.document WHERE k.space = 'stem~' AND k.name = ?3",
    "SELECT path FROM document WHERE path LIKE ?2 || '%' ESCAPE '\\'",
    "SELECT path FROM document WHERE node LIKE ?2 || '%' ESCAPE '\\'",
    "SELECT path FROM document WHERE path LIKE '%/' || ?2 || '%' ESCAPE '\\'",
)
"""Questions in the order in which they count; ?1 is the name, ?2 the same for LIKE, ?3 its stem in small letters."""


def find_node(connection: sqlite3.Connection, name: str) -> Node | None:
    """Return the document named ``name``; None if there is none, or several."""
    paths = _found(connection, name)
    return node_at(connection, paths[0]) if len(paths) == 1 else None


def near_misses(connection: sqlite3.Connection, name: str) -> list[str]:
    """Return the paths of documents that may be meant: those that share the name, else those with one like it."""
    paths = _found(connection, name)
    if paths or not name:
        return paths[:MAX_NEAR]
    rows = connection.execute("SELECT path, node, title FROM document LIMIT ?", (MAX_COMPARED,)).fetchall()
    by_name: dict[str, str] = {}
    for path, node, title in rows:
        for alias in (path, posixpath.basename(path), posixpath.splitext(posixpath.basename(path))[0], node, title):
            by_name.setdefault(alias, path)
    near = nearest(name, by_name)
    return [by_name[near]] if near is not None else []


def _found(connection: sqlite3.Connection, name: str) -> list[str]:
    """Return the paths of all documents called ``name`` in the first way that any is."""
    name = posixpath.normpath(name) if name.startswith("./") else name
    if not name or has_surrogate(name):
        return []
    if node_at(connection, name) is not None:
        return [name]
    stem = compared_name(posixpath.splitext(posixpath.basename(name))[0]).casefold()
    like = name.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")
    for question in _BY_NAME:
        parameters = tuple(value for mark, value in (("?1", name), ("?2", like), ("?3", stem)) if mark in question)
        paths = [path for (path,) in connection.execute(_plain(question), parameters)]
        if paths:
            return sorted(set(paths))
    return []


def _plain(question: str) -> str:
    return question.replace("?1", "?").replace("?2", "?").replace("?3", "?")


_NODES = "SELECT node, path, dialect, title, type, url FROM document"

_EDGES = """SELECT s.node, e.target, t.node, e.rel, e.origin, e.line, e.state, e.start, e."end", e.kind, e.strength,
  e.bidirectional, e.fragment, e.exact, e.range, e.candidates
  FROM edge e JOIN document s ON s.id = e.document LEFT JOIN document t ON t.id = e.target_document"""


def nodes(connection: sqlite3.Connection) -> list[Node]:
    """Return all documents, by path."""
    return [Node(*row) for row in connection.execute(f"{_NODES} ORDER BY path")]


def node_at(connection: sqlite3.Connection, path: str) -> Node | None:
    """Return the document at a path."""
    row = connection.execute(f"{_NODES} WHERE path = ?", (path,)).fetchone()
    return None if row is None else Node(*row)


def all_edges(connection: sqlite3.Connection) -> list[Edge]:
    """Return all edges, by document and place."""
    ids = dict(connection.execute("SELECT id, node FROM document").fetchall())
    rows = connection.execute(f"{_EDGES} ORDER BY e.document, e.seq")
    return [_edge(row, ids) for row in rows]


def edges_from(connection: sqlite3.Connection, path: str) -> list[Edge]:
    """Return the edges from a document, in their order."""
    rows = connection.execute(f"{_EDGES} WHERE s.path = ? ORDER BY e.seq", (path,)).fetchall()
    return list(_edges(connection, rows))


def edges_to(connection: sqlite3.Connection, path: str) -> list[Edge]:
    """Return what leads to a document, by the path of the source and place."""
    rows = connection.execute(f"{_EDGES} WHERE t.path = ? ORDER BY s.path, e.seq", (path,)).fetchall()
    return list(_edges(connection, rows))


_EdgeRow: TypeAlias = """tuple[
    str, str, str | None, str | None, Origin, int, State, int,
    int, RefKind, float | None, int, str, int, str, str | None
]"""
"""The columns of `_EDGES`."""


def _edges(connection: sqlite3.Connection, rows: Iterable[_EdgeRow]) -> Iterator[Edge]:
    """Return the edges of few rows, with candidates queried one by one."""
    rows = list(rows)
    wanted = {number for row in rows if row[-1] for number in json.loads(row[-1])}
    ids = {
        number: node
        for document in wanted
        for number, node in connection.execute("SELECT id, node FROM document WHERE id = ?", (document,))
    }
    return (_edge(row, ids) for row in rows)


def _edge(row: _EdgeRow, ids: Mapping[int, str]) -> Edge:
    source, target, node, rel, origin, line, state, start, end, kind, strength, both, part, exact, range_, others = row
    return Edge(
        *(source, target if node is None else node, rel, origin, line, state, start, end, kind, strength),
        *(bool(both), part, bool(exact)),
        tuple(ids[load] for load in json.loads(others) if load in ids) if others else (),
        range=range_,
    )


MOST_LINKED = 10
"""Documents that are named as the ones most linked to."""

_LINKED = """SELECT d.node, d.path, d.dialect, d.title, d.type, d.url, count(DISTINCT e.document) AS n
  FROM edge e JOIN document d ON d.id = e.target_document
  WHERE e.state = 'resolved' AND e.document <> e.target_document
  GROUP BY d.id ORDER BY n DESC, d.path LIMIT ?"""

_ORPHANS = """SELECT count(*) FROM document d WHERE NOT EXISTS (
  SELECT 1 FROM edge e WHERE e.target_document = d.id AND e.document <> d.id)"""


def statistics(connection: sqlite3.Connection, path: Path, *, most: int = MOST_LINKED) -> Statistics:
    """Return the numbers. Raises `sqlite3.Error`."""
    documents, words = connection.execute("SELECT count(*), coalesce(sum(words), 0) FROM document").fetchone()
    return Statistics(
        documents=documents,
        sections=_count(connection, "SELECT count(*) FROM section"),
        words=words,
        size=_size(path),
        changed_ns=int(meta(connection, "at_ns") or 0),
        embeddings=_count(connection, "SELECT count(*) FROM embedding"),
        dialects=_counts(connection, "SELECT dialect, count(*) FROM document GROUP BY 1"),
        origins=_counts(connection, "SELECT origin, count(*) FROM edge GROUP BY 1"),
        rels=_counts(connection, "SELECT coalesce(rel, ''), count(*) FROM edge GROUP BY 1"),
        states=_counts(connection, "SELECT state, count(*) FROM edge GROUP BY 1"),
        orphans=_count(connection, _ORPHANS),
        linked=tuple(Linked(Node(*row[:-1]), row[-1]) for row in connection.execute(_LINKED, (most,))),
    )


def _count(connection: sqlite3.Connection, question: str) -> int:
    (count,) = connection.execute(question).fetchone()
    return int(count)


def _counts(connection: sqlite3.Connection, question: str) -> dict[str, int]:
    return dict(connection.execute(f"{question} ORDER BY 2 DESC, 1").fetchall())


def _size(path: Path) -> int:
    """Return bytes on the disk, with what SQLite keeps beside the file."""
    size = 0
    for suffix in COMPANIONS:
        with contextlib.suppress(OSError):
            size += Path(f"{path}{suffix}").stat().st_size
    return size
