"""The drawing as SVG: one file without scripts, fonts or references to anything outside it.

In: a scene and its caption. Out: SVG 1.1 with a title and a description for screen readers, colours for light and dark,
white for paper. Every text of a document stands escaped in an element; none is ever part of an attribute or a rule.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from math import cos, hypot, pi, sin

from msgspec import Struct

from prosa.graph.node import Node
from prosa.render.graph.scene import LETTER, LINE, Line, Mark, Scene, text_width
from prosa.render.graph.style import (
    DARK_GROUND,
    DARK_QUIET,
    DARK_TEXT,
    EDGE_STYLES,
    GHOST,
    LIGHT_GROUND,
    LIGHT_QUIET,
    LIGHT_TEXT,
    NODE_STYLES,
    EdgeStyle,
    NodeStyle,
    Shape,
    one_line,
    order_of,
)

MARGIN, NARROWEST = 28.0, 640.0
"""Around the drawing; and the least width of a sheet, so that caption and legend have room."""

HEADER, FOOTER_GAP = 66.0, 30.0
"""Height of the caption; room between drawing and legend."""

SMALL_MARGIN = 8.0
"""Around a small drawing."""

ARROWS = 400
"""Nodes up to which lines have arrowheads. In a larger drawing they would be specks."""

BEND = 11.0
"""How far lines between the same two nodes lie apart, in pixels."""

_ESCAPES = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#39;"})


class Caption(Struct, frozen=True):
    """The text above a drawing: a name, and a line with numbers."""

    title: str
    subtitle: str


def escape(text: str) -> str:
    """Return text for an element or an attribute in quotes, in XML and HTML."""
    return one_line(text).translate(_ESCAPES)


def svg(drawn: Scene, caption: Caption, *, with_css: bool = True) -> str:
    """Return the file. Without its style sheet it can be embedded in a page that has the same one."""
    width = max(drawn.box.width, NARROWEST - 2 * MARGIN)
    legend_lines, legend_height = legend(counted(drawn), width)
    sheet = (width + 2 * MARGIN, HEADER + drawn.box.height + FOOTER_GAP + legend_height + MARGIN)
    shift = MARGIN + (width - drawn.box.width) / 2
    parts = [
        _open(*sheet),
        f'<title id="drawing-title">{escape(caption.title)}</title>',
        f'<desc id="drawing-words">{escape(_words(drawn, caption))}</desc>',
        f"<style>\n{drawing_css()}\n</style>" if with_css else "",
        *_markers(drawn),
        '<rect class="ground" width="100%" height="100%"/>',
        f'<text class="head" x="{MARGIN:g}" y="36">{escape(caption.title)}</text>',
        f'<text class="sub" x="{MARGIN:g}" y="56">{escape(caption.subtitle)}</text>',
        f'<g transform="translate({shift:.1f} {HEADER:g})">',
        *_edges(drawn),
        *_nodes(drawn.marks),
        *_labels(drawn.marks),
        "</g>",
        f'<g transform="translate({MARGIN:g} {HEADER + drawn.box.height + FOOTER_GAP:.1f})">',
        *legend_lines,
        "</g>",
        "</svg>",
    ]
    return "\n".join(part for part in parts if part) + "\n"


def small_svg(drawn: Scene, caption: Caption) -> str:
    """Return the drawing alone, for a place where letters would be too small to read: nodes and lines."""
    width, height = drawn.box.width + 2 * SMALL_MARGIN, drawn.box.height + 2 * SMALL_MARGIN
    parts = [
        _open(width, height),
        f'<title id="drawing-title">{escape(caption.title)}</title>',
        f'<desc id="drawing-words">{escape(_words(drawn, caption))}</desc>',
        f"<style>\n{drawing_css()}\n</style>",
        f'<g transform="translate({SMALL_MARGIN:g} {SMALL_MARGIN:g})">',
        *_edges(drawn),
        *_nodes(drawn.marks),
        "</g>",
        "</svg>",
    ]
    return "\n".join(parts) + "\n"


def _open(width: float, height: float) -> str:
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" class="drawing" width="{width:.0f}" height="{height:.0f}" '
        f'viewBox="0 0 {width:.0f} {height:.0f}" role="img" aria-labelledby="drawing-title drawing-words">'
    )


def _words(drawn: Scene, caption: Caption) -> str:
    """Return the text for screen readers: the numbers, then the most linked documents."""
    most = sorted(drawn.marks, key=lambda mark: (-mark.links, mark.name))[:5]
    linked = [f"{mark.name} ({mark.links})" for mark in most if mark.links]
    return f"{caption.subtitle}. Most linked: {', '.join(linked)}." if linked else f"{caption.subtitle}."


def _markers(drawn: Scene) -> Iterator[str]:
    used = {line.style.name for line in drawn.lines}
    if len(drawn.marks) > ARROWS or not used:
        return
    yield "<defs>"
    for style in EDGE_STYLES:
        if style.name in used:
            yield (
                f'<marker id="to-{style.name}" viewBox="0 0 8 8" refX="7.4" refY="4" markerWidth="7.5" '
                f'markerHeight="7.5" markerUnits="userSpaceOnUse" orient="auto">'
                f'<path class="a-{style.name}" d="M0 .8L8 4L0 7.2L1.6 4z"/></marker>'
            )
    yield "</defs>"


def _edges(drawn: Scene) -> Iterator[str]:
    """Yield the lines, a group for every style."""
    arrows = len(drawn.marks) <= ARROWS
    paths: dict[str, list[str]] = defaultdict(list)
    for line, bend in _bent(drawn.lines):
        source, target = drawn.marks[line.source], drawn.marks[line.target]
        gaps = (source.radius + 1.5, target.radius + (3.0 if arrows else 1.5))
        d = line_path((source.x, source.y), (target.x, target.y), bend, gaps)
        paths[line.style.name].append(f'<path d="{d}"/>')
    for style in EDGE_STYLES:
        if paths[style.name]:
            marker = f' marker-end="url(#to-{style.name})"' if arrows else ""
            thin = "" if arrows else " many"
            yield f'<g class="edge{thin} r-{style.name}"{marker}>{"".join(paths[style.name])}</g>'


def _bent(lines: Sequence[Line]) -> Iterator[tuple[Line, float]]:
    """Yield each line with its bend: lines between the same two nodes spread to both sides of the straight way."""
    together: dict[tuple[int, int], list[Line]] = defaultdict(list)
    for line in lines:
        together[min(line.source, line.target), max(line.source, line.target)].append(line)
    for (first, _), group in together.items():
        for at, line in enumerate(group):
            bend = (at - (len(group) - 1) / 2) * BEND
            yield line, bend if line.source == first else -bend


def _nodes(marks: Sequence[Mark]) -> Iterator[str]:
    for mark in marks:
        d = shape_path(mark.style.shape, mark.x, mark.y, mark.radius)
        yield f'<path class="node d-{mark.style.name}" d="{d}"><title>{escape(_hint(mark))}</title></path>'


def _hint(mark: Mark) -> str:
    """Return what appears when a pointer rests on a node."""
    where = mark.subject.path if isinstance(mark.subject, Node) else "no such document"
    return mark.name if where == mark.name else f"{mark.name} · {where}"


def _labels(marks: Sequence[Mark]) -> Iterator[str]:
    for mark in marks:
        box = mark.label_box
        if box is None:
            continue
        kind = "label lost" if not isinstance(mark.subject, Node) else "label hub" if mark.is_hub else "label"
        x = (box.left + box.right) / 2
        lines = [
            f'<tspan x="{x:.1f}" y="{box.top + at * LINE + LETTER:.1f}">{escape(line)}</tspan>'
            for at, line in enumerate(mark.label)
        ]
        yield f'<text class="{kind}">{"".join(lines)}</text>'


# The legend of a drawing: every dialect and rel that occurs, with how often, in columns below the drawing.
#
# In: a scene and the width there is. Out: SVG elements and the height they take.

ROW, HEAD, GUTTER = 20.0, 24.0, 26.0
"""Height of a row, height of a group's heading, room between columns."""

