"""The graph as GraphML, for Gephi, yEd, igraph, NetworkX. In: a selection. Out: XML with typed attributes.

Ids are made up, as XML wants them; what a document calls itself is the attribute `id`. Text is escaped, and characters
that XML 1.0 does not have become U+FFFD. Derived edges are there, marked.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Literal, TypeAlias

from prosa.graph.node import Edge, Node
from prosa.graph.selection import Ghost, Selection
from prosa.render.graph.plain_text import name_of, one_line
from prosa.render.graph.svg import escape

Value: TypeAlias = str | int | float | bool | None
Type: TypeAlias = Literal["string", "int", "double", "boolean"]

NODE_KEYS: tuple[tuple[str, Type], ...] = (
    ("id", "string"),
    ("label", "string"),
    ("path", "string"),
    ("dialect", "string"),
    ("title", "string"),
    ("type", "string"),
    ("url", "string"),
    ("missing", "boolean"),
)
EDGE_KEYS: tuple[tuple[str, Type], ...] = (
    ("rel", "string"),
    ("origin", "string"),
    ("line", "int"),
    ("fragment", "string"),
    ("strength", "double"),
    ("bidirectional", "boolean"),
    ("derived", "boolean"),
)


def graphml(selection: Selection) -> str:
    """Return the file."""
    return "\n".join((*_head(), *_nodes(selection), *_edges(selection), "  </graph>", "</graphml>")) + "\n"


def _head() -> Iterator[str]:
    yield '<?xml version="1.0" encoding="UTF-8"?>'
    yield '<graphml xmlns="http://graphml.graphdrawing.org/xmlns">'
    for name, kind in NODE_KEYS:
        yield f'  <key id="n-{name}" for="node" attr.name="{name}" attr.type="{kind}"/>'
    for name, kind in EDGE_KEYS:
        yield f'  <key id="e-{name}" for="edge" attr.name="{name}" attr.type="{kind}"/>'
    yield '  <graph id="prosa" edgedefault="directed">'


def _nodes(selection: Selection) -> Iterator[str]:
    for at, node in enumerate(selection.nodes):
        yield f'    <node id="n{at}">{_data("n", NODE_KEYS, _node_values(node))}</node>'
    for at, ghost in enumerate(selection.ghosts):
        yield f'    <node id="g{at}">{_data("n", NODE_KEYS, _ghost_values(ghost))}</node>'


def _node_values(node: Node) -> tuple[Value, ...]:
    return (
        node.id,
        name_of(node),
        node.path,
        node.dialect,
        node.title or None,
        node.type or None,
        node.url or None,
        None,
    )


def _ghost_values(ghost: Ghost) -> tuple[Value, ...]:
    return ghost.target, one_line(ghost.target), None, None, None, None, None, True


def _edges(selection: Selection) -> Iterator[str]:
    place = {node.id: at for at, node in enumerate(selection.nodes)}
    for edge in selection.resolved:
        yield _edge(edge, f"n{place[edge.source]}", f"n{place[edge.target]}")
    for edge, ghost in selection.ghost_edges():
        yield _edge(edge, f"n{place[edge.source]}", f"g{ghost}")


def _edge(edge: Edge, source: str, target: str) -> str:
    strength = edge.strength if edge.strength is not None and math.isfinite(edge.strength) else None
    values = (
        *(edge.rel, edge.origin, edge.line, edge.fragment or None, strength),
        *(edge.bidirectional or None, edge.derived or None),
    )
    return f'    <edge source="{source}" target="{target}">{_data("e", EDGE_KEYS, values)}</edge>'


def _data(prefix: str, keys: tuple[tuple[str, Type], ...], values: tuple[Value, ...]) -> str:
    """Return the attributes that have a value."""
    pairs = zip(keys, values, strict=True)
    return "".join(
        f'<data key="{prefix}-{name}">{_text(value)}</data>' for (name, _), value in pairs if value is not None
    )


def _text(value: Value) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return escape(value) if isinstance(value, str) else str(value)
