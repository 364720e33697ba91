"""The index of a corpus: opened, refreshed, and queried.

In: a path in the private folder of indexes. Out: `Index`. Its answers reflect the documents at the last refresh; the
next refresh rebuilds a broken file.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from prosa.adapters.sqlite import edges, finding, opening, place
from prosa.adapters.sqlite.reading import Reading
from prosa.adapters.sqlite.refresh import IndexFile, Replaced, refresh, refresh_some, writing_to
from prosa.adapters.sqlite.writing import meta
from prosa.corpus.found import Refreshed, Scan
from prosa.data.surrogates import has_surrogate
from prosa.graph.graph import Graph
from prosa.graph.node import Edge, Node


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
        if self._writer is not None and place.inode_of(self.path) not in (0, self._inode):
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
        return not meta(self.writer(), "mark")

    def documents(self) -> list[Node]:
        """Return all documents, by path."""
        return edges.nodes(self.connection())

    def graph(self) -> Graph:
        """Return all nodes and edges."""
        return Graph.of(edges.nodes(self.connection()), edges.all_edges(self.connection()))

    def node_at(self, path: str) -> Node | None:
        """Return the document at a path."""
        return None if has_surrogate(path) else edges.node_at(self.connection(), path)

    def node(self, name: str) -> Node | None:
        """Return the document that people call ``name``: its path, its id, its file name with or without suffix, or the
        beginning of one of these. None where no document is called so, or several are."""
        return finding.find_node(self.connection(), name)

    def near(self, name: str) -> list[str]:
        """Return the paths of documents that may be meant by a name that leads to none, the likeliest first."""
        return finding.near_misses(self.connection(), name)

    def edges_from(self, path: str) -> list[Edge]:
        """Return the edges from a document, in their order."""
        return edges.edges_from(self.connection(), path)

    def edges_to(self, path: str) -> list[Edge]:
        """Return what points at a document, and leads to it alone (Y22)."""
        return edges.edges_to(self.connection(), path)
