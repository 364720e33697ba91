"""The nodes of a site at one moment: which are published, their URLs, the content of each folder.

In: an index. Out: a `Catalogue`, frozen; a newer one replaces it. It never contains documents that may not be shown
(X23). It also lists files beside documents: those that published documents link to (HA5, HA16), and those whose URLs
have another meaning (HA7).
"""

from __future__ import annotations

import os
import sqlite3
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from types import MappingProxyType
from typing import ClassVar

from msgspec import Struct

from prosa.adapters.files.skill_files import SKILL_FILE
from prosa.corpus.extracted import Facets
from prosa.corpus.facets import is_published
from prosa.dialects.mdh.url import (
    FOLDER_PAGES,
    NODE_ROOT,
    RESERVED,
    SUFFIXES,
    decoded,
    exact_url,
    is_reserved,
    resolve,
    route_fault,
    route_url,
    standing_readmes,
)
from prosa.site.identity import type_of
from prosa.site.layout import LayoutName, NodeRow, asked, url_of
from prosa.site.navigation import Nodes
from prosa.source.files import is_hidden
from prosa.source.values import PartlyShown

_LINKS = "SELECT d.path, e.target FROM edge e JOIN document d ON d.id = e.document WHERE e.state = 'file'"
_SCHEMAS = """SELECT d.path, m.text FROM metadata m JOIN document d ON d.id = m.document
  WHERE m.key IN ('actions.body_schema', 'actions.response_schema', 'action.body_schema', 'action.response_schema')
    AND m.kind = 'text'"""


def linked_files(connection: sqlite3.Connection, published: Collection[str]) -> frozenset[str]:
    """Return the paths. The existence and visibility of a file are checked on request."""
    return frozenset(_linked(connection, published))


def _linked(connection: sqlite3.Connection, published: Collection[str]) -> Iterator[str]:
    for question in (_LINKS, _SCHEMAS):
        for path, target in connection.execute(question):
            if path in published:
                destination = resolve(f"/{path}", target)
                if not destination.origin:
                    yield destination.path[1:]


_ROWS = """SELECT d.node, d.type, d.title, d.path, d.dialect, d.updated, d.classification, d.visibility, i.text, t.text,
    r.text
  FROM document d
  LEFT JOIN metadata i ON i.document = d.id AND i.key = 'id' AND i.n = 0 AND i.lent_by IS NULL
  LEFT JOIN metadata t ON t.document = d.id AND t.key = 'type' AND t.n = 0 AND t.lent_by IS NULL
  LEFT JOIN metadata r ON r.document = d.id AND r.key = 'footer.ops.page.route' AND r.n = 0 AND r.kind = 'text'
    AND d.dialect = 'ymj'
  ORDER BY d.path"""
"""An author's `id` and `type` are those of the node, in any dialect."""

NO_LINKS: Mapping[str, str | None] = MappingProxyType({})


