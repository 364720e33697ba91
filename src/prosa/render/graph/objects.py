"""Nodes and edges as the JSON objects of interface.md, the same in `prosa graph` and `prosa links`.

In: values of the graph. Out: dictionaries whose keys keep their order.
"""

from __future__ import annotations

from collections.abc import Iterable

from prosa.data import Value
from prosa.graph.node import Edge, Node
from prosa.render.json import dump


def node_object(node: Node) -> dict[str, Value]:
    """Return `{id, path, dialect, title, type, url}`."""
    return {
        "id": node.id,
        "path": node.path,
        "dialect": node.dialect,
        "title": node.title,
        "type": node.type,
        "url": node.url,
    }


def edge_object(edge: Edge) -> dict[str, Value]:
    """Return `{source, target, rel, origin, line, resolved}`, then optional keys.

    `state` is present if the edge is not resolved, `derived` if it is an inverse (X21); a weight, a fragment and the
    candidates of an ambiguous target if they exist; `exact` is false if only another case matched (YA21).
    """
    written: dict[str, Value] = {
        "source": edge.source,
        "target": edge.target,
        "rel": edge.rel,
        "origin": edge.origin,
        "line": edge.line,
        "resolved": edge.resolved,
    }
    return written | dict(_further(edge))


def graph_json(nodes: Iterable[Node], edges: Iterable[Edge]) -> str:
    """Return `{"nodes": […], "edges": […]}`, one node or edge on a line."""
    return f'{{"nodes": [{_lines(map(node_object, nodes))}], "edges": [{_lines(map(edge_object, edges))}]}}'


def _further(edge: Edge) -> Iterable[tuple[str, Value]]:
    if not edge.resolved:
        yield "state", edge.state
    if edge.strength is not None:
        yield "strength", edge.strength
    if edge.bidirectional:
        yield "bidirectional", True
    if edge.fragment:
        yield "fragment", edge.fragment
    if edge.range:
        yield "range", edge.range
    if not edge.exact:
        yield "exact", False
    if edge.candidates:
        yield "candidates", list(edge.candidates)
    if edge.derived:
        yield "derived", True


def _lines(objects: Iterable[dict[str, Value]]) -> str:
    lines = [f"\n  {dump(record)}" for record in objects]
    return ",".join(lines) + "\n" if lines else ""
