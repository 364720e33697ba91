"""What of a graph is shown: nodes and edges after the wishes of a reader, and the targets that do not exist.

In: nodes and edges in the order of the graph. Out: a `Selection` in the same order. Nothing is resolved here.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from functools import cached_property

from msgspec import Struct

from prosa.dialects import DialectName
from prosa.document.references import Origin, RefKind
from prosa.graph.node import Edge, Node

PLAIN_REL = "none"
"""How people ask for edges that have no rel."""


class GraphFilter(Struct, frozen=True):
    """What to show. Empty collections ask for everything; ``rels`` may name `none`."""

    rels: Collection[str] = ()
    origins: Collection[Origin] = ()
    dialects: Collection[DialectName] = ()
    derived: bool = True


class Ghost(Struct, frozen=True):
    """A target that is no document: as written, and as it was meant."""

    target: str
    kind: RefKind


class Selection(Struct, frozen=True, dict=True):
    """Nodes and edges to show; written edges come first, then derived ones. ``ghosts`` are the targets that do not
    exist, if requested."""

    nodes: tuple[Node, ...]
    edges: tuple[Edge, ...]
    ghosts: tuple[Ghost, ...] = ()

    @cached_property
    def by_id(self) -> dict[str, Node]:
        """The nodes by id."""
        return {node.id: node for node in self.nodes}

    @cached_property
    def resolved(self) -> tuple[Edge, ...]:
        """Edges between two nodes of the selection."""
        return tuple(edge for edge in self.edges if edge.resolved and self._holds(edge))

    @cached_property
    def missing(self) -> tuple[Edge, ...]:
        """Edges that do not lead to a document as they should."""
        return tuple(edge for edge in self.edges if edge.is_missing)

    @cached_property
    def drawn(self) -> tuple[Edge, ...]:
        """Resolved edges as a drawing shows them: every connection once. A derived edge is left out where the written
        one it comes from is there."""
        written = {(edge.source, edge.target) for edge in self.resolved if not edge.derived}
        return tuple(edge for edge in self.resolved if not edge.derived or (edge.target, edge.source) not in written)

    def ghost_edges(self) -> tuple[tuple[Edge, int], ...]:
        """Missing edges with the place of their ghost in ``ghosts``; empty if ghosts were not requested."""
        place = {ghost: at for at, ghost in enumerate(self.ghosts)}
        placed = ((edge, place.get(Ghost(edge.target, edge.kind))) for edge in self.missing)
        return tuple((edge, at) for edge, at in placed if at is not None)

    def _holds(self, edge: Edge) -> bool:
        return edge.source in self.by_id and edge.target in self.by_id


def select(
    nodes: Iterable[Node], edges: Iterable[Edge], graph_filter: GraphFilter, *, ghosts: bool = False
) -> Selection:
    """Return the nodes and edges that the graph_filter lets through. An edge goes with either of its nodes."""
    shown = tuple(node for node in nodes if not graph_filter.dialects or node.dialect in graph_filter.dialects)
    ids = {node.id for node in shown}
    kept = tuple(edge for edge in edges if _wanted(edge, graph_filter) and edge.source in ids and _ends(edge, ids))
    missing = dict.fromkeys(Ghost(edge.target, edge.kind) for edge in kept if edge.is_missing) if ghosts else ()
    return Selection(shown, kept, tuple(missing))


def _wanted(edge: Edge, graph_filter: GraphFilter) -> bool:
    return (
        (not graph_filter.rels or (edge.rel or PLAIN_REL) in graph_filter.rels)
        and (not graph_filter.origins or edge.origin in graph_filter.origins)
        and (graph_filter.derived or not edge.derived)
    )


def _ends(edge: Edge, ids: Collection[str]) -> bool:
    """Return whether the target of an edge is shown, or lies outside the nodes."""
    return edge.target in ids if edge.resolved else True
