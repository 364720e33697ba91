"""Parts of a graph: orphans, connected components, cycles, documents that do not exist yet.

In: a graph. Out: ids of nodes, in the order of the nodes; names of documents that do not exist. Linear in nodes and
edges.
"""

from __future__ import annotations

import posixpath
from collections.abc import Collection, Mapping
from typing import NamedTuple

from prosa.graph.cycles import find_cycles
from prosa.graph.graph import Graph
from prosa.graph.names import folded, stem_of
from prosa.graph.node import Edge


class WantedDocument(NamedTuple):
    """A document that links name and that does not exist: its name as it is first written, and the links."""

    name: str
    edges: tuple[Edge, ...]


def orphans(graph: Graph) -> tuple[str, ...]:
    """Return the nodes that no other document points at."""
    targets = {edge.target for edge in graph.resolved if edge.source != edge.target}
    return tuple(node.id for node in graph.nodes if node.id not in targets)


def components(graph: Graph) -> tuple[tuple[str, ...], ...]:
    """Return the parts that hang together, whichever way the edges point; the largest first."""
    leader = {node.id: node.id for node in graph.nodes}
    for edge in graph.resolved:
        one, other = _leader(edge.source, leader), _leader(edge.target, leader)
        leader[max(one, other)] = min(one, other)
    parts: dict[str, list[str]] = {}
    for node in graph.nodes:
        parts.setdefault(_leader(node.id, leader), []).append(node.id)
    return tuple(sorted(map(tuple, parts.values()), key=len, reverse=True))


def cycles(graph: Graph, rels: Collection[str] | None = None) -> tuple[tuple[str, ...], ...]:
    """Return one shortest cycle for each group of nodes that reach one another over written edges, or over those of
    some types (`import`: LA15). A document that points at itself is no cycle unless ``rels`` selects the edges."""
    edges: dict[str, dict[str, None]] = {node.id: {} for node in graph.nodes}
    for edge in graph.resolved:
        if edge.rel in rels if rels is not None else edge.source != edge.target:
            edges.setdefault(edge.source, {})[edge.target] = None
    followed: Mapping[str, tuple[str, ...]] = {node: tuple(targets) for node, targets in edges.items()}
    return find_cycles(followed)


def wanted(graph: Graph) -> tuple[WantedDocument, ...]:
    """Return the documents that wikilinks and relative links name and that do not exist, the most linked first.
    Spellings that differ in case and blanks are one name; folders in front of it do not count."""
    by_name: dict[str, list[Edge]] = {}
    for edge in graph.missing:
        if edge.state == "unresolved" and edge.kind in ("stem", "path"):
            by_name.setdefault(folded(_stem(edge.target)), []).append(edge)
    rows = (WantedDocument(_stem(edges[0].target), tuple(edges)) for name, edges in by_name.items() if name)
    return tuple(sorted(rows, key=lambda row: (-len(row.edges), row.name.casefold())))


def _stem(target: str) -> str:
    return posixpath.basename(stem_of(target.rstrip("/"))[1])


def _leader(node: str, leader: dict[str, str]) -> str:
    """Return the node that stands for a part; the way to it is halved each time."""
    while leader[node] != node:
        leader[node] = leader[leader[node]]
        node = leader[node]
    return node
