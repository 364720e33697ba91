"""Rectangles side by side on a sheet: the parts of a drawing that have nothing to do with each other.

In: sizes and a width to fold at. Out: the left upper corner of each. A skyline: every rectangle goes where its top is
highest on the sheet, the largest first, which leaves little room unused and no two on top of each other.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import sqrt
from typing import NamedTuple

from prosa.graph.layout.box import Size

ASPECT = 1.5
"""Width of a sheet for each unit of its height: that of most screens, less the room for a legend."""

LOOSE = 1.15
"""Area of the sheet for each unit of area that is on it."""


class _Step(NamedTuple):
    """A piece of the skyline: from ``x``, ``width`` wide, free from ``y`` down."""

    x: float
    y: float
    width: float


def sheet_width(sizes: Sequence[Size]) -> float:
    """A width at which the packed sheet has about the wanted shape."""
    area = sum(size.width * size.height for size in sizes)
    widest = max((size.width for size in sizes), default=0.0)
    return max(widest, sqrt(area * ASPECT * LOOSE))


def pack(sizes: Sequence[Size], width: float) -> list[tuple[float, float]]:
    """The corners, in the order of ``sizes``. Nothing is wider than ``width``, or it sticks out alone."""
    corners: list[tuple[float, float]] = [(0.0, 0.0)] * len(sizes)
    skyline = [_Step(0.0, 0.0, width)]
    for at in sorted(range(len(sizes)), key=lambda each: (-sizes[each].height, -sizes[each].width, each)):
        x, y = _best(skyline, min(sizes[at].width, width))
        corners[at] = (x, y)
        skyline = _covered(skyline, _Step(x, y + sizes[at].height, min(sizes[at].width, width)))
    return corners


def _best(skyline: Sequence[_Step], width: float) -> tuple[float, float]:
    """The highest place of that width, the leftmost of equals."""
    end = skyline[-1].x + skyline[-1].width
    places = [
        (max(step.y for step in skyline if step.x < start.x + width and step.x + step.width > start.x), start.x)
        for start in skyline
        if start.x + width <= end + 1e-6
    ]
    y, x = min(places)
    return x, y


def _covered(skyline: Sequence[_Step], top: _Step) -> list[_Step]:
    """The skyline after something was put there."""
    end = top.x + top.width
    left = [_Step(each.x, each.y, min(each.width, top.x - each.x)) for each in skyline if each.x < top.x]
    right = [
        _Step(max(each.x, end), each.y, each.x + each.width - max(each.x, end))
        for each in skyline
        if each.x + each.width > end + 1e-9
    ]
    return [*left, top, *right]
