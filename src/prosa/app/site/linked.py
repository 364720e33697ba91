"""The files beside documents that published documents name: what a link leads to, and the schemas of actions (HA5,
HA16). In: an index and the published paths. Out: paths below the root.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Collection, Iterator

from prosa.dialects.mdh.url import resolve

_LINKS = "SELECT d.path, e.target FROM edge e JOIN document d ON d.id = e.document WHERE e.state = 'file'"
_SCHEMAS = """SELECT d.path, m.text FROM metadata m JOIN document d ON d.id = m.document
  WHERE m.key IN ('actions.body_schema', 'actions.response_schema', 'action.body_schema', 'action.response_schema')
    AND m.kind = 'text'"""


def linked_files(connection: sqlite3.Connection, published: Collection[str]) -> frozenset[str]:
    """The paths. Whether a file is there, and may be seen, is looked at when it is asked for."""
    return frozenset(_linked(connection, published))


def _linked(connection: sqlite3.Connection, published: Collection[str]) -> Iterator[str]:
    for question in (_LINKS, _SCHEMAS):
        for path, target in connection.execute(question):
            if path in published:
                found = resolve(f"/{path}", target)
                if not found.origin:
                    yield found.path[1:]
