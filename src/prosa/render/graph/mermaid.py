"""The graph for Mermaid, which many viewers of Markdown draw. In: a selection. Out: a flowchart.

Nodes have generated names; in labels everything but letters, digits and a few harmless marks is a numeric entity, so
that no title can end a label, start a comment or a directive, or inject HTML.
"""

from __future__ import annotations

from collections.abc import Iterator

from prosa.graph.node import Edge
from prosa.graph.selection import Selection
from prosa.render.graph.plain_text import name_of, one_line
from prosa.render.graph.style import GHOST, NODE_STYLES, Shape, node_style

MOST_EDGES = 500
"""Maximum number of edges that Mermaid draws by default (`maxEdges`)."""

_HARMLESS = frozenset(" .,-_/:")
_SHAPES: dict[Shape, tuple[str, str]] = {
    "circle": ("(", ")"),
    "square": ("[", "]"),
    "diamond": ("{", "}"),
    "triangle": ("[/", "\\]"),
    "wedge": ("[\\", "/]"),
    "cross": ("{{", "}}"),
    "star": ("([", "])"),
    "hexagon": ("[[", "]]"),
    "pentagon": ("[/", "/]"),
    "ring": ("(", ")"),
}
_ARROWS = {"parent": "==>", "child": "==>", "contradicts": "--x", "related": "-.->", "citation": "-.->"}


def mermaid(selection: Selection) -> str:
    """Return the flowchart; derived edges are left out if the written ones are shown."""
    return "\n".join(("flowchart LR", *_nodes(selection), *_edges(selection), *_classes(selection))) + "\n"


def quoted(text: str) -> str:
    """Return a quoted label that shows the text unchanged."""
    return '"' + "".join(char if _is_harmless(char) else f"#{ord(char)};" for char in one_line(text)) + '"'


def _is_harmless(char: str) -> bool:
    return char in _HARMLESS or char.isalnum()


def _nodes(selection: Selection) -> Iterator[str]:
    for at, node in enumerate(selection.nodes):
        before, after = _SHAPES[node_style(node.dialect).shape]
        yield f"  n{at}{before}{quoted(name_of(node))}{after}:::{node.dialect}"
    for at, ghost in enumerate(selection.ghosts):
        yield f"  g{at}({quoted(ghost.target)}):::{GHOST.name}"


def _edges(selection: Selection) -> Iterator[str]:
    place = {node.id: at for at, node in enumerate(selection.nodes)}
    for edge in selection.drawn:
        yield f"  n{place[edge.source]} {_arrow(edge)} n{place[edge.target]}"
    for edge, ghost in selection.ghost_edges():
        yield f"  n{place[edge.source]} {_arrow(edge)} g{ghost}"


def _arrow(edge: Edge) -> str:
    arrow = _ARROWS.get(edge.rel or "", "-->")
    return f"{arrow}|{quoted(edge.rel)}|" if edge.rel else arrow


def _classes(selection: Selection) -> Iterator[str]:
    """Colour that are readable on light and dark alike: no fill, a coloured border."""
    used = {node.dialect for node in selection.nodes} | ({GHOST.name} if selection.ghosts else set())
    for style in NODE_STYLES:
        if style.name in used:
            dashes = ",stroke-dasharray:4 3" if style is GHOST else ""
            yield f"  classDef {style.name} stroke:{style.light},stroke-width:2px{dashes}"
