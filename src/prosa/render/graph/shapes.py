"""The outlines of nodes and lines as SVG path data. In: places and radii. Out: text for an attribute `d`."""

from __future__ import annotations

from math import cos, hypot, pi, sin

from prosa.render.graph.style import Shape

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
}
_CORNERS: dict[Shape, tuple[int, float]] = {
    "diamond": (4, -pi / 2),
    "triangle": (3, -pi / 2),
    "wedge": (3, pi / 2),
    "hexagon": (6, 0.0),
    "pentagon": (5, -pi / 2),
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
