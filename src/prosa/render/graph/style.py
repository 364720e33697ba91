"""The styles of dialects and types of connections: a shape and a colour each, a dash and a colour each. They are the
same in every drawing, except for custom types, which take the spare styles in turn.

Colours are calm, distinguishable with the common kinds of colour blindness, and contrast with the background by at
least 3 to 1 in light and in dark (WCAG 2.2, 1.4.11). Colour is not essential: shapes and dashes carry the same
information.
"""

from __future__ import annotations

import unicodedata
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Literal, TypeAlias

from msgspec import Struct
from msgspec.structs import replace

from prosa.graph.node import Edge, Node

Shape: TypeAlias = Literal[
    "circle",
    "square",
    "diamond",
    "triangle",
    "wedge",
    "cross",
    "star",
    "hexagon",
    "pentagon",
    "heptagon",
    "octagon",
    "ring",
]

LIGHT_GROUND, DARK_GROUND = "#fcfcfa", "#16181d"
LIGHT_TEXT, DARK_TEXT = "#23262d", "#e4e6eb"
LIGHT_QUIET, DARK_QUIET = "#5d636f", "#a3a9b5"


class NodeStyle(Struct, frozen=True):
    """The style of the documents of a dialect. ``name`` is also the class in SVG and the key in the page."""

    name: str
    title: str
    shape: Shape
    light: str
    dark: str


class EdgeStyle(Struct, frozen=True):
    """The style of the edges of a rel. ``dash`` are lengths of line and gap in pixels; empty means a solid line."""

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
    NodeStyle("mda", "MDA", "octagon", "#3d4db3", "#98a6f5"),
    NodeStyle("mdh", "MDH", "square", "#1f67ad", "#6fb0f2"),
    NodeStyle("ymj", "YMJ", "triangle", "#0a7468", "#4cc4b2"),
    NodeStyle("prapti", "Prapti", "wedge", "#a9520f", "#f0a25c"),
    NodeStyle("markdownlang", "markdownlang", "cross", "#b02a63", "#f284b2"),
    NodeStyle("skill_md", "SKILL.md", "star", "#7d6400", "#dcc04f"),
    NodeStyle("context", "context file", "heptagon", "#2b5d8a", "#8fc1ea"),
    NodeStyle("test", "test", "hexagon", "#3f6b1c", "#9ccc65"),
    NodeStyle("evals", "evals of a skill", "pentagon", "#4a5a00", "#c3d94f"),
    GHOST,
)

_LINK = EdgeStyle("link", "link", "#878e9a", "#737a87", 1.0)
_WIKILINK = EdgeStyle("wikilink", "wikilink", "#2f7f86", "#558d93", 1.1, (16, 2))
_OTHER = EdgeStyle("other", "other", "#6a7280", "#959daa", 1.2, (10, 3, 2, 3, 2, 3))

_SPARE = (
    EdgeStyle("type-1", "", "#8a4f7d", "#e3a3d2", 1.4, (9, 4)),
    EdgeStyle("type-2", "", "#5c6f00", "#b9cf4e", 1.4, (18, 4)),
    EdgeStyle("type-3", "", "#3a4fc4", "#93a4ff", 1.4, (3, 2, 3, 6)),
    EdgeStyle("type-4", "", "#8c5a3c", "#dba884", 1.4, (5, 5)),
    EdgeStyle("type-5", "", "#0b7285", "#5ccfe6", 1.4, (10, 2, 1.5, 2)),
    EdgeStyle("type-6", "", "#a0526b", "#f0a0b6", 1.4, (1.5, 2, 6, 2)),
)
"""Styles for custom types, the most frequent first; the rest is `other`."""

