"""Documents like another one, without vectors: they share its rare words, or links connect them.

In: an open index, the path of a document, and the filters of a `Search`. Out: `Hit`s, best first, without that
document. The rankings are fused by their order (`corpus.fusion`).
"""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from typing import TYPE_CHECKING

from msgspec.structs import replace

from prosa.adapters.sqlite.search import allowed_documents, prepare, ranked_sections, spread
from prosa.adapters.sqlite.search_filter import filter_condition
from prosa.adapters.sqlite.search_hits import Found, hits_of
from prosa.adapters.sqlite.search_match import match_term
from prosa.corpus.fusion import fused
from prosa.corpus.query import Query, Term
from prosa.corpus.search import Hit, Search
from prosa.corpus.similar import telling_terms

if TYPE_CHECKING:
    from prosa.adapters.sqlite.index import Index

MAX_RANKED = 200
"""Documents of each ranking that take part; those behind would not change the first ones."""

MAX_POINTING = 50
"""Maximum number of documents that point at a target for it to count as a connection: a page that all point at
connects none."""

_DIRECT, _SHARED = 2.0, 1.0


def similar(index: Index, path: str, asked: Search, *, near: Sequence[Found] = ()) -> list[Hit]:
    """Return the hits; none for a path that is not in the index. ``asked`` gives the filters and the limit, its text is
    not used. ``near`` is a third ranking, by vectors, where there are some. Raises `WhereError`."""
    return similar_in(index.connection(), path, asked, near=near)


def similar_in(connection: sqlite3.Connection, path: str, asked: Search, *, near: Sequence[Found] = ()) -> list[Hit]:
    """Return `similar` over a connection to an index."""
    row = connection.execute("SELECT id FROM document WHERE path = ?", (path,)).fetchone()
    if row is None:
        return []
    prepare(connection)
    query = _query(connection, row[0])
    wider = replace(asked, text="", limit=MAX_RANKED, sections=False)
    by_words = ranked_sections(connection, query, wider) if query.clauses else []
    sections = {each.document: each.section for each in by_words if each.document != row[0]}
    by_vectors = {each.document: each.section for each in near if each.document != row[0]}
    places = by_vectors | sections
    by_links = _linked(connection, row[0], wider)
    found = [
        Found(places.get(document) or _first_section(connection, document), document, score)
        for document, score in fused([list(sections), by_links, list(by_vectors)])[: asked.limit]
    ]
    return hits_of(connection, query, found)


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
