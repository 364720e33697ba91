"""Ids and URLs of nodes: what depends on all documents of a corpus, kept in the rows of each (interface.md, HA2).

In: the numbers of documents that changed, or None for all. Out: the columns `node` and `url`. An id that two documents
give themselves, or that is the path of another, is the id of none of them: `graph.build.node_ids` says the same.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Iterable

from prosa.adapters.sqlite.writing import meta, set_meta
from prosa.dialects import DialectName
from prosa.graph.sites import Sites

_NODE = """UPDATE document SET node = CASE
  WHEN own <> ''
    AND NOT EXISTS (SELECT 1 FROM document o WHERE o.own = document.own AND o.own <> '' AND o.id <> document.id)
    AND NOT EXISTS (SELECT 1 FROM document p WHERE p.path = document.own)
  THEN own ELSE path END"""

_OF_SITES = """SELECT path, dialect, canonical FROM document
  WHERE dialect = 'mdh' OR path LIKE '%readme.%' OR path LIKE '%index.%'"""


def name_all(connection: sqlite3.Connection) -> None:
    """Return every document the id of its node."""
    connection.execute(f"{_NODE} WHERE own <> ''")


def name_some(connection: sqlite3.Connection, documents: Iterable[int], names: Iterable[str]) -> None:
    """Return documents the ids of their nodes, and all others that call themselves by one of ``names``: the ids and
    paths that documents have gained or lost."""
    connection.executemany(f"{_NODE} WHERE id = ?", [(number,) for number in documents])
    connection.executemany(f"{_NODE} WHERE own = ?1 AND own <> ''", [(name,) for name in names if name])


def find_sites(connection: sqlite3.Connection, *, given: bool) -> Sites:
    """Return the sites that the documents of the index form."""
    return sites_among(connection, lambda _: True, given=given)


def sites_among(connection: sqlite3.Connection, wanted: Callable[[str], bool], *, given: bool) -> Sites:
    """Return the sites that those documents form whose paths are ``wanted``."""
    rows = [row for row in site_rows(connection) if wanted(row[0])]
    nodes = ((path, urls) for path, dialect, urls in rows if dialect == "mdh" and urls != "[]")
    canonical = ((path, url) for path, urls in nodes for url in json.loads(urls))
    return Sites.of(((path, dialect) for path, dialect, _ in rows), canonical, given=given)


def site_rows(connection: sqlite3.Connection) -> list[tuple[str, DialectName, str]]:
    """Path, dialect and canonical URLs, as JSON, of the documents that may make a site."""
    return connection.execute(_OF_SITES).fetchall()


def given_root(connection: sqlite3.Connection) -> bool:
    """Return whether the user had named the root when the index was brought up to date."""
    return meta(connection, "given") == str(True)


def kept_sites(connection: sqlite3.Connection) -> Sites | None:
    """Return the sites that the edges of the index rest on; None where there are no edges yet."""
    text = meta(connection, "sites")
    if not text:
        return None
    roots, origins, readmes = json.loads(text)
    return Sites(frozenset(roots), frozenset((origin, root) for origin, root in origins), frozenset(readmes))


def keep_sites(connection: sqlite3.Connection, sites: Sites) -> None:
    """Note the sites, and write the URLs of nodes that they change."""
    set_meta(connection, "sites", json.dumps([sorted(sites.roots), sorted(sites.origins), sorted(sites.readmes)]))
    rows = connection.execute("SELECT id, path, url FROM document WHERE dialect = 'mdh'").fetchall()
    urls = [(url, number) for number, path, before in rows if (url := sites.url_of(path)) != before]
    connection.executemany("UPDATE document SET url = ? WHERE id = ?", urls)


def url_some(connection: sqlite3.Connection, documents: Iterable[int], sites: Sites) -> None:
    """Write the URLs of some nodes."""
    for number in documents:
        row = connection.execute("SELECT path FROM document WHERE id = ? AND dialect = 'mdh'", (number,)).fetchone()
        if row is not None:
            connection.execute("UPDATE document SET url = ? WHERE id = ?", (sites.url_of(row[0]), number))
