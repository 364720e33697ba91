"""Vectors in the index: which sections have none yet, those that were made, and what lies near a query.

In: an open index and the name of a model; vectors of other models are never compared with it (YW7). Out: sections to be
made, or ranked sections. Who computes a vector, and where, is not decided here; what may be sent is (X6).
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import NamedTuple, TypeAlias

from prosa.adapters.sqlite.search import allowed_documents, prepare
from prosa.adapters.sqlite.search_filter import filter_condition
from prosa.adapters.sqlite.search_hits import Found
from prosa.corpus.embedding import SECRET, digest_of, embedded_text
from prosa.corpus.search import Search
from prosa.corpus.vectors import to_bytes

MAX_KEPT = 200_000
"""Computed vectors that are kept though no section has their text any more: some 300 MB of a common model."""

Nearest: TypeAlias = Callable[
    [Sequence[float], Iterable[tuple["Placed", bytes]], int], Sequence[tuple["Placed", float]]
]
"""`prosa.corpus.vectors.nearest`, or the same in a faster way."""


class Unmade(NamedTuple):
    """A section without a vector: its text for embedding, and the digest of that."""

    section: int
    document: int
    text: str
    sha256: str


class Placed(NamedTuple):
    """Where a vector belongs: a section, or 0 for the whole document."""

    section: int
    document: int


_CLASSIFIED = f"""EXISTS (SELECT 1 FROM metadata AS m WHERE m.document = s.document AND (
  lower(m.key) = 'classification' AND (m.kind <> 'text' OR m.n > 0
    OR lower(trim(m.text, char(9, 10, 13, 32))) IN ({", ".join(f"'{name}'" for name in sorted(SECRET))}))
  OR m.key LIKE 'classification.%'))"""  # noqa: S608 - words of ours

_UNMADE = """SELECT s.id, s.document, s.title, s.heading, s.text FROM section AS s
  WHERE NOT EXISTS (SELECT 1 FROM embedding AS e WHERE e.section = s.id AND e.model = :model)
  AND NOT EXISTS (SELECT 1 FROM embedding AS e
    WHERE e.document = s.document AND e.section IS NULL AND e.model = :model AND e.fresh)"""


def unmade(connection: sqlite3.Connection, model: str, *, classified: bool) -> Iterator[Unmade]:
    """Yield the sections without a vector of ``model``, and not of a record that carries one; with ``classified`` those
    of `confidential` and `secret` documents too: that is for a model on this machine alone (X6)."""
    statement = _UNMADE if classified else f"{_UNMADE} AND NOT {_CLASSIFIED}"
    for section, document, title, heading, text in connection.execute(statement, {"model": model}).fetchall():
        whole = embedded_text(title, heading, text)
        if whole:
            yield Unmade(section, document, whole, digest_of(whole))


def file_of(connection: sqlite3.Connection, document: int) -> tuple[str, str]:
    """Return the path of a document, and the digest of its indexed content; empty texts for a deleted one."""
    row = connection.execute("SELECT path, digest FROM document WHERE id = ?", (document,)).fetchone()
    return ("", "") if row is None else (row[0], row[1])


def classified_paths(connection: sqlite3.Connection) -> frozenset[str]:
    """Return the documents that may not be sent anywhere (X6), by themselves or by a meta file (MA18)."""
    documents = "(SELECT id AS document, path FROM document) AS s"
    rows = connection.execute(f"SELECT s.path FROM {documents} WHERE {_CLASSIFIED}")  # noqa: S608 - words of ours
    return frozenset(path for (path,) in rows)


def placed(connection: sqlite3.Connection, model: str, wanted: Iterable[Unmade]) -> list[Unmade]:
    """Return sections the vector that was computed before from the same text; those left have none. The caller holds a
    transaction."""
    left: list[Unmade] = []
    for each in wanted:
        row = connection.execute(
            "SELECT vector FROM vector WHERE model = ? AND sha256 = ?", (model, each.sha256)
        ).fetchone()
        if row is None:
            left.append(each)
        else:
            _place(connection, model, each, row[0])
    return left


def remember(connection: sqlite3.Connection, model: str, made: Iterable[tuple[Unmade, Sequence[float]]]) -> None:
    """Keep vectors that were computed. The caller holds a transaction."""
    for each, vector in made:
        data = to_bytes(vector)
        connection.execute("INSERT OR REPLACE INTO vector VALUES (?, ?, ?)", (model, each.sha256, data))
        _place(connection, model, each, data)
    (count,) = connection.execute("SELECT count(*) FROM vector").fetchone()
    if count > MAX_KEPT:
        connection.execute("DELETE FROM vector WHERE sha256 NOT IN (SELECT sha256 FROM embedding)")


def near(
    connection: sqlite3.Connection, model: str, query: Sequence[float], asked: Search, *, nearest: Nearest, limit: int
) -> list[Found]:
    """Return the sections that lie nearest to a query, best first; of a document that carries one vector its first
    section.

    The filters of ``asked`` hold; its text is not used. Raises `WhereError`.
    """
    prepare(connection)
    kept = _kept(connection, model, len(query))
    allowed = set(allowed_documents(connection, filter_condition(asked), asked.path_glob, _documents(kept)))
    ranked = nearest(query, [(place, data) for place, data in kept if place.document in allowed], limit)
    return [
        Found(place.section or _first_section(connection, place.document), place.document, score)
        for place, score in ranked
    ]


def vector_of(connection: sqlite3.Connection, model: str, document: int) -> list[bytes]:
    """Return the vectors of one document: that of the whole, or those of its sections."""
    statement = "SELECT vector FROM embedding WHERE document = ? AND model = ? AND fresh ORDER BY section"
    return [data for (data,) in connection.execute(statement, (document, model))]


def models(connection: sqlite3.Connection) -> list[tuple[str, int]]:
    """Return the models that vectors are of, with how many, most first."""
    statement = "SELECT model, count(*) FROM embedding WHERE fresh AND model <> '' GROUP BY model ORDER BY 2 DESC, 1"
    return [(name, count) for name, count in connection.execute(statement)]


def _kept(connection: sqlite3.Connection, model: str, dimension: int) -> list[tuple[Placed, bytes]]:
    statement = """SELECT coalesce(section, 0), document, vector FROM embedding
      WHERE model = ? AND dimension = ? AND fresh ORDER BY document, section"""
    rows = connection.execute(statement, (model, dimension))
    return [(Placed(section, document), data) for section, document, data in rows]


def _documents(kept: Iterable[tuple[Placed, bytes]]) -> Iterator[int]:
    return iter(dict.fromkeys(place.document for place, _ in kept))


def _place(connection: sqlite3.Connection, model: str, each: Unmade, data: bytes) -> None:
    row = (each.document, each.section, model, len(data) // 4, data, each.sha256, 1, "computed")
    connection.execute("INSERT INTO embedding VALUES (?, ?, ?, ?, ?, ?, ?, ?)", row)


def _first_section(connection: sqlite3.Connection, document: int) -> int:
    row = connection.execute(
        "SELECT id FROM section WHERE document = ? ORDER BY number LIMIT 1", (document,)
    ).fetchone()
    return 0 if row is None else int(row[0])