class Catalogue(PartlyShown, Struct, frozen=True, dict=True):
    """The published nodes by path. ``generation`` grows with every change; ``hidden`` counts documents that are in the
    index and not in ``rows``. ``names`` are the ids of the nodes in the graph, in the order of ``rows``. ``shadowed``
    are documents that could be shown and that no URL leads to; ``linked`` are files beside documents that published
    ones name; ``unrouted`` are records that cannot live where they ask to, with the route, and why."""

    rows: tuple[NodeRow, ...] = ()
    names: tuple[str, ...] = ()
    generation: int = 0
    hidden: int = 0
    shadowed: tuple[NodeRow, ...] = ()
    linked: frozenset[str] = frozenset()
    unrouted: tuple[tuple[str, str, str], ...] = ()

    unshown: ClassVar = frozenset({"names", "linked"})

    @cached_property
    def by_path(self) -> Mapping[str, NodeRow]:
        """The nodes by path."""
        return {row.path: row for row in self.rows}

    @cached_property
    def skills(self) -> tuple[str, ...]:
        """The folders of the skills, by path; the root is empty."""
        parts = (row.path.rpartition("/") for row in self.rows)
        return tuple(folder for folder, _, name in parts if name == SKILL_FILE)

    @cached_property
    def by_id(self) -> Mapping[str, NodeRow]:
        """The nodes by the id that they give themselves; of several with one id the first by path (HA20)."""
        return {row.id: row for row in reversed(self.rows)}

    @cached_property
    def by_node(self) -> Mapping[str, NodeRow]:
        """The nodes by the id that edges name them with: one that two files claim is a path (`graph.node.Node`)."""
        return dict(zip(self.names, self.rows, strict=True))

    @cached_property
    def by_url(self) -> Mapping[str, NodeRow]:
        """The nodes by URL path; of several at one the first by path."""
        return {row.url: row for row in reversed(self.rows)}

    @cached_property
    def folders(self) -> Mapping[str, tuple[str, ...]]:
        """The folders inside each folder that hold nodes, by their path with `/` behind; the root is empty."""
        children: dict[str, dict[str, None]] = {"": {}}
        for row in self.rows:
            for folder, inner in _steps(row.path):
                children.setdefault(inner, {})
                children[folder][inner] = None
        return {folder: tuple(inner) for folder, inner in children.items()}

    @cached_property
    def _in_folder(self) -> Mapping[str, tuple[NodeRow, ...]]:
        by_folder: dict[str, list[NodeRow]] = {}
        for row in self.rows:
            folder, _, _ = row.path.rpartition("/")
            by_folder.setdefault(f"{folder}/" if folder else "", []).append(row)
        return {folder: tuple(rows) for folder, rows in by_folder.items()}

    def index_of(self, folder: str) -> NodeRow | None:
        """Return the document that represents a folder, whose path ends with `/` or is empty, if there is one."""
        return next((row for name in FOLDER_PAGES if (row := self.by_path.get(f"{folder}{name}"))), None)

    def has_index(self, folder: str) -> bool:
        """Return whether a document represents a folder."""
        return self.index_of(folder) is not None

    def nodes_in(self, folder: str) -> tuple[NodeRow, ...]:
        """Return the nodes that lie directly in a folder, by path."""
        return self._in_folder.get(folder, ())


def read_catalogue(
    connection: sqlite3.Connection,
    generation: int,
    *,
    layout: LayoutName,
    private: bool,
    excluded: Callable[[str], bool] = lambda _: False,
    links: Mapping[str, str | None] = NO_LINKS,
) -> Catalogue:
    """Return the catalogue of the present index, without the ``excluded`` paths. ``links`` are the documents that are
    links, with the target of each, None if that is not visible. Raises `sqlite3.Error`."""
    pairs: list[tuple[str, NodeRow]] = []
    everything = connection.execute(_ROWS).fetchall()
    open_ = {
        row[3]: not (is_hidden(row[3]) or excluded(row[3]))
        and is_published(Facets(classification=row[6], visibility=row[7]), private=private)
        for row in everything
    }
    ends = {path: links.get(path, path) for path in open_}
    shown = {path for path, end in ends.items() if end is not None and open_[path] and open_.get(end, True)}
    readmes = standing_readmes(shown)
    routes: dict[str, str] = {}
    for node, kind, title, path, dialect, updated, _classification, _visibility, *own, route in everything:
        if path not in shown:
            continue
        own_id, own_type = (" ".join((value or "").split()) for value in own)
        own_id = own_id or node
        url = url_of(path, own_id, layout, stands=path in readmes)
        row = NodeRow(own_id, own_type or kind or type_of(dialect), title, url, path, dialect, updated or "")
        pairs.append((node, row))
        routes |= {path: route} if route is not None else {}
    one_each = routed(list(one_url_each([row for _, row in pairs])), routes)
    placed = [(node, row) for (node, _), row in zip(pairs, one_each, strict=True)]
    readable = [(node, row) for node, row in placed if not is_shadowed(row.url)]
    shadowed = tuple(row for _, row in placed if is_shadowed(row.url))
    rows, names = tuple(row for _, row in readable), tuple(node for node, _ in readable)
    linked = linked_files(connection, {row.path for row in rows})
    there = {row.path: row.url for row in rows}
    unrouted = tuple(_unrouted(routes, there))
    return Catalogue(rows, names, generation, len(everything) - len(rows), shadowed, linked, unrouted)


