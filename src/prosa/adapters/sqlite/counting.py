"""The numbers of a corpus, counted in its index. In: a connection and its file. Out: `Statistics`."""

from __future__ import annotations

import contextlib
import sqlite3
from pathlib import Path

from prosa.adapters.sqlite.place import COMPANIONS
from prosa.adapters.sqlite.writing import meta
from prosa.corpus.statistics import Linked, Statistics
from prosa.graph.node import Node

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
    for each in COMPANIONS:
        with contextlib.suppress(OSError):
            size += Path(f"{path}{each}").stat().st_size
    return size
