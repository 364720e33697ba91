"""Names in a search that no document has, with what may have been meant: a typing error finds nothing, silently.

In: a connection and a `Search`. Out: `UnknownName`s. Only names that are not there cost more than one lookup each.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from typing import NamedTuple

from prosa.corpus.search import Search
from prosa.corpus.where import fields_of, parse_where
from prosa.diagnostics.nearest import MAX_CANDIDATES, nearest

_LAST = "\U0010ffff"

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
    return nearest(name, [each for (each,) in rows if each != name]) if first else None
