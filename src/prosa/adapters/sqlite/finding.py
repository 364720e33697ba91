"""A document by what people call it. In: a name as typed. Out: the document, or what else may have been meant.

A path counts before an id, an id before a file name, a whole name before the beginning of one; upper and lower case
count only where they tell two documents apart.
"""

from __future__ import annotations

import posixpath
import sqlite3

from prosa.adapters.sqlite.edges import node_at
from prosa.data.surrogates import has_surrogate
from prosa.diagnostics.nearest import nearest
from prosa.graph.node import Node
from prosa.source.files import compared_name

MAX_NEAR = 5
"""Other documents that are named."""

MAX_COMPARED = 20_000
"""Names that a wrong one is compared with."""

_BY_NAME = (
    "SELECT path FROM document WHERE node = ?1",
    "SELECT path FROM document WHERE own = ?1 AND own <> ''",
    "SELECT d.path FROM key k JOIN document d ON d.id = k.document WHERE k.space = 'stem' AND k.name = ?1",
    "SELECT path FROM document WHERE path LIKE '%/' || ?2 ESCAPE '\\'",
    "SELECT d.path FROM key k JOIN document d ON d.id = k.document WHERE k.space = 'stem~' AND k.name = ?3",
    "SELECT path FROM document WHERE path LIKE ?2 || '%' ESCAPE '\\'",
    "SELECT path FROM document WHERE node LIKE ?2 || '%' ESCAPE '\\'",
    "SELECT path FROM document WHERE path LIKE '%/' || ?2 || '%' ESCAPE '\\'",
)
"""Questions in the order in which they count; ?1 is the name, ?2 the same for LIKE, ?3 its stem in small letters."""


def find_node(connection: sqlite3.Connection, name: str) -> Node | None:
    """Return the document named ``name``; None if there is none, or several."""
    found = _found(connection, name)
    return node_at(connection, found[0]) if len(found) == 1 else None


def near_misses(connection: sqlite3.Connection, name: str) -> list[str]:
    """Return the paths of documents that may be meant: those that share the name, else those with one like it."""
    found = _found(connection, name)
    if found or not name:
        return found[:MAX_NEAR]
    rows = connection.execute("SELECT path, node, title FROM document LIMIT ?", (MAX_COMPARED,)).fetchall()
    by_name: dict[str, str] = {}
    for path, node, title in rows:
        for each in (path, posixpath.basename(path), posixpath.splitext(posixpath.basename(path))[0], node, title):
            by_name.setdefault(each, path)
    near = nearest(name, by_name)
    return [by_name[near]] if near is not None else []


def _found(connection: sqlite3.Connection, name: str) -> list[str]:
    """Return the paths of all documents called ``name`` in the first way that any is."""
    name = posixpath.normpath(name) if name.startswith("./") else name
    if not name or has_surrogate(name):
        return []
    if node_at(connection, name) is not None:
        return [name]
    stem = compared_name(posixpath.splitext(posixpath.basename(name))[0]).casefold()
    like = name.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")
    for question in _BY_NAME:
        given = tuple(each for mark, each in (("?1", name), ("?2", like), ("?3", stem)) if mark in question)
        found = [path for (path,) in connection.execute(_plain(question), given)]
        if found:
            return sorted(set(found))
    return []


def _plain(question: str) -> str:
    return question.replace("?1", "?").replace("?2", "?").replace("?3", "?")