SAMPLE = 34.0
"""Width of the sample of a line; shapes are centred in it, so that all words start at one edge."""

BETWEEN = 14.0
"""Between the two groups."""


class Counted(Struct, frozen=True):
    """The styles that occur in a scene with their numbers, in the order of the tables."""

    nodes: tuple[tuple[NodeStyle, int], ...]
    edges: tuple[tuple[EdgeStyle, int], ...]


def counted(drawn: Scene) -> Counted:
    """Return how often each style occurs."""
    nodes = Counter(mark.style.name for mark in drawn.marks)
    edges = Counter(line.style for line in drawn.lines)
    return Counted(
        tuple((style, nodes[style.name]) for style in NODE_STYLES if nodes[style.name]),
        tuple(sorted(edges.items(), key=lambda item: order_of(item[0]))),
    )


def legend(what: Counted, width: float) -> tuple[list[str], float]:
    """Return the elements, beginning at the origin, and their height."""
    groups = (
        ("DOCUMENTS", _legend_nodes(what)),
        ("CONNECTIONS, ONE LINE FOR A TYPE BETWEEN TWO DOCUMENTS", _legend_edges(what)),
    )
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


def _legend_nodes(what: Counted) -> list[tuple[str, str, int]]:
    return [
        (f'<path class="node d-{style.name}" d="{shape_path(style.shape, SAMPLE / 2, 0, 6)}"/>', style.title, count)
        for style, count in what.nodes
    ]


