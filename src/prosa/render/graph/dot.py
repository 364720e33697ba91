"""The graph for Graphviz. In: a selection. Out: a digraph with generated node names, so that no document name can
break the syntax; every text is quoted.

Backslashes are doubled because Graphviz reads escapes in labels, `&` becomes `&amp;` because it reads entities too.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from prosa.graph.node import Edge
from prosa.graph.selection import Selection
from prosa.render.graph.plain_text import name_of, one_line
from prosa.render.graph.style import GHOST, EdgeStyle, Shape, edge_looks, kind_of, node_style

_SHAPES: dict[Shape, str] = {
    "circle": "ellipse",
    "square": "box",
    "diamond": "diamond",
    "triangle": "triangle",
    "wedge": "invtriangle",
    "cross": "hexagon",
    "star": "octagon",
    "hexagon": "house",
    "pentagon": "pentagon",
    "ring": "ellipse",
}


def dot(selection: Selection) -> str:
    """Return the digraph; derived edges are left out if the written ones are shown."""
    return "\n".join(("digraph prosa {", *_settings(), *_nodes(selection), *_edges(selection), "}")) + "\n"


def quoted(text: str) -> str:
    """Return a quoted string with this text as its value, whether Graphviz reads escapes in it or not."""
    plain = one_line(text).replace("\\", "\\\\").replace('"', '\\"').replace("&", "&amp;")
    return f'"{plain}"'


def _settings() -> Iterator[str]:
    yield '  graph [overlap="false", splines="true", charset="UTF-8"];'
    yield '  node [fontname="sans-serif", fontsize="11", style="filled", fillcolor="white"];'
    yield '  edge [fontname="sans-serif", fontsize="9", arrowsize="0.7"];'


def _nodes(selection: Selection) -> Iterator[str]:
    for at, node in enumerate(selection.nodes):
        style = node_style(node.dialect)
        yield (
            f"  n{at} [label={quoted(name_of(node))}, tooltip={quoted(node.path)}, class={quoted(node.dialect)}, "
            f'shape="{_SHAPES[style.shape]}", color="{style.light}"];'
        )
    for at, ghost in enumerate(selection.ghosts):
        yield (
            f'  g{at} [label={quoted(ghost.target)}, class="missing", shape="{_SHAPES[GHOST.shape]}", '
            f'style="dashed", color="{GHOST.light}"];'
        )


def _edges(selection: Selection) -> Iterator[str]:
    place = {node.id: at for at, node in enumerate(selection.nodes)}
    ghosts = selection.ghost_edges()
    looks = edge_looks((*selection.drawn, *(edge for edge, _ in ghosts)))
    for edge in selection.drawn:
        yield f"  n{place[edge.source]} -> n{place[edge.target]} [{_look(edge, looks)}];"
    for edge, ghost in ghosts:
        yield f"  n{place[edge.source]} -> g{ghost} [{_look(edge, looks)}];"


def _look(edge: Edge, looks: Mapping[str, EdgeStyle]) -> str:
    style = looks[kind_of(edge)]
    label = f"label={quoted(edge.rel)}, " if edge.rel else ""
    line = "dashed" if style.dash else "solid"
    return f'{label}class="{edge.origin}", color="{style.light}", style="{line}", penwidth="{style.width}"'
