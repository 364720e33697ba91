"""The legend of a drawing: every dialect and rel that occurs, with how often, in columns below the drawing.

In: a scene and the width there is. Out: SVG elements and the height they take.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from html import escape

from prosa.render.graph.lettering import text_width
from prosa.render.graph.scene import LETTER, Scene
from prosa.render.graph.shapes import shape_path
from prosa.render.graph.style import NODE_STYLES, EdgeStyle, NodeStyle, order_of

ROW, HEAD, GUTTER = 20.0, 24.0, 26.0
"""Height of a row, height of a group's heading, room between columns."""

SAMPLE = 34.0
"""Width of the sample of a line; shapes stand in the middle of it, so that all words begin at one edge."""

BETWEEN = 14.0
"""Between the two groups."""


@dataclass(frozen=True, slots=True)
class Counted:
    """The styles that occur in a scene with their numbers, in the order of the tables."""

    nodes: tuple[tuple[NodeStyle, int], ...]
    edges: tuple[tuple[EdgeStyle, int], ...]


def counted(drawn: Scene) -> Counted:
    """How often each style occurs."""
    nodes = Counter(mark.style.name for mark in drawn.marks)
    edges = Counter(line.style for line in drawn.lines)
    return Counted(
        tuple((style, nodes[style.name]) for style in NODE_STYLES if nodes[style.name]),
        tuple(sorted(edges.items(), key=lambda item: order_of(item[0]))),
    )


def legend(what: Counted, width: float) -> tuple[list[str], float]:
    """The elements, beginning at the origin, and their height."""
    groups = (("DOCUMENTS", _nodes(what)), ("CONNECTIONS, ONE LINE FOR A TYPE BETWEEN TWO DOCUMENTS", _edges(what)))
    column = max((_width(entry) for _, entries in groups for entry in entries), default=1.0)
    columns = max(1, int(width // column))
    lines: list[str] = []
    y = 0.0
    for title, entries in groups:
        if entries:
            y += BETWEEN if lines else 0
            lines.append(f'<text class="group" x="0" y="{y + 11:g}">{title}</text>')
            y += HEAD
            lines.extend(_grid(entries, y, columns, column))
            y += ROW * -(-len(entries) // columns)
    return lines, y


def _nodes(what: Counted) -> list[tuple[str, str, int]]:
    return [
        (f'<path class="node d-{style.name}" d="{shape_path(style.shape, SAMPLE / 2, 0, 6)}"/>', style.title, count)
        for style, count in what.nodes
    ]


def _edges(what: Counted) -> list[tuple[str, str, int]]:
    return [
        (f'<path class="edge r-{style.name}" d="M0 0H{SAMPLE:g}"/>', style.title, count) for style, count in what.edges
    ]


def _width(entry: tuple[str, str, int]) -> float:
    _, title, count = entry
    return SAMPLE + 10 + text_width(f"{title} {count:,}", LETTER) + GUTTER


def _grid(entries: Sequence[tuple[str, str, int]], top: float, columns: int, width: float) -> Iterator[str]:
    for at, (sample, title, count) in enumerate(entries):
        row, column = divmod(at, columns)
        yield (
            f'<g transform="translate({column * width:.0f} {top + row * ROW + 7:g})">{sample}'
            f'<text x="{SAMPLE + 10:g}" y="4">{escape(title)} <tspan class="count">{count:,}</tspan></text></g>'
        )
