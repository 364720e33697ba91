"""Inverse edges (X21): the meaning of a relationship for the document it points at.

In: written edges. Out: derived edges, marked as such, none of them also written. Links, wikilinks, imports and
includes have no inverse.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from msgspec.structs import replace

from prosa.document.references import Origin
from prosa.graph.node import Edge

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
    found = [(edge, back) for edge in edges if edge.origin in TYPED and (back := _inverse(edge)) is not None]
    sources = {back.source for _, back in found}
    known = {(each.source, each.target, each.rel) for each in edges if each.source in sources and each.resolved}
    derived: list[Edge] = []
    for edge, back in found:
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
