"""The search in the index: a query and filters → hits, best first, and the names in it that no document has.

A query never fails; an invalid `where` raises `WhereError`. Nothing is written, and no file is opened. Every value is a
parameter. Paths are matched here and not in SQL, which has no globs that know folders.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from typing import TYPE_CHECKING, NamedTuple

from prosa.adapters.sqlite.guard import select
from prosa.adapters.sqlite.schema import TABLES
from prosa.adapters.sqlite.search_hits import (
    BATCH,
    CJK_WEIGHTS,
    TRIGRAM,
    WEIGHTS,
    SectionHit,
    hits_of,
    match_any,
    match_query,
    match_term,
    quoted,
)
from prosa.adapters.sqlite.views import FULL_TEXT
from prosa.corpus.query import Clause, Query, Term, parse_query
from prosa.corpus.search import MAX_LIMIT, Hit, Search
from prosa.corpus.sql import Readable
from prosa.corpus.where import Condition, compile_where, fields_of, parse_where
from prosa.corpus.where.compile import join, sql_functions
from prosa.corpus.words import words
from prosa.diagnostics.nearest import MAX_CANDIDATES, nearest
from prosa.regex import regex
from prosa.source.wildmatch import glob_matches

if TYPE_CHECKING:
    from prosa.adapters.sqlite.index import Index


_EVERYTHING = Condition("1")

_MATCHED = "SELECT rowid, -rank FROM section_text WHERE section_text MATCH ? AND rank MATCH ? ORDER BY rank"
_COUNTED = "SELECT count(*) FROM (SELECT 1 FROM section_text WHERE section_text MATCH ? LIMIT ?)"
_ANY = "SELECT 1 FROM section_text WHERE section_text MATCH ? LIMIT 1"
_UNRANKED = """SELECT f.rowid, d.id, d.path, ? FROM section_text AS f
  JOIN section AS s ON s.id = f.rowid JOIN document AS d ON d.id = s.document
  WHERE section_text MATCH ? AND"""
_LISTED = "SELECT s.id, d.id, d.path, 0.0 FROM document AS d JOIN section AS s ON s.document = d.id WHERE"

MAX_TIES = 200
"""Number of equally good sections examined beyond the last hit, so that the order does not depend on the
history of the index."""


COMMON = 20_000
"""Sections from which on words are not ranked that most sections hold: BM25 gives all of these the same, nearly zero,
and takes a microsecond for each."""

MANY = 5_000
"""Sections from which on only those are ranked that hold the words in title, heading or tags: the others are as good as
each other, and BM25 takes a microsecond for each."""

_HEADS = "{title heading tags} : "
_BEST = 300
"""Sections that are looked up together, the best first: few questions need more of them."""


def search(index: Index, asked: Search) -> list[Hit]:
    """Return the hits, best first, of equals by path. Raises `WhereError`; `sqlite3.Error` for an index that is
    damaged."""
    return search_in(index.connection(), asked)


def search_in(connection: sqlite3.Connection, asked: Search) -> list[Hit]:
    """Return `search` over a connection to an index."""
    query = parse_query(asked.text)
    if query.is_empty and asked.text.strip():
        return []  # a text without a word: it is in no document, rather than in all
    prepare(connection)
    return hits_of(connection, query, ranked_sections(connection, query, asked), sections=asked.sections)


def ranked_sections(connection: sqlite3.Connection, query: Query, asked: Search) -> list[SectionHit]:
    """Return the matching sections, up to the requested number. The connection must be prepared."""
    condition = filter_condition(asked, connection) or _EVERYTHING
    ties = 0 if query.is_empty else MAX_TIES
    return _best(_ranked(connection, query, condition), asked, ties)


def allowed_documents(
    connection: sqlite3.Connection, condition: Condition | None, path_glob: str, documents: Iterable[int]
) -> Iterator[int]:
    """Yield those of some documents that pass the filters, in their order. The connection is prepared."""
    if condition is None and not path_glob:
        yield from documents
        return
    wanted = condition or _EVERYTHING
    numbers = list(documents)
    for start in range(0, len(numbers), BATCH):
        batch = numbers[start : start + BATCH]
        some = f"d.id IN ({', '.join('?' * len(batch))})"
        statement = f"SELECT d.id, d.path FROM document AS d WHERE {some} AND {wanted.sql}"  # noqa: S608 - parameters
        paths = dict(select(connection, INDEX, statement, (*batch, *wanted.parameters)).fetchall())
        yield from (id_ for id_ in batch if id_ in paths and (not path_glob or glob_matches(path_glob, paths[id_])))


def prepare(connection: sqlite3.Connection) -> None:
    """Make the functions of conditions known to a connection."""
    for name, (function, arguments) in sql_functions().items():
        try:
            connection.create_function(name, arguments, function, deterministic=True)
        except sqlite3.OperationalError:
            return  # another statement is under way on this connection: they are known already


class _Ranked(NamedTuple):
    """A section that answers, with its document."""

    section: int
    document: int
    path: str
    score: float


def _ranked(connection: sqlite3.Connection, query: Query, condition: Condition) -> Iterator[_Ranked]:
    """Return all sections that answer, best first."""
    if query.is_empty:
        return _listed(connection, condition)
    if query.clauses and not any(term.is_cjk for term in (*query.terms, *query.excluded)):
        return _matched(connection, query, condition)
    return _from_sets(connection, query, condition)


def _matched(connection: sqlite3.Connection, query: Query, condition: Condition) -> Iterator[_Ranked]:
    """Yield what full text finds and ranks."""
    if _tells_nothing(connection, query):
        yield from _unranked(connection, query, condition, ((2e-6, "{title} : "), (1e-6, "")))
    elif _count(connection, match_query(query)) <= MANY:
        yield from _in_order(connection, match_query(query), condition)
    else:
        heads = match_query(query, _HEADS)
        count = _count(connection, heads) if _may_be_in_heads(connection, query) else 0
        if count > MANY:
            yield from _unranked(connection, query, condition, ((2e-6, "{title} : "), (1e-6, _HEADS)))
        elif count:
            yield from _in_order(connection, heads, condition)
        yield from _unranked(connection, query, condition, ((1e-9, ""),))


def _in_order(connection: sqlite3.Connection, match: str, condition: Condition) -> Iterator[_Ranked]:
    """Yield the results of an expression, the best first. Full text is queried once; results are looked up in pieces,
    so that documents that are not shown cost no time."""
    rows = select(connection, INDEX, _MATCHED, (match, f"bm25({WEIGHTS})"))
    while best := dict(rows.fetchmany(_BEST)):
        statement = f"{_LISTED} s.id IN ({', '.join('?' * len(best))}) AND {condition.sql}"
        ranked = select(connection, INDEX, statement, (*best, *condition.parameters))
        places = {section: (document, path) for section, document, path, _ in ranked}
        yield from (_Ranked(section, *places[section], score) for section, score in best.items() if section in places)


def _unranked(
    connection: sqlite3.Connection, query: Query, condition: Condition, steps: Iterable[tuple[float, str]]
) -> Iterator[_Ranked]:
    """Yield what full text finds in one part of a section after the other, each with its score, in no order of their
    own."""
    for score, column in steps:
        values = (score, match_query(query, column), *condition.parameters)
        yield from map(_Ranked._make, select(connection, INDEX, f"{_UNRANKED} {condition.sql}", values))


def _count(connection: sqlite3.Connection, match: str) -> int:
    """Return the number of sections that an expression finds, counted up to one more than `MANY`."""
    (count,) = connection.execute(_COUNTED, (match, MANY + 1)).fetchone()
    return int(count)


def _may_be_in_heads(connection: sqlite3.Connection, query: Query) -> bool:
    """Return whether titles, headings and tags hold, for each clause, all the words of a term somewhere. Of a common
    phrase they often lack one, which is found out in a quarter of the time that a look for the phrase takes."""
    return all(any(_has_words_in_heads(connection, term) for term in clause) for clause in query.clauses)


def _has_words_in_heads(connection: sqlite3.Connection, term: Term) -> bool:
    texts = [term.text[word.start : word.end] for word in words(term.text)]
    return term.prefix or all(
        connection.execute(_ANY, (f"{_HEADS}{quoted(word)}",)).fetchone() is not None for word in texts
    )


def _tells_nothing(connection: sqlite3.Connection, query: Query) -> bool:
    """Return whether most sections hold every word that is looked for, and they are many."""
    least = min(max(spread(connection, term) for term in clause) for clause in query.clauses)
    if least <= COMMON:
        return False
    (total,) = connection.execute("SELECT count(*) FROM section_text_docsize").fetchone()
    return bool(least > total / 2)


def spread(connection: sqlite3.Connection, term: Term) -> int:
    """Return the number of sections that hold a single word; 0 for other terms."""
    texts = [word.text for word in words(term.text)]
    if len(texts) != 1 or term.field or term.prefix:
        return 0
    row = connection.execute("SELECT doc FROM section_word WHERE term = ?", (texts[0],)).fetchone()
    return 0 if row is None else int(row[0])


def _listed(connection: sqlite3.Connection, condition: Condition) -> Iterator[_Ranked]:
    """Without a query: the sections of all documents that pass, by path."""
    statement = f"{_LISTED} {condition.sql} ORDER BY d.path, s.number"
    return map(_Ranked._make, select(connection, INDEX, statement, condition.parameters))


def _from_sets(connection: sqlite3.Connection, query: Query, condition: Condition) -> Iterator[_Ranked]:
    """Yield what needs several lookups: words that are found as pieces of text, and queries that only exclude."""
    scores = scored_sections(connection, query)
    if scores is None:
        excluded = excluded_sections(connection, query)
        yield from (hit for hit in _listed(connection, condition) if hit.section not in excluded)
        return
    best = sorted(scores.items(), key=lambda pair: (-pair[1], pair[0]))
    for start in range(0, len(best), BATCH):
        batch = best[start : start + BATCH]
        statement = f"{_LISTED} s.id IN ({', '.join('?' * len(batch))}) AND {condition.sql}"
        rows = select(connection, INDEX, statement, (*(id_ for id_, _ in batch), *condition.parameters))
        ranked = (_Ranked(section, document, path, scores[section]) for section, document, path, _ in rows)
        yield from sorted(ranked, key=lambda hit: (-hit.score, hit.section))


def _best(ranked: Iterator[_Ranked], asked: Search, ties: int) -> list[SectionHit]:
    """Return the first hits of a ranking, of equals by path: one for each document, or every section."""
    limit = max(0, min(asked.limit, MAX_LIMIT))
    best: dict[int, _Ranked] = {}
    last = 0.0
    for hit in ranked:
        if len(best) >= limit and (hit.score != last or len(best) >= limit + ties):
            break
        key = hit.section if asked.sections else hit.document
        if key not in best and (not asked.path_glob or glob_matches(asked.path_glob, hit.path)):
            best[key] = hit
            last = hit.score
    ordered = sorted(best.values(), key=lambda item: (-item.score, item.path))
    return [SectionHit(hit.section, hit.document, hit.score) for hit in ordered[:limit]]


# Queries that one expression of FTS5 cannot say: words that are found as pieces of text (Chinese, Japanese), also
# among others, and queries that only exclude.
#
# In: a connection and a `Query`. Out: the sections that answer with their scores. Each term is one lookup; their sets
# are joined here.

Scores = dict[int, float]

_LIKE_WEIGHTS = {"title": 8.0, "heading": 5.0, "tags": 4.0, "text": 1.0}
"""The score of a match of one or two characters: there is no BM25 without an index of words."""


_LIKE_SIGNS = regex(r"[\\%_]")
_ESCAPED = r"\\\g<0>"


def scored_sections(connection: sqlite3.Connection, query: Query) -> Scores | None:
    """Return the sections in which every clause is found and nothing that is excluded; None for a query without
    clauses."""
    total: Scores | None = None
    for clause in query.clauses:
        scores = _clause(connection, clause)
        total = scores if total is None else {id_: total[id_] + scores[id_] for id_ in total.keys() & scores.keys()}
    if total is not None and query.excluded:
        excluded = excluded_sections(connection, query)
        return {id_: score for id_, score in total.items() if id_ not in excluded}
    return total


def excluded_sections(connection: sqlite3.Connection, query: Query) -> AbstractSet[int]:
    """Return the sections in which something is found that a query excludes."""
    plain = [term for term in query.excluded if not term.is_cjk]
    excluded: set[int] = set()
    if plain:
        statement = "SELECT rowid FROM section_text WHERE section_text MATCH ?"
        excluded.update(id_ for (id_,) in connection.execute(statement, (match_any(plain),)))
    for term in query.excluded:
        if term.is_cjk:
            excluded.update(_pieces(connection, term))
    return excluded


def _clause(connection: sqlite3.Connection, clause: Clause) -> Scores:
    """Return the sections in which any of the terms is found."""
    plain = tuple(term for term in clause if not term.is_cjk)
    scores = _ranked_sections(connection, "section_text", WEIGHTS, match_any(plain)) if plain else {}
    for term in clause:
        if term.is_cjk:
            for id_, score in _pieces(connection, term).items():
                scores[id_] = scores.get(id_, 0.0) + score
    return scores


def _pieces(connection: sqlite3.Connection, term: Term) -> Scores:
    if len(term.text) >= TRIGRAM:
        return _ranked_sections(connection, "section_cjk", CJK_WEIGHTS, match_term(term))
    columns = [term.field] if term.field else list(_LIKE_WEIGHTS)
    score = " + ".join(f"{_LIKE_WEIGHTS[column]} * ({column} LIKE ?1 ESCAPE '\\')" for column in columns)
    # Only sections that hold such letters are in the trigram table; its list of them is the index of this lookup.
    rows = connection.execute(
        f"SELECT id, score FROM (SELECT id, {score} AS score FROM section"  # noqa: S608 - names of columns only
        " WHERE id IN (SELECT id FROM section_cjk_docsize)) WHERE score > 0",
        (f"%{_LIKE_SIGNS.sub(_ESCAPED, term.text)}%",),
    )
    return dict(rows.fetchall())


def _ranked_sections(connection: sqlite3.Connection, table: str, weights: str, match: str) -> Scores:
    rows = connection.execute(
        f"SELECT rowid, -rank FROM {table} WHERE {table} MATCH ? AND rank MATCH ?",  # noqa: S608 - two tables
        (match, f"bm25({weights})"),
    )
    return dict(rows.fetchall())


_DATE = "coalesce(d.updated, d.published)"
_LAST = "\U0010ffff"


MANY_FOUND = 300
"""Documents that a lookup finds, from which on it is better to ask for each document in turn: a list of the first hits
needs few of them."""


INDEX = Readable(direct=TABLES, full_text=FULL_TEXT)
"""The readable parts for a search: its statements are trusted, the conditions in them are not."""


def filter_condition(search: Search, connection: sqlite3.Connection | None = None) -> Condition | None:
    """Return the condition, None where every document is meant. ``connection`` lets it be fitted to the size of each
    lookup. Raises `WhereError` for a `where` that cannot be read."""

    def wide(lookup: Condition) -> bool:
        return connection is not None and _finds_many(connection, lookup)

    conditions = list(_conditions(search, wide))
    return join("and", conditions) if conditions else None


def _finds_many(connection: sqlite3.Connection, lookup: Condition) -> bool:
    statement = f"SELECT count(*) FROM ({lookup.sql} LIMIT {MANY_FOUND})"  # noqa: S608 - values are parameters
    (count,) = select(connection, INDEX, statement, lookup.parameters).fetchone()
    return int(count) >= MANY_FOUND


def _conditions(search: Search, wide: Callable[[Condition], bool]) -> Iterator[Condition]:
    if search.below:
        folder = f"{search.below.rstrip('/')}/"
        yield Condition("(d.path = ? OR (d.path > ? AND d.path < ?))", (search.below, folder, folder + _LAST))
    if search.dialects:
        yield Condition(f"d.dialect IN ({_marks(search.dialects)})", search.dialects)
    if search.kinds:
        same = f"COLLATE NOCASE IN ({_marks(search.kinds)})"
        yield Condition(f"(d.kind {same} OR d.type {same})", (*search.kinds, *search.kinds))
    for tag in search.tags:
        yield Condition("d.id IN (SELECT document FROM metadata WHERE key = 'tag' AND text = ?)", (tag.lstrip("#"),))
    for rel in search.rels:
        lookup = Condition("SELECT document FROM edge WHERE rel = ?", (rel,))
        exists = "EXISTS (SELECT 1 FROM edge WHERE rel = ? AND document = d.id)"
        yield Condition(exists if wide(lookup) else f"d.id IN ({lookup.sql})", (rel,))
    if search.since:
        yield Condition(f"{_DATE} >= ?", (_moment(search.since),))
    if search.until:
        yield Condition(f"{_DATE} < ?", (_moment(search.until) + _LAST,))
    if search.current:
        # A day has expired when it has ended: compared are only as many characters as the document gives (MA20).
        yield Condition("(d.expired IS NULL OR d.expired >= substr(?, 1, length(d.expired)))", (search.current,))
    if search.where.strip():
        yield compile_where(parse_where(search.where), "d.id", wide)


def _moment(text: str) -> str:
    """Return a date in the form of the index. Dates are parsed by a dialect, which loads only if needed."""
    from prosa.corpus.facets import iso_moment

    return iso_moment(text) or text


def _marks(values: Sequence[str]) -> str:
    return ", ".join("?" * len(values))


_HAS = {
    "field": """SELECT 1 FROM metadata WHERE key = ?1
      UNION ALL SELECT 1 FROM metadata WHERE key > ?1 || '.' AND key < ?2""",
    "tag": "SELECT 1 FROM metadata WHERE key = 'tag' AND text = ?1",
    "kind": "SELECT 1 FROM document WHERE kind = ?1 COLLATE NOCASE OR type = ?1 COLLATE NOCASE",
    "rel": "SELECT 1 FROM edge WHERE rel = ?1",
}
_ALL = {
    "field": "SELECT DISTINCT key FROM metadata WHERE key >= ?1 AND key < ?2",
    "tag": "SELECT DISTINCT text FROM metadata WHERE key = 'tag' AND text >= ?1 AND text < ?2",
    "kind": "SELECT DISTINCT kind FROM document WHERE kind >= ?1 AND kind < ?2",
    "rel": "SELECT DISTINCT rel FROM edge WHERE rel >= ?1 AND rel < ?2",
}
"""Names with the same first letter: typos rarely affect it."""


class UnknownName(NamedTuple):
    """``what`` is field, tag, kind or rel; ``nearest`` is the name that may have been meant, or None."""

    what: str
    name: str
    nearest: str | None


def unknown_names(connection: sqlite3.Connection, asked: Search) -> Iterator[UnknownName]:
    """Yield the names that no document has. Raises `WhereError`."""
    fields = dict.fromkeys(field.name for field in fields_of(parse_where(asked.where))) if asked.where.strip() else {}
    wanted = (("field", fields), ("tag", asked.tags), ("kind", asked.kinds), ("rel", asked.rels))
    for what, names in wanted:
        for name in names:
            clean = name.encode("utf-8", "replace").decode().lstrip("#" if what == "tag" else "")
            above = f"{clean}.{_LAST}"
            if connection.execute(f"{_HAS[what]} LIMIT 1", (clean, above)[: 1 + (what == "field")]).fetchone() is None:
                yield UnknownName(what, name, _nearest(connection, what, clean))


def nearest_field(connection: sqlite3.Connection, name: str) -> str | None:
    """Return the field of some document that is most like a name, None where the name itself is one or none is near."""
    return _nearest(connection, "field", name)


def _nearest(connection: sqlite3.Connection, what: str, name: str) -> str | None:
    first = name[:1]
    rows = connection.execute(f"{_ALL[what]} LIMIT {MAX_CANDIDATES}", (first, first + _LAST))
    return nearest(name, [other for (other,) in rows if other != name]) if first else None
