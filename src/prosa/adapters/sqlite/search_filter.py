"""The filters of a search → one condition in SQL on documents. Every value is a parameter.

In: a `Search`. Out: a `Condition` on the table `document`, named `d` in the statement around it. Paths are matched by
the caller: SQL has no globs that know folders.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator, Sequence

from prosa.adapters.sqlite.guard import select
from prosa.adapters.sqlite.schema import TABLES
from prosa.adapters.sqlite.views import FULL_TEXT
from prosa.corpus.search import Search
from prosa.corpus.sql import Readable
from prosa.corpus.where import Condition, compile_where, parse_where
from prosa.corpus.where.compile import join

_DATE = "coalesce(d.updated, d.published)"
_LAST = "\U0010ffff"


MANY = 300
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
    statement = f"SELECT count(*) FROM ({lookup.sql} LIMIT {MANY})"  # noqa: S608 - values are parameters
    (count,) = select(connection, INDEX, statement, lookup.parameters).fetchone()
    return int(count) >= MANY


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
        each = "EXISTS (SELECT 1 FROM edge WHERE rel = ? AND document = d.id)"
        yield Condition(each if wide(lookup) else f"d.id IN ({lookup.sql})", (rel,))
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
