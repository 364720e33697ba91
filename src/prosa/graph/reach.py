"""Paths through the graph: the links of one document, the neighbourhood of a node, the impact of a change, the shortest
path.

In: a graph and ids of nodes. Out: nodes with their distance and the edge that reached them. Breadth first, in the order
of the edges, so that equal graphs give equal answers. Every walk is linear in the edges it sees.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Collection, Iterable, Iterator
from typing import NamedTuple

from msgspec import Struct

from prosa.graph.graph import INVERSES, TYPED, Graph
from prosa.graph.node import Edge, Node


class Reached(NamedTuple):
    """A reached node: ``distance`` is the number of edges, ``edge`` the last of them, ``via`` the node at its other
    end. ``forwards`` is true if the edge was followed from source to target."""

    node: str
    distance: int
    via: str
    edge: Edge
    forwards: bool


def neighbourhood(graph: Graph, node: str, depth: int = 1, rels: Collection[str] | None = None) -> tuple[Reached, ...]:
    """Return the nodes at most ``depth`` edges away, in either direction, the nearest first. Without the node
    itself."""
    return tuple(_walk(node, depth, lambda at: _both(graph, at, rels)))


def impact(
    graph: Graph, node: str, rels: Collection[str] | None = None, depth: int | None = None
) -> tuple[Reached, ...]:
    """Return everything that reaches the node, directly or through others: what a change of it may concern.

    ``rels`` limits the edges to those types; then derived edges of these types count too (X21).
    """
    return tuple(_walk(node, depth, lambda at: _backwards(graph, at, rels)))


def shortest_path(graph: Graph, start: str, end: str, *, directed: bool = False) -> tuple[Reached, ...] | None:
    """Return the steps of a shortest way: empty from a node to itself, None where there is none."""
    if start == end:
        return ()
    steps: dict[str, Reached] = {}
    for step in _walk(start, None, lambda at: _forwards(graph, at) if directed else _both(graph, at, None)):
        steps[step.node] = step
        if step.node == end:
            return _way(start, end, steps)
    return None


def _walk(start: str, depth: int | None, steps: Callable[[str], Iterator[tuple[str, Edge, bool]]]) -> Iterator[Reached]:
    known = {start}
    waiting = deque([(start, 0)])
    while waiting:
        at, distance = waiting.popleft()
        if depth is not None and distance >= depth:
            return
        for node, edge, forwards in steps(at):
            if node not in known:
                known.add(node)
                waiting.append((node, distance + 1))
                yield Reached(node, distance + 1, at, edge, forwards)


def _forwards(graph: Graph, node: str) -> Iterator[tuple[str, Edge, bool]]:
    return ((edge.target, edge, True) for edge in graph.out(node) if edge.state == "resolved")


def _both(graph: Graph, node: str, rels: Collection[str] | None) -> Iterator[tuple[str, Edge, bool]]:
    for edge in graph.out(node, derived=rels is not None):
        if edge.state == "resolved" and (rels is None or edge.rel in rels):
            yield edge.target, edge, True
    yield from _backwards(graph, node, rels)


def _backwards(graph: Graph, node: str, rels: Collection[str] | None) -> Iterator[tuple[str, Edge, bool]]:
    for edge in graph.back(node, derived=rels is not None):
        if rels is None or edge.rel in rels:
            yield edge.source, edge, False


def _way(start: str, end: str, steps: dict[str, Reached]) -> tuple[Reached, ...]:
    way = [steps[end]]
    while way[-1].via != start:
        way.append(steps[way[-1].via])
    return tuple(reversed(way))


class Links(Struct, frozen=True):
    """``out`` are the references of ``node`` that lead somewhere, to a document, a file or outside; ``back`` those of
    other documents to it (Y22); ``unresolved`` are its own that do not lead to one document as they should."""

    node: Node
    out: tuple[Edge, ...]
    back: tuple[Edge, ...]
    unresolved: tuple[Edge, ...]

    @classmethod
    def of(cls, node: Node, out: Iterable[Edge], back: Iterable[Edge]) -> Links:
        """Return the links of a node, from the edges at both of its ends."""
        out = tuple(out)
        return cls(
            node,
            tuple(edge for edge in out if not edge.is_missing),
            tuple(edge for edge in back if edge.source != node.id),
            tuple(edge for edge in out if edge.is_missing),
        )


def inverse_of(edge: Edge) -> str | None:
    """Return what an edge is called from its target (X21), None where its rel has no inverse."""
    return INVERSES.get(edge.rel or "") if edge.origin in TYPED else None
