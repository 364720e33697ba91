"""The connections of a node of a site, from the graph, as far as they may be shown (H4, X21, X23).

In: the index of a site, and the path of a document. Out: its typed links, and its neighbours for the page. Documents
that are not published are not mentioned.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, TypeVar

from prosa.corpus.errors import CorpusError
from prosa.corpus.extract import BETWEEN
from prosa.dialects.mdh.url import is_reserved
from prosa.document.anchors import heading_names
from prosa.graph.node import Edge
from prosa.graph.reach import inverse_of
from prosa.site.indexes import listing_id
from prosa.site.layout import Neighbour, Neighbourhood, NodeRow, TypedLink, url_of

if TYPE_CHECKING:
    from prosa.app.site.catalogue import Catalogue
    from prosa.app.site.keeper import IndexThread


T = TypeVar("T")

_RELS = {"wikilink": "mentions", "import": "imports", "include": "includes"}
"""The name of a link without a rel in a node's `links`, by its notation."""

MAX_TYPED = 500
"""Derived links of one node."""


def typed_links(index: IndexThread, path: str) -> tuple[TypedLink, ...]:
    """Return the `links` of a document that has none of its own: its relationships and wikilinks (H10), and the
    content of the folder that it represents, so that every node can be reached from the root (H7)."""
    if not index.is_ready:
        return ()
    edges = edges_from(index, path)
    nodes = index.catalogue.by_node
    links: dict[TypedLink, None] = {}
    for edge in edges:
        rel = edge.rel or _RELS.get(edge.origin)
        target = _target(edge, nodes)
        if rel and target and edge.origin != "inline":
            links[TypedLink(rel, target)] = None
    links |= {TypedLink("contains", name): None for _, _, name in _inside(index.catalogue, path)}
    return tuple(links)[:MAX_TYPED]


def neighbourhood(index: IndexThread, path: str) -> Neighbourhood | None:
    """Return what stands around the node at a path; None while there is no graph."""
    if not index.is_ready:
        return None
    out, back = _asked(index.edges_from, path), _asked(index.edges_to, path)
    if out is None or back is None:
        return None
    nodes = index.catalogue.by_node
    typed = [*_typed(out, nodes), *_typed_back(back, nodes, path)]
    return Neighbourhood(
        relationships=_once(typed),
        links=_once(_plain(out, nodes)),
        backlinks=_once(_back(back, nodes, path)),
        inside=_once(Neighbour(title, url) for title, url, _ in _inside(index.catalogue, path)),
    )


def named_blocks(index: IndexThread, path: str) -> frozenset[str]:
    """Return the ids of the blocks of a document that others point at: `^id` at the end of a block is its name then."""
    edges = _asked(index.edges_to, path) if index.is_ready else None
    return frozenset(edge.fragment[1:] for edge in edges or () if edge.fragment.startswith("^"))


_HEADINGS = """SELECT s.anchor, s.heading, substr(s.text, 1, 1000) FROM section s JOIN document d ON d.id = s.document
  WHERE d.path = ? AND s.number > 0 ORDER BY s.number"""


def headings_of(index: IndexThread, path: str) -> Mapping[str, str]:
    """Return the anchors of the headings of a document by everything that a fragment may call them
    (`anchors.heading_named`)."""
    rows = _asked(
        lambda path: index.ask(lambda corpus: corpus.index.connection().execute(_HEADINGS, (path,)).fetchall()), path
    )
    if not rows:
        return {}
    names = heading_names(
        (anchor, heading.rpartition(BETWEEN)[2], text.partition("\n")[0]) for anchor, heading, text in rows
    )
    return {name: rows[number][0] for name, number in names.items() if rows[number][0]}


def _inside(catalogue: Catalogue, path: str) -> Iterator[tuple[str, str, str]]:
    """Yield the content of the folder that a document represents, which its own page would list: titles, URLs
    and ids."""
    folder = path[: path.rfind("/") + 1]
    own = catalogue.index_of(folder)
    if own is None or own.path != path:
        return
    for inner in catalogue.folders.get(folder, ()):
        page = catalogue.index_of(inner)
        url, name = (page.url, page.id) if page is not None else (url_of(f"{inner}index.md"), listing_id(inner))
        if not is_reserved(url):
            yield inner[len(folder) :], url, name
    yield from ((row.title, row.url, row.id) for row in catalogue.nodes_in(folder) if row.path != path)


def edges_from(index: IndexThread, path: str) -> Sequence[Edge]:
    """Return the edges of a document; none where there is no index."""
    return _asked(index.edges_from, path) or ()


def _asked(question: Callable[[str], Sequence[T]], path: str) -> Sequence[T] | None:
    """Return rows from the index; None where it cannot be used, which is no reason to show nothing of a node."""
    try:
        return question(path)
    except CorpusError:
        return None


def _target(edge: Edge, nodes: Mapping[str, NodeRow]) -> str:
    """Return the value of `target`: the id of a published node, or `url:…`. Broken targets are omitted, so that
    unpublished ones cannot be distinguished from them."""
    if edge.resolved:
        row = nodes.get(edge.target)
        return row.id if row is not None else ""
    return f"url:{edge.target}" if edge.state == "external" else ""


def _typed(edges: Iterable[Edge], nodes: Mapping[str, NodeRow]) -> Iterator[Neighbour]:
    for edge in edges:
        if edge.rel is not None and edge.origin != "inline":
            yield from _neighbour(edge, edge.rel, nodes)


def _typed_back(edges: Iterable[Edge], nodes: Mapping[str, NodeRow], path: str) -> Iterator[Neighbour]:
    for edge in edges:
        rel, row = inverse_of(edge), nodes.get(edge.source)
        if rel is not None and row is not None and row.path != path:
            yield Neighbour(row.title, row.url, rel)


def _plain(edges: Iterable[Edge], nodes: Mapping[str, NodeRow]) -> Iterator[Neighbour]:
    for edge in edges:
        if edge.rel is None or edge.origin == "inline":
            yield from _neighbour(edge, "", nodes)


def _neighbour(edge: Edge, rel: str, nodes: Mapping[str, NodeRow]) -> Iterator[Neighbour]:
    if edge.resolved:
        row = nodes.get(edge.target)
        if row is not None:
            yield Neighbour(row.title, row.url, rel)
    elif edge.state == "external":
        yield Neighbour(edge.target, edge.target, rel, external=True)


def _back(edges: Iterable[Edge], nodes: Mapping[str, NodeRow], path: str) -> Iterator[Neighbour]:
    for edge in edges:
        row = nodes.get(edge.source)
        if row is not None and row.path != path:
            yield Neighbour(row.title, row.url)


def _once(neighbours: Iterable[Neighbour]) -> tuple[Neighbour, ...]:
    return tuple(dict.fromkeys(neighbours))
