"""Contradictions: pairs of documents of which one declares that it contradicts the other (X21, M44).

In: a graph. Out: each pair once, with the places of the declarations. The caller reads the passages from the files.
"""

from __future__ import annotations

from msgspec import Struct

from prosa.graph.graph import Graph
from prosa.graph.node import Edge, Node

REL = "contradicts"


class Contradiction(Struct, frozen=True):
    """Two nodes in the order of their paths, and every edge between them that declares a contradiction, in the order
    of the graph.

    The passage of the declaring document is the line of the edge; that of the other is the section its ``fragment``
    names, else the whole document.
    """

    one: Node
    other: Node
    edges: tuple[Edge, ...]


def contradictions(graph: Graph) -> tuple[Contradiction, ...]:
    """Return the contradictions of a corpus, by the path of the first document and then of the second."""
    pairs: dict[tuple[str, str], list[Edge]] = {}
    for edge in graph.resolved:
        if edge.rel == REL:
            one, other = sorted((graph.by_id[edge.source].path, graph.by_id[edge.target].path))
            pairs.setdefault((one, other), []).append(edge)
    paths = graph.by_path
    return tuple(Contradiction(paths[one], paths[other], tuple(pairs[one, other])) for one, other in sorted(pairs))