def _unrouted(routes: Mapping[str, str], there: Mapping[str, str]) -> Iterator[tuple[str, str, str]]:
    """Yield the records that are not at their routes, given where every document is."""
    owners = {url: path for path, url in there.items()}
    for path, route in routes.items():
        url = route_url(route)
        if there.get(path) != url:
            why = route_fault(route) or (f"{owners[url]!r} is there" if url in owners else "it is taken")
            yield path, route, why


def still_published(connection: sqlite3.Connection, paths: Iterable[str], *, private: bool) -> frozenset[str]:
    """Return those of some paths whose documents may be shown according to the present index, which may be newer than
    a catalogue. Raises `sqlite3.Error`."""
    question = "SELECT classification, visibility FROM document WHERE path = ?"
    rows = ((path, connection.execute(question, (path,)).fetchone()) for path in paths)
    facets = ((path, Facets(classification=row[0], visibility=row[1])) for path, row in rows if row is not None)
    return frozenset(path for path, facet in facets if not is_hidden(path) and is_published(facet, private=private))


def one_url_each(rows: Sequence[NodeRow]) -> Iterator[NodeRow]:
    """Yield the rows, no two at one URL: where several files have a claim to it, the one that a request finds there
    keeps it, and the others are reached by their whole name."""
    claims = Counter(row.url for row in rows)
    ids: set[str] = set()
    paths = {row.path for row in rows}
    for row in rows:
        if row.url.startswith(NODE_ROOT) and row.url != url_of(row.path):
            if row.id not in ids:
                ids.add(row.id)
                yield row
                continue
            row = row._replace(url=url_of(row.path))
        elif claims[row.url] == 1 and not row.url.lower().endswith(SUFFIXES):
            yield row
            continue
        first = next((page.path for page in asked(decoded(row.url.encode()) or "/").wanted if page.path in paths), "")
        yield row if first in (row.path, "") else row._replace(url=exact_url(row.path))


def routed(rows: Sequence[NodeRow], routes: Mapping[str, str]) -> Iterator[NodeRow]:
    """Yield the rows, with records at the routes that they request (Y12). A document with that URL by its file keeps
    it; of several records at one route the first by path gets it."""
    taken = {row.url for row in rows}
    for row in rows:
        url = route_url(routes.get(row.path, ""))
        if url and url not in taken:
            taken.add(url)
            row = row._replace(url=url)
        yield row


def nodes_of(catalogue: Catalogue) -> Nodes:
    """Return what an entry of a navigation may lead to."""
    return Nodes(
        by_path=catalogue.by_path,
        index_of=catalogue.index_of,
        nodes_in=catalogue.nodes_in,
        folders_in=lambda folder: catalogue.folders.get(folder, ()),
        listing_of=lambda folder: url_of(f"{folder}index.md"),
    )


def is_shadowed(url: str) -> bool:
    """Return whether no document can be read at a URL path: it belongs to the site itself, or holds what no URL
    holds."""
    return is_reserved(url) or decoded(url.encode("ascii")) is None


def _steps(path: str) -> Iterator[tuple[str, str]]:
    """Yield each folder on the way to a document with the one inside it: `a/b/c.md` gives `("", "a/")`, `("a/",
    "a/b/")`."""
    at, outer = path.find("/"), ""
    while at >= 0:
        inner = path[: at + 1]
        yield outer, inner
        outer, at = inner, path.find("/", at + 1)


def hidden_files(root: Path, rows: Sequence[NodeRow]) -> Iterator[tuple[str, str]]:
    """Yield the files, by their path below the root, and why they cannot be read."""
    for name in RESERVED:
        if (root / name).is_file():
            yield name, "the site makes its own"
    for row in rows:
        suffix = next((ending for ending in SUFFIXES if row.path.endswith(ending)), "")
        twin = f"{row.path.removesuffix(suffix)}.json"
        if os.path.isfile(root / twin):  # noqa: PTH113 - false for a name that is too long, where a Path raises
            yield twin, f"it is the JSON form of {row.path!r}"