def _legend_edges(what: Counted) -> list[tuple[str, str, int]]:
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


# Radii at which the shapes look as large as a circle of radius 1.
_SCALE: dict[Shape, float] = {
    "circle": 1.0,
    "ring": 1.0,
    "square": 0.89,
    "diamond": 1.22,
    "triangle": 1.3,
    "wedge": 1.3,
    "cross": 1.14,
    "star": 1.36,
    "hexagon": 1.12,
    "pentagon": 1.18,
    "heptagon": 1.1,
    "octagon": 1.08,
}
_CORNERS: dict[Shape, tuple[int, float]] = {
    "diamond": (4, -pi / 2),
    "triangle": (3, -pi / 2),
    "wedge": (3, pi / 2),
    "hexagon": (6, 0.0),
    "pentagon": (5, -pi / 2),
    "heptagon": (7, -pi / 2),
    "octagon": (8, -pi / 8),
}
_ARM = 0.38
"""Half the width of the arms of a cross, for each unit of its reach."""

_STAR_INNER = 0.48


def shape_path(shape: Shape, x: float, y: float, radius: float) -> str:
    """Return the closed outline of a shape around a point."""
    reach = radius * _SCALE[shape]
    if shape in ("circle", "ring"):
        half = f"a{_n(reach)} {_n(reach)} 0 1 1"
        return f"M{_n(x - reach)} {_n(y)}{half} {_n(2 * reach)} 0{half} {_n(-2 * reach)} 0z"
    if shape == "square":
        return f"M{_n(x - reach)} {_n(y - reach)}h{_n(2 * reach)}v{_n(2 * reach)}h{_n(-2 * reach)}z"
    if shape == "cross":
        return _closed([(x + reach * a, y + reach * b) for a, b in _cross()])
    if shape == "star":
        turns = [(-pi / 2 + at * pi / 5, reach * (_STAR_INNER if at % 2 else 1.0)) for at in range(10)]
        return _closed([(x + far * cos(turn), y + far * sin(turn)) for turn, far in turns])
    corners, start = _CORNERS[shape]
    turns = [(start + at * 2 * pi / corners, reach) for at in range(corners)]
    return _closed([(x + far * cos(turn), y + far * sin(turn)) for turn, far in turns])


def line_path(start: tuple[float, float], end: tuple[float, float], bend: float, gaps: tuple[float, float]) -> str:
    """Return a line from one node to another, ``gaps`` short of their centres, ``bend`` pixels beside the straight way
    at its middle. A node that points at itself gets a loop."""
    (x1, y1), (x2, y2) = start, end
    dx, dy = x2 - x1, y2 - y1
    length = hypot(dx, dy)
    if length < 1e-6:
        reach = gaps[0] + 9
        return f"M{_n(x1)} {_n(y1 - gaps[0])}a{_n(reach / 2)} {_n(reach / 2)} 0 1 1 {_n(gaps[1])} {_n(gaps[0])}"
    if length <= sum(gaps):
        gaps = (length * 0.3, length * 0.3)
    along_x, along_y = dx / length, dy / length
    middle = ((x1 + x2) / 2 - along_y * bend * 2, (y1 + y2) / 2 + along_x * bend * 2)
    if not bend:
        begin = (x1 + along_x * gaps[0], y1 + along_y * gaps[0])
        finish = (x2 - along_x * gaps[1], y2 - along_y * gaps[1])
        return f"M{_n(begin[0])} {_n(begin[1])}L{_n(finish[0])} {_n(finish[1])}"
    begin = _towards(start, middle, gaps[0])
    finish = _towards(end, middle, gaps[1])
    return f"M{_n(begin[0])} {_n(begin[1])}Q{_n(middle[0])} {_n(middle[1])} {_n(finish[0])} {_n(finish[1])}"


