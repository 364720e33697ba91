"""The links of one document: its targets, the documents that point at it, and broken references (Y22, X21).

In: a graph and the id of a node, or known edges. Out: `Links`. Nothing is looked up.
"""

from __future__ import annotations

from collections.abc import Iterable

from msgspec import Struct

from prosa.graph.inverse import INVERSES, TYPED
from prosa.graph.node import Edge, Node


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