EDGE_STYLES: tuple[EdgeStyle, ...] = (
    _LINK,
    _WIKILINK,
    EdgeStyle("parent", "parent", "#4b5361", "#b4bbc7", 1.9),
    EdgeStyle("citation", "citation", "#1f67ad", "#6fb0f2", 1.3, (6, 3)),
    EdgeStyle("supports", "supports", "#23753a", "#66c680", 1.5, (12, 3)),
    EdgeStyle("contradicts", "contradicts", "#c0362c", "#ff8a7d", 1.9, (8, 3, 2, 3)),
    EdgeStyle("related", "related", "#7d6400", "#dcc04f", 1.3, (1.5, 3.5)),
    EdgeStyle("extends", "extends", "#7446b3", "#b796f2", 1.3, (3.5, 2.5)),
    EdgeStyle("import", "import", "#b02a63", "#f284b2", 1.4, (14, 2, 4, 2)),
    EdgeStyle("include", "include", "#a9520f", "#f0a25c", 1.4, (2, 2)),
    *_SPARE,
    _OTHER,
)


def _look(name: str) -> EdgeStyle:
    return next(style for style in EDGE_STYLES if style.name == name)


_EDGE_OF = {style.name: style for style in EDGE_STYLES if style not in (*_SPARE, _OTHER)} | {
    "child": _look("parent"),
    "cited-by": _look("citation"),
    "supported-by": _look("supports"),
    "extended-by": _look("extends"),
}
_BY_NOTATION = frozenset({"wikilink", "import", "include"})
_PLACE_OF = {style.name: at for at, style in enumerate(EDGE_STYLES)}

MAX_NAME = 60
"""Characters of the name of a type in a legend."""

_NODE_OF = {style.name: style for style in NODE_STYLES}


def node_style(dialect: str) -> NodeStyle:
    """Return the style of a dialect's documents."""
    return _NODE_OF[dialect]


def edge_style(edge: Edge) -> EdgeStyle:
    """Return the style of an edge. A rel and its inverse have the same one; unknown rels are `other`."""
    return _EDGE_OF.get(kind_of(edge), _OTHER)


def kind_of(edge: Edge) -> str:
    """Return the name of the type of a connection: its rel, otherwise the notation if that is meaningful."""
    if edge.rel is None:
        return edge.origin if edge.origin in _BY_NOTATION else _LINK.name
    name = one_line(edge.rel)
    return name if len(name) <= MAX_NAME else f"{name[: MAX_NAME - 1]}…"


def edge_looks(edges: Iterable[Edge]) -> Mapping[str, EdgeStyle]:
    """Return the style of every type that occurs in a drawing. A spare one has the type as its title."""
    uses = Counter(map(kind_of, edges))
    known = {kind: _EDGE_OF[kind] for kind in uses if kind in _EDGE_OF}
    others = sorted((kind for kind in uses if kind not in _EDGE_OF), key=lambda kind: (-uses[kind], kind))
    spare = {kind: replace(style, title=kind) for kind, style in zip(others, _SPARE, strict=False)}
    return {**dict.fromkeys(others, _OTHER), **spare, **known}


def order_of(style: EdgeStyle) -> int:
    """Return the position of a style in legends."""
    return _PLACE_OF[style.name]


_REPLACEMENT = "\N{REPLACEMENT CHARACTER}"
_BLANKS = "\t\n\r\v\f\x85\u2028\u2029"
# U+FFFE and U+FFFF end every plane and are no characters; XML 1.0, section 2.2, refuses the two of the first.
_NO_CHARACTERS = frozenset("\ufffe\uffff")
# Overrides and isolates of direction could turn the text around them; joiners stay, scripts and emoji need them.
_DIRECTION = frozenset("\u200e\u200f\u061c\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")


def one_line(text: str) -> str:
    """Return the text with blanks for line ends and U+FFFD for controls, lone surrogates and changes of direction."""
    if text.isascii() and text.isprintable():
        return text
    return "".join(" " if char in _BLANKS else _REPLACEMENT if _unfit(char) else char for char in text)


def name_of(node: Node) -> str:
    """Return what a node is called in a drawing: its title, else its file name, of an index with its folder."""
    if node.title.strip():
        return one_line(node.title.strip())
    folder, _, name = node.path.rpartition("/")
    stem = name.rpartition(".")[0] or name
    if folder and stem.lower() in ("index", "readme"):
        return one_line(f"{folder.rpartition('/')[2]}/{stem}")
    return one_line(stem)


def _unfit(char: str) -> bool:
    return unicodedata.category(char) in ("Cc", "Cs") or char in _NO_CHARACTERS or char in _DIRECTION
