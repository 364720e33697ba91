"""Boxes pushed apart until none overlap, with the drawing kept as it was as far as that is possible.

In: positions and sizes. Out: positions whose boxes share no area. Two that overlap give way half each along the shorter
way; a crowd that does not come apart is enlarged a little and tried again, which ends because points grow apart.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice
from typing import NamedTuple

from prosa.graph.layout.box import Box, Size, around, overlapping

SLACK = 0.01
"""What is added to every push, so that boxes that touch are not found again."""

Place = tuple[float, float]

CROWDED = 1.2
"""Overlaps for each box above which the drawing is enlarged before anything is pushed."""

STEP = 1.15
"""Each of these enlargements."""


class Effort(NamedTuple):
    """How hard to try: at most ``steps`` enlargements first, then ``tries`` times ``rounds`` of pushing, the drawing
    enlarged by ``growth`` in between."""

    steps: int
    rounds: int
    growth: float
    tries: int


THOROUGH = Effort(4, 40, 1.06, 60)
"""For hundreds of boxes: 1.06⁶⁰ is thirty times as wide, more than any crowd on one spot needs."""

BRIEF = Effort(3, 10, 1.1, 5)
"""For thousands: what still overlaps then is small, and more would cost seconds and a sheet that nobody overlooks."""


def separate(places: Sequence[Place], sizes: Sequence[Size], effort: Effort = THOROUGH) -> list[Place]:
    """The places after pushing; what still overlaps after all that effort stays so."""
    found = _roomier(_apart(places), sizes, effort.steps)
    for _ in range(effort.tries):
        found, clear = _pushed(found, sizes, effort.rounds)
        if clear:
            break
        found = [(x * effort.growth, y * effort.growth) for x, y in found]
    return found


def _roomier(places: list[Place], sizes: Sequence[Size], steps: int) -> list[Place]:
    """The drawing enlarged until few boxes overlap: pushing a crowd apart would make rows and columns of it."""
    for _ in range(steps):
        boxes = [around(x, y, size) for (x, y), size in zip(places, sizes, strict=True)]
        most = CROWDED * len(boxes)
        if next(islice(overlapping(boxes), int(most), None), None) is None:
            break
        places = [(x * STEP, y * STEP) for x, y in places]
    return places


def _apart(places: Sequence[Place]) -> list[Place]:
    """No two at one point: pushing needs a direction."""
    taken: set[Place] = set()
    found: list[Place] = []
    for at, (x, y) in enumerate(places):
        place = (x, y) if (x, y) not in taken else (x + (at % 97 + 1) * SLACK, y + (at % 89 + 1) * SLACK)
        taken.add(place)
        found.append(place)
    return found


def _pushed(places: list[Place], sizes: Sequence[Size], rounds: int) -> tuple[list[Place], bool]:
    for _ in range(rounds):
        boxes = [around(x, y, size) for (x, y), size in zip(places, sizes, strict=True)]
        xs, ys = [x for x, _ in places], [y for _, y in places]
        clear = True
        for one, other in overlapping(boxes):
            clear = False
            _push(one, other, boxes, xs, ys)
        if clear:
            return places, True
        places = list(zip(xs, ys, strict=True))
    return places, False


def _push(one: int, other: int, boxes: Sequence[Box], xs: list[float], ys: list[float]) -> None:
    """Moves two centres apart by what their boxes share, along the axis that shares less."""
    a, b = boxes[one], boxes[other]
    across = min(a.right, b.right) - max(a.left, b.left)
    down = min(a.bottom, b.bottom) - max(a.top, b.top)
    if across < down:
        push = across / 2 + SLACK
        sign = -1 if (a.left + a.right, one) < (b.left + b.right, other) else 1
        xs[one] += sign * push
        xs[other] -= sign * push
    else:
        push = down / 2 + SLACK
        sign = -1 if (a.top + a.bottom, one) < (b.top + b.bottom, other) else 1
        ys[one] += sign * push
        ys[other] -= sign * push
