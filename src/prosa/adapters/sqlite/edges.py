"""Nodes and edges out of the index. In: a connection, and the path of a document or nothing for all. Out: the values of
`graph`, as `graph.build` would make them of the same documents."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Iterator, Mapping

from prosa.data import Value
from prosa.graph.node import Edge, Node

_NODES = "SELECT node, path, dialect, title, type, url FROM document"

_EDGES = """SELECT s.node, e.target, t.node, e.rel, e.origin, e.line, e.state, e.start, e."end", e.kind, e.strength,
  e.bidirectional, e.fragment, e.exact, e.candidates
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


def _edges(connection: sqlite3.Connection, rows: Iterable[tuple[Value, ...]]) -> Iterator[Edge]:
    """Return the edges of few rows, with candidates queried one by one."""
    rows = list(rows)
    wanted = {number for row in rows if row[-1] for number in json.loads(row[-1])}
    ids = {
        number: node
        for each in wanted
        for number, node in connection.execute("SELECT id, node FROM document WHERE id = ?", (each,))
    }
    return (_edge(row, ids) for row in rows)


def _edge(row: tuple[Value, ...], ids: Mapping[int, str]) -> Edge:
    source, target, node, rel, origin, line, state, start, end, kind, strength, two_way, fragment, exact, others = row
    return Edge(
        *(source, target if node is None else node, rel, origin, line, state, start, end, kind, strength),
        *(bool(two_way), fragment, bool(exact)),
        tuple(ids[each] for each in json.loads(others) if each in ids) if others else (),
    )
