"""Queries that one expression of FTS5 cannot say: words that are found as pieces of text (Chinese, Japanese), also
among others, and queries that only exclude.

In: a connection and a `Query`. Out: the sections that answer with their scores. Each term is one lookup; their sets are
joined here.
"""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Set as AbstractSet

from prosa.adapters.sqlite.search_match import CJK_WEIGHTS, TRIGRAM, WEIGHTS, match_any, match_term
from prosa.corpus.query import Clause, Query, Term

Scores = dict[int, float]

_LIKE_WEIGHTS = {"title": 8.0, "heading": 5.0, "tags": 4.0, "text": 1.0}
"""What a match of one or two characters counts: there is no BM25 without an index of words."""


_LIKE_SIGNS = re.compile(r"[\\%_]")
_ESCAPED = r"\\\g<0>"


def scored_sections(connection: sqlite3.Connection, query: Query) -> Scores | None:
    """The sections in which every clause is found and nothing that is excluded; None for a query without clauses."""
    found: Scores | None = None
    for clause in query.clauses:
        scores = _clause(connection, clause)
        found = scores if found is None else {id_: found[id_] + scores[id_] for id_ in found.keys() & scores.keys()}
    if found is not None and query.excluded:
        excluded = excluded_sections(connection, query)
        return {id_: score for id_, score in found.items() if id_ not in excluded}
    return found


def excluded_sections(connection: sqlite3.Connection, query: Query) -> AbstractSet[int]:
    """The sections in which something is found that a query excludes."""
    plain = [term for term in query.excluded if not term.is_cjk]
    found: set[int] = set()
    if plain:
        statement = "SELECT rowid FROM section_text WHERE section_text MATCH ?"
        found.update(id_ for (id_,) in connection.execute(statement, (match_any(plain),)))
    for term in query.excluded:
        if term.is_cjk:
            found.update(_pieces(connection, term))
    return found


def _clause(connection: sqlite3.Connection, clause: Clause) -> Scores:
    """The sections in which any of the terms is found."""
    plain = tuple(term for term in clause if not term.is_cjk)
    found = _ranked(connection, "section_text", WEIGHTS, match_any(plain)) if plain else {}
    for term in clause:
        if term.is_cjk:
            for id_, score in _pieces(connection, term).items():
                found[id_] = found.get(id_, 0.0) + score
    return found


def _pieces(connection: sqlite3.Connection, term: Term) -> Scores:
    if len(term.text) >= TRIGRAM:
        return _ranked(connection, "section_cjk", CJK_WEIGHTS, match_term(term))
    columns = [term.field] if term.field else list(_LIKE_WEIGHTS)
    score = " + ".join(f"{_LIKE_WEIGHTS[column]} * ({column} LIKE ?1 ESCAPE '\\')" for column in columns)
    # Only sections that hold such letters are in the trigram table; its list of them is the index of this lookup.
    rows = connection.execute(
        f"SELECT id, score FROM (SELECT id, {score} AS score FROM section"  # noqa: S608 - names of columns only
        " WHERE id IN (SELECT id FROM section_cjk_docsize)) WHERE score > 0",
        (f"%{_LIKE_SIGNS.sub(_ESCAPED, term.text)}%",),
    )
    return dict(rows.fetchall())


def _ranked(connection: sqlite3.Connection, table: str, weights: str, match: str) -> Scores:
    rows = connection.execute(
        f"SELECT rowid, -rank FROM {table} WHERE {table} MATCH ? AND rank MATCH ?",  # noqa: S608 - two tables
        (match, f"bm25({weights})"),
    )
    return dict(rows.fetchall())
