"""The graph: nodes and edges, indexed by id, by path and by either end; and the inverse of an edge (X21).

In: nodes and resolved edges. Out: `Graph`. Derived edges are separate from written ones (X21).

Links, wikilinks, imports and includes have no inverse.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property

from msgspec import Struct
from msgspec.structs import replace

from prosa.document.references import Origin
from prosa.graph.node import Edge, Node


class Graph(Struct, frozen=True, dict=True):
    """``nodes`` in the order of their paths; ``edges`` are the written ones, by source and then by place, ``derived``
    the others, in the order of the edges they come from."""

    nodes: tuple[Node, ...] = ()
    edges: tuple[Edge, ...] = ()
    derived: tuple[Edge, ...] = ()

    @classmethod
    def of(cls, nodes: Iterable[Node], edges: Iterable[Edge]) -> Graph:
        """Return the graph of stored nodes and written edges: they are put in order, and the derived edges found."""
        ordered = tuple(sorted(nodes, key=lambda node: node.path))
        place = {node.id: at for at, node in enumerate(ordered)}
        written = tuple(sorted(edges, key=lambda edge: (place.get(edge.source, len(place)), edge.start, edge.end)))
        return cls(ordered, written, derived_edges(written))

    @cached_property
    def by_id(self) -> Mapping[str, Node]:
        """The nodes by id."""
        return {node.id: node for node in self.nodes}

    @cached_property
    def by_path(self) -> Mapping[str, Node]:
        """The nodes by path."""
        return {node.path: node for node in self.nodes}

    def out(self, node: str, *, derived: bool = False) -> tuple[Edge, ...]:
        """Return what a node points at, in the order written, resolved or not; with ``derived`` the derived edges
        last."""
        edges = self._out.get(node, ())
        return (*edges, *self._derived_out.get(node, ())) if derived else tuple(edges)

    def back(self, node: str, *, derived: bool = False) -> tuple[Edge, ...]:
        """Return the edges that point at a node (Y22), resolved ones only; ``derived`` adds the derived ones last."""
        edges = self._back.get(node, ())
        return (*edges, *self._derived_back.get(node, ())) if derived else tuple(edges)

    @cached_property
    def resolved(self) -> tuple[Edge, ...]:
        """The written edges that lead to one document."""
        return tuple(edge for edge in self.edges if edge.state == "resolved")

    @cached_property
    def missing(self) -> tuple[Edge, ...]:
        """The written edges that do not lead to one document as they should: unresolved and ambiguous ones."""
        return tuple(edge for edge in self.edges if edge.is_missing)

    @cached_property
    def _out(self) -> Mapping[str, Sequence[Edge]]:
        return _grouped(self.edges, back=False)

    @cached_property
    def _back(self) -> Mapping[str, Sequence[Edge]]:
        return _grouped(self.resolved, back=True)

    @cached_property
    def _derived_out(self) -> Mapping[str, Sequence[Edge]]:
        return _grouped(self.derived, back=False)

    @cached_property
    def _derived_back(self) -> Mapping[str, Sequence[Edge]]:
        return _grouped(self.derived, back=True)


def _grouped(edges: Iterable[Edge], *, back: bool) -> Mapping[str, Sequence[Edge]]:
    by_node: dict[str, list[Edge]] = {}
    for edge in edges:
        by_node.setdefault(edge.target if back else edge.source, []).append(edge)
    return by_node


# Inverse edges (X21): the meaning of a relationship for the document it points at.

INVERSES: Mapping[str, str] = {
    "parent": "child",
    "child": "parent",
    "extends": "extended-by",
    "extended-by": "extends",
    "supports": "supported-by",
    "supported-by": "supports",
    "citation": "cited-by",
    "cited-by": "citation",
    "related": "related",
    "contradicts": "contradicts",
}
"""The rel of the other direction; `related` and `contradicts` are symmetric."""

SYMMETRIC = frozenset(rel for rel, inverse in INVERSES.items() if rel == inverse)

TYPED: frozenset[Origin] = frozenset(("footnote", "front-matter", "ops.graph", "ops.ticket", "ops.trace"))
"""Where relationships are written."""


def derived_edges(edges: Iterable[Edge]) -> tuple[Edge, ...]:
    """Return the inverses of ``edges``, in their order. For a two-way edge, a rel without inverse becomes an
    edge without rel."""
    edges = tuple(edges)
    pairs = [(edge, back) for edge in edges if edge.origin in TYPED and (back := _inverse(edge)) is not None]
    sources = {back.source for _, back in pairs}
    known = {(edge.source, edge.target, edge.rel) for edge in edges if edge.source in sources and edge.resolved}
    derived: list[Edge] = []
    for edge, back in pairs:
        if (back.source, back.target, back.rel) in known:
            continue
        if back.rel is None and (back.source, back.target, edge.rel) in known:
            continue  # both sides say it
        known.add((back.source, back.target, back.rel))
        derived.append(back)
    return tuple(derived)


def _inverse(edge: Edge) -> Edge | None:
    if not edge.resolved or edge.derived or edge.source == edge.target:
        return None
    rel = INVERSES.get(edge.rel or "")
    if rel is None and not edge.bidirectional:
        return None
    return replace(edge, source=edge.target, target=edge.source, rel=rel, fragment="", derived=True)
