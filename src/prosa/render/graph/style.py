"""How dialects and rels are told apart: a shape and a colour each, a line each; the same in every drawing.

Colours are calm, told apart with the common kinds of colour blindness, and stand out from the ground with a contrast of
at least 3 to 1 in light and in dark (WCAG 2.2, 1.4.11). Nobody needs them: shapes and dashes say the same.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

from prosa.graph.node import Edge

Shape: TypeAlias = Literal["circle", "square", "diamond", "triangle", "wedge", "cross", "star", "ring"]

LIGHT_GROUND, DARK_GROUND = "#fcfcfa", "#16181d"
LIGHT_TEXT, DARK_TEXT = "#23262d", "#e4e6eb"
LIGHT_QUIET, DARK_QUIET = "#5d636f", "#a3a9b5"


@dataclass(frozen=True, slots=True)
class NodeStyle:
    """The look of the documents of a dialect. ``name`` is also the class in SVG and the key in the page."""

    name: str
    title: str
    shape: Shape
    light: str
    dark: str


@dataclass(frozen=True, slots=True)
class EdgeStyle:
    """The look of the edges of a rel. ``dash`` are lengths of line and gap in pixels; none is a whole line."""

    name: str
    title: str
    light: str
    dark: str
    width: float = 1.0
    dash: tuple[float, ...] = ()


GHOST = NodeStyle("missing", "missing", "ring", "#8a5a00", "#d9a648")

NODE_STYLES: tuple[NodeStyle, ...] = (
    NodeStyle("plain", "Markdown", "circle", "#5b6472", "#a6afbd"),
    NodeStyle("magi", "MAGI", "diamond", "#7446b3", "#b796f2"),
    NodeStyle("mdh", "MDH", "square", "#1f67ad", "#6fb0f2"),
    NodeStyle("ymj", "YMJ", "triangle", "#0a7468", "#4cc4b2"),
    NodeStyle("prapti", "Prapti", "wedge", "#a9520f", "#f0a25c"),
    NodeStyle("markdownlang", "markdownlang", "cross", "#b02a63", "#f284b2"),
    NodeStyle("skill_md", "SKILL.md", "star", "#7d6400", "#dcc04f"),
    GHOST,
)

_LINK = EdgeStyle("link", "link", "#878e9a", "#737a87", 1.0)
_OTHER = EdgeStyle("other", "other", "#6a7280", "#959daa", 1.2, (10, 3, 2, 3, 2, 3))

EDGE_STYLES: tuple[EdgeStyle, ...] = (
    _LINK,
    EdgeStyle("parent", "parent", "#4b5361", "#b4bbc7", 1.9),
    EdgeStyle("citation", "citation", "#1f67ad", "#6fb0f2", 1.3, (6, 3)),
    EdgeStyle("supports", "supports", "#23753a", "#66c680", 1.5, (12, 3)),
    EdgeStyle("contradicts", "contradicts", "#c0362c", "#ff8a7d", 1.9, (8, 3, 2, 3)),
    EdgeStyle("related", "related", "#6a7280", "#959daa", 1.3, (1.5, 3.5)),
    EdgeStyle("extends", "extends", "#7446b3", "#b796f2", 1.3, (3.5, 2.5)),
    EdgeStyle("import", "import", "#b02a63", "#f284b2", 1.4, (14, 2, 4, 2)),
    EdgeStyle("include", "include", "#a9520f", "#f0a25c", 1.4, (2, 2)),
    _OTHER,
)

_EDGE_OF = {style.name: style for style in EDGE_STYLES} | {
    "child": EDGE_STYLES[1],
    "cited-by": EDGE_STYLES[2],
    "supported-by": EDGE_STYLES[3],
    "extended-by": EDGE_STYLES[6],
}
_NODE_OF = {style.name: style for style in NODE_STYLES}


def node_style(dialect: str) -> NodeStyle:
    """The look of a dialect's documents."""
    return _NODE_OF[dialect]


def edge_style(edge: Edge) -> EdgeStyle:
    """The look of an edge. A rel and its inverse look the same; what the table does not know is `other`."""
    if edge.rel is None:
        return _EDGE_OF["include"] if edge.origin == "include" else _LINK
    return _EDGE_OF.get(edge.rel, _OTHER)
