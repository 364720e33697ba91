"""The graph of a site, or what lies around one node, as a selection to draw (X21, X23).

In: a site whose graph is there. Out: nodes and edges, published ones only. A large site shows its best linked nodes:
a picture of everything would show nothing.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable
from typing import TYPE_CHECKING

from msgspec.structs import replace

from prosa.graph.graph import derived_edges
from prosa.graph.node import Edge, Node
from prosa.graph.selection import GraphFilter, Selection, select

if TYPE_CHECKING:
    from prosa.app.site.live import LiveSite
    from prosa.graph.graph import Graph

MAX_DRAWN = 1_500
"""Nodes of a picture of the whole site."""

MAX_AROUND = 60
"""Nodes of the picture around a node, the nearest first."""

MAX_SMALL = 25
"""The same for the picture beside a page, which has no names."""

MAX_DEPTH = 3


def whole(site: LiveSite) -> tuple[Selection, int]:
    """Return the drawing of the whole site, and the number of omitted nodes."""
    nodes, edges = _published(site)
    if len(nodes) <= MAX_DRAWN:
        return select(nodes, edges, GraphFilter()), 0
    uses = Counter(end for edge in edges if edge.resolved for end in (edge.source, edge.target))
    best = {node.id for node in sorted(nodes, key=lambda node: (-uses[node.id], node.path))[:MAX_DRAWN]}
    return _among(nodes, edges, best), len(nodes) - MAX_DRAWN


def around(site: LiveSite, path: str, depth: int = 1, *, most: int = MAX_AROUND) -> Selection:
    """Return the document at a path with its neighbours within so many steps, the nearest first. Only these are read:
    a small picture does not need the whole site."""
    rows, by_path = site.index.catalogue.by_node, site.index.catalogue.by_path
    paths: dict[str, None] = {path: None} if path in by_path else {}
    border = list(paths)
    for _ in range(min(depth, MAX_DEPTH)):
        near = (end for start in border for end in _ends(site, start) if end in rows)
        border = [other for end in near if (other := rows[end].path) not in paths]
        border = list(dict.fromkeys(border))[: most - len(paths)]
        paths |= dict.fromkeys(border)
    edges = site.index.ask(lambda corpus: [edge for reached in paths for edge in corpus.index.edges_from(reached)])
    read = site.index.ask(lambda corpus: [corpus.index.node_at(reached) for reached in paths])
    nodes = [replace(node, url=by_path[node.path].url) for node in read if node is not None]
    return _among(nodes, [*edges, *derived_edges(edges)], {node.id for node in nodes})


def _ends(site: LiveSite, path: str) -> list[str]:
    """Return the nodes at the other ends of the edges of a document."""
    out, back = site.index.ask(lambda corpus: (corpus.index.edges_from(path), corpus.index.edges_to(path)))
    return [*(edge.target for edge in out if edge.resolved), *(edge.source for edge in back)]


def _published(site: LiveSite) -> tuple[list[Node], list[Edge]]:
    """Return published nodes, with the URLs that they have here, and the edges between them."""
    graph: Graph = site.index.ask(lambda corpus: corpus.index.graph())
    rows = site.index.catalogue.by_node
    nodes = [replace(node, url=rows[node.id].url) for node in graph.nodes if node.id in rows]
    both = (*graph.edges, *graph.derived)
    edges = [edge for edge in both if edge.resolved and edge.source in rows and edge.target in rows]
    return nodes, edges


def _among(nodes: Iterable[Node], edges: Iterable[Edge], ids: Collection[str]) -> Selection:
    chosen = [node for node in nodes if node.id in ids]
    return select(chosen, [edge for edge in edges if edge.resolved and edge.source in ids], GraphFilter())
