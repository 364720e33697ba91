"""Growth as a picture: our figure and those of the baselines over the size of a corpus, as SVG that stands alone.

Both axes begin at zero, so that what costs in proportion to its size is a straight line. Colours follow the scheme of
the reader; the lines differ in their dashes as well. No text but ours stands in a picture.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from html import escape

from msgspec import Struct

WIDE, HIGH = 640, 240
LEFT, RIGHT, TOP, BOTTOM = 62, 176, 16, 34
STYLE = (
    "text{font:13px ui-sans-serif,system-ui,sans-serif;fill:#59606c}"
    ".end{text-anchor:end}.middle{text-anchor:middle}"
    ".grid{stroke:#8b919c;stroke-width:1;opacity:.35}"
    "polyline{fill:none;stroke-width:2.5}"
    ".s0{stroke:#14683a}.s1{stroke:#8a3ab0;stroke-dasharray:7 4}.s2{stroke:#b35309;stroke-dasharray:2 4}"
    ".d0{fill:#14683a}.d1{fill:#8a3ab0}.d2{fill:#b35309}"
    "@media(prefers-color-scheme:dark){text{fill:#a0a7b3}"
    ".s0{stroke:#7fd0a0}.s1{stroke:#d09cf0}.s2{stroke:#f0a860}"
    ".d0{fill:#7fd0a0}.d1{fill:#d09cf0}.d2{fill:#f0a860}}"
)


class Line(Struct, frozen=True):
    """A name, and what was measured at each size."""

    name: str
    points: tuple[tuple[float, float], ...]

    def told(self, unit: str) -> str:
        """Return its numbers in words."""
        return ", ".join(f"{y:,.2f} {unit} at {x:,.0f}" for x, y in self.points)

    @property
    def exponent(self) -> float | None:
        """Return how the figure grows: 1 in proportion, 2 with the square; None for fewer than three sizes."""
        if len(self.points) < 3:
            return None
        logs = [(math.log(x), math.log(y)) for x, y in self.points if x > 0 and y > 0]
        x, y = (sum(each) / len(logs) for each in zip(*logs, strict=True))
        spread = sum((a - x) ** 2 for a, _ in logs)
        return sum((a - x) * (b - y) for a, b in logs) / spread if spread else None


def growth(name: str, title: str, unit: str, lines: Sequence[Line]) -> str:
    """Return the picture. ``name`` is for its ids; the description has every number."""
    most_x = max(x for line in lines for x, _ in line.points)
    marks = _marks(max(y for line in lines for _, y in line.points))
    words = "; ".join(
        f"{line.name}: {', '.join(f'{y:,.2f} {unit} at {x:,.0f}' for x, y in line.points)}" for line in lines
    )
    parts = [*_axes(most_x, marks, unit, lines[0]), *_drawn(lines, most_x, marks[-1])]
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDE} {HIGH}" role="img" '
        f'aria-labelledby="{name}-title {name}-words"><title id="{name}-title">{escape(title)}</title>'
        f'<desc id="{name}-words">{escape(words)}</desc><style>{STYLE}</style>{"".join(parts)}</svg>\n'
    )


def _marks(most: float) -> list[float]:
    """Return round numbers from zero to the first that nothing exceeds."""
    rough = most / 4
    power = 10.0 ** math.floor(math.log10(rough)) if rough > 0 else 1.0
    step = next(power * each for each in (1, 2, 2.5, 5, 10) if power * each >= rough)
    return [step * number for number in range(math.ceil(round(most / step, 6)) + 1)]


def _x(value: float, most: float) -> float:
    return LEFT + value / most * (WIDE - LEFT - RIGHT)


def _y(value: float, most: float) -> float:
    return HIGH - BOTTOM - value / most * (HIGH - TOP - BOTTOM)


def _axes(most_x: float, marks: Sequence[float], unit: str, line: Line) -> Iterator[str]:
    for mark in marks:
        y = _y(mark, marks[-1])
        yield f'<line class="grid" x1="{LEFT}" y1="{y:.1f}" x2="{WIDE - RIGHT}" y2="{y:.1f}"/>'
        yield f'<text class="end" x="{LEFT - 8}" y="{y + 4:.1f}">{mark:,g}{f" {unit}" if mark else ""}</text>'
    last = -math.inf
    for x, _ in line.points:
        if _x(x, most_x) - last > 44:
            last = _x(x, most_x)
            yield f'<text class="middle" x="{last:.1f}" y="{HIGH - BOTTOM + 20}">{x:,.0f}</text>'


def _drawn(lines: Sequence[Line], most_x: float, most_y: float) -> Iterator[str]:
    ends = _apart([_y(line.points[-1][1], most_y) for line in lines])
    for number, line in enumerate(lines):
        kind = number % 3
        points = [(_x(x, most_x), _y(y, most_y)) for x, y in line.points]
        yield f'<polyline class="s{kind}" points="{" ".join(f"{x:.1f},{y:.1f}" for x, y in points)}"/>'
        yield from (f'<circle class="d{kind}" cx="{x:.1f}" cy="{y:.1f}" r="3.5"/>' for x, y in points)
        x, y = points[-1][0] + 10, ends[number] + 4
        yield f'<text class="d{kind}" x="{x:.1f}" y="{y:.1f}">{escape(line.name)}</text>'


def _apart(places: list[float], least: float = 16) -> list[float]:
    """Return heights for labels that do not touch, in the order of the lines."""
    order = sorted(range(len(places)), key=lambda number: -places[number])
    found = list(places)
    for above, below in zip(order[1:], order, strict=False):
        found[above] = min(found[above], found[below] - least)
    return found
