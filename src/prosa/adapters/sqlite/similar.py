"""Documents like another one by rare words, links and vectors, with the rankings fused by their order
(`corpus.fusion`); and the vectors of an index: which sections have none yet, those that were made, and what lies near a
query.

Vectors of other models are never compared (YW7). What may be sent to a service is decided here (X6).
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from msgspec.structs import replace

from prosa.adapters.sqlite.search import allowed_documents, filter_condition, prepare, ranked_sections, spread
from prosa.adapters.sqlite.search_hits import SectionHit, hits_of, match_term
from prosa.corpus.embedding import SECRET, digest_of, embedded_text
from prosa.corpus.query import Query, Term
from prosa.corpus.search import Hit, Search
from prosa.corpus.similar import fused, telling_terms, to_bytes

if TYPE_CHECKING:
    from prosa.adapters.sqlite.index import Index


MAX_RANKED = 200
"""Documents of each ranking that take part; those behind would not change the first ones."""

MAX_POINTING = 50
"""Maximum number of documents that point at a target for it to count as a connection: a page that all point at
connects none."""

_DIRECT, _SHARED = 2.0, 1.0


def similar(index: Index, path: str, asked: Search, *, near: Sequence[SectionHit] = ()) -> list[Hit]:
    """Return the hits; none for a path that is not in the index. ``asked`` gives the filters and the limit, its text is
    not used. ``near`` is a third ranking, by vectors, where there are some. Raises `WhereError`."""
    return similar_in(index.connection(), path, asked, near=near)


def similar_in(
    connection: sqlite3.Connection, path: str, asked: Search, *, near: Sequence[SectionHit] = ()
) -> list[Hit]:
    """Return `similar` over a connection to an index."""
    row = connection.execute("SELECT id FROM document WHERE path = ?", (path,)).fetchone()
    if row is None:
        return []
    prepare(connection)
    query = _query(connection, row[0])
    wider = replace(asked, text="", limit=MAX_RANKED, sections=False)
    by_words = ranked_sections(connection, query, wider) if query.clauses else []
    sections = {word.document: word.section for word in by_words if word.document != row[0]}
    by_vectors = {hit.document: hit.section for hit in near if hit.document != row[0]}
    places = by_vectors | sections
    by_links = _linked(connection, row[0], wider)
    hits = [
        SectionHit(places.get(document) or _first_section(connection, document), document, score)
        for document, score in fused([list(sections), by_links, list(by_vectors)])[: asked.limit]
    ]
    return hits_of(connection, query, hits)


def _query(connection: sqlite3.Connection, document: int) -> Query:
    """Return the document as a question: any of its telling terms."""
    texts = [text for (text,) in connection.execute("SELECT text FROM section WHERE document = ?", (document,))]
    (total,) = connection.execute("SELECT count(*) FROM section_text_docsize").fetchone()
    terms = telling_terms(texts, lambda term: _spread(connection, term), total)
    return Query((terms,) if terms else ())


def _spread(connection: sqlite3.Connection, term: Term) -> int:
    """Return the number of sections that hold a term."""
    if term.is_cjk:
        statement = "SELECT count(*) FROM section_cjk WHERE section_cjk MATCH ?"
        return int(connection.execute(statement, (match_term(term),)).fetchone()[0])
    return spread(connection, term)


def _linked(connection: sqlite3.Connection, document: int, asked: Search) -> list[int]:
    """Return documents that links connect with this one, the closest first."""
    scores: dict[int, float] = {}

    def count(other: int, weight: float) -> None:
        if other != document:
            scores[other] = scores.get(other, 0.0) + weight

    targets = _numbers(
        connection, "SELECT DISTINCT target_document FROM edge WHERE document = ? AND target_document > 0", document
    )
    for target in targets:
        count(target, _DIRECT)
    for source in _pointing(connection, document):
        count(source, _DIRECT)
    for target in targets:
        sources = _pointing(connection, target)
        if len(sources) <= MAX_POINTING:
            for source in sources:
                count(source, _SHARED / len(sources))
    allowed = allowed_documents(connection, filter_condition(asked), asked.path_glob, scores)
    return sorted(allowed, key=lambda other: (-scores[other], other))[:MAX_RANKED]


def _pointing(connection: sqlite3.Connection, document: int) -> list[int]:
    statement = f"SELECT DISTINCT document FROM edge WHERE target_document = ? LIMIT {MAX_POINTING + 1}"  # noqa: S608
    return _numbers(connection, statement, document)


def _numbers(connection: sqlite3.Connection, statement: str, document: int) -> list[int]:
    return [number for (number,) in connection.execute(statement, (document,))]


def _first_section(connection: sqlite3.Connection, document: int) -> int:
    statement = "SELECT id FROM section WHERE document = ? ORDER BY number LIMIT 1"
    row = connection.execute(statement, (document,)).fetchone()
    return 0 if row is None else int(row[0])


MAX_KEPT = 200_000
"""Computed vectors that are kept though no section has their text any more: some 300 MB of a common model."""

Nearest: TypeAlias = Callable[
    [Sequence[float], Iterable[tuple["Placed", bytes]], int], Sequence[tuple["Placed", float]]
]
"""`prosa.corpus.similar.nearest`, or the same in a faster way."""


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
    for section in wanted:
        row = connection.execute(
            "SELECT vector FROM vector WHERE model = ? AND sha256 = ?", (model, section.sha256)
        ).fetchone()
        if row is None:
            left.append(section)
        else:
            _place(connection, model, section, row[0])
    return left


def remember(connection: sqlite3.Connection, model: str, made: Iterable[tuple[Unmade, Sequence[float]]]) -> None:
    """Keep vectors that were computed. The caller holds a transaction."""
    for section, vector in made:
        data = to_bytes(vector)
        connection.execute("INSERT OR REPLACE INTO vector VALUES (?, ?, ?)", (model, section.sha256, data))
        _place(connection, model, section, data)
    (count,) = connection.execute("SELECT count(*) FROM vector").fetchone()
    if count > MAX_KEPT:
        connection.execute("DELETE FROM vector WHERE sha256 NOT IN (SELECT sha256 FROM embedding)")


def near(
    connection: sqlite3.Connection, model: str, query: Sequence[float], asked: Search, *, nearest: Nearest, limit: int
) -> list[SectionHit]:
    """Return the sections that lie nearest to a query, best first; of a document that carries one vector its first
    section.

    The filters of ``asked`` hold; its text is not used. Raises `WhereError`.
    """
    prepare(connection)
    kept = _kept(connection, model, len(query))
    allowed = set(allowed_documents(connection, filter_condition(asked), asked.path_glob, _documents(kept)))
    ranked = nearest(query, [(place, data) for place, data in kept if place.document in allowed], limit)
    return [
        SectionHit(place.section or _first_section(connection, place.document), place.document, score)
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


def _place(connection: sqlite3.Connection, model: str, section: Unmade, data: bytes) -> None:
    row = (section.document, section.section, model, len(data) // 4, data, section.sha256, 1, "computed")
    connection.execute("INSERT INTO embedding VALUES (?, ?, ?, ?, ?, ?, ?, ?)", row)