def _towards(at: tuple[float, float], to: tuple[float, float], distance: float) -> tuple[float, float]:
    dx, dy = to[0] - at[0], to[1] - at[1]
    length = hypot(dx, dy) or 1.0
    return at[0] + dx / length * distance, at[1] + dy / length * distance


def _cross() -> list[tuple[float, float]]:
    arm = _ARM
    return [
        *((-arm, -1), (arm, -1), (arm, -arm), (1, -arm), (1, arm), (arm, arm)),
        *((arm, 1), (-arm, 1), (-arm, arm), (-1, arm), (-1, -arm), (-arm, -arm)),
    ]


def _closed(points: list[tuple[float, float]]) -> str:
    return "M" + "L".join(f"{_n(x)} {_n(y)}" for x, y in points) + "z"


def _n(value: float) -> str:
    """Return a number with one decimal, without a trailing zero."""
    text = f"{value:.1f}"
    return text.removesuffix(".0") if text != "-0.0" else "0"


FONTS = "system-ui,-apple-system,'Segoe UI',Roboto,'Helvetica Neue',Arial,'Noto Sans',sans-serif"


def drawing_css() -> str:
    """Return the rules, one per line. Colours stand as plain values: not every reader of SVG knows CSS variables."""
    return "\n".join((*_fixed(), *_colours(dark=False), *_only("(prefers-color-scheme:dark)", dark=True), *_print()))


def _fixed() -> Iterator[str]:
    yield f".drawing text{{font-family:{FONTS};font-size:12px}}"
    yield ".drawing .head{font-size:20px;font-weight:650;letter-spacing:-.01em}"
    yield ".drawing .sub{font-size:13px}"
    yield ".drawing .group{font-size:11px;font-weight:600;letter-spacing:.06em}"
    yield ".drawing .label{text-anchor:middle;paint-order:stroke;stroke-width:3px;stroke-linejoin:round}"
    yield ".drawing .hub{font-weight:650}"
    yield ".drawing .lost{font-style:italic}"
    yield ".drawing .edge{fill:none;stroke-linecap:butt}"
    yield ".drawing .node{stroke-width:1.5px;stroke-linejoin:round}"
    for style in EDGE_STYLES:
        yield f".drawing .r-{style.name}{{stroke-width:{style.width}px{_dash(style)}}}"
    yield ".drawing .many{opacity:.6;stroke-width:.8px}"


def _dash(style: EdgeStyle) -> str:
    return f";stroke-dasharray:{' '.join(f'{length:g}' for length in style.dash)}" if style.dash else ""


def _colours(*, dark: bool) -> Iterator[str]:
    ground, text, quiet = (DARK_GROUND, DARK_TEXT, DARK_QUIET) if dark else (LIGHT_GROUND, LIGHT_TEXT, LIGHT_QUIET)
    yield f".drawing .ground{{fill:{ground}}}"
    yield f".drawing text{{fill:{text}}}"
    yield f".drawing .sub,.drawing .group,.drawing .lost,.drawing .count{{fill:{quiet}}}"
    yield f".drawing .label{{stroke:{ground}}}"
    yield f".drawing .node{{stroke:{ground}}}"
    for node in NODE_STYLES:
        colour = node.dark if dark else node.light
        if node is GHOST:
            yield f".drawing .d-{node.name}{{fill:{ground};stroke:{colour};stroke-dasharray:2.5 2}}"
        else:
            yield f".drawing .d-{node.name}{{fill:{colour}}}"
    for edge in EDGE_STYLES:
        colour = edge.dark if dark else edge.light
        yield f".drawing .r-{edge.name}{{stroke:{colour}}}.drawing .a-{edge.name}{{fill:{colour}}}"


def _only(condition: str, *, dark: bool) -> Iterator[str]:
    yield f"@media {condition}{{"
    yield from _colours(dark=dark)
    yield "}"


def _print() -> Iterator[str]:
    """Return the colours for print: paper is white, and anything in the background colour is drawn in white."""
    yield "@media print{"
    yield from _colours(dark=False)
    yield ".drawing .ground{fill:#fff}.drawing .label,.drawing .node:not(.d-missing){stroke:#fff}"
    yield "}"
