"""The layout of a whole graph: each connected part by itself, the parts packed on one sheet, single nodes in a grid.

In: names, links and the size of each node's box. Out: a centre for every node, in pixels, the sheet's upper left
corner at the origin. Pure and deterministic: it depends only on its arguments.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice
from math import atan2, ceil, cos, sin, sqrt
from typing import NamedTuple

from msgspec import Struct

from prosa.graph.layout.box import Box, Size, centred, hull, overlapping
from prosa.graph.layout.multilevel import network, positions

GAP = 28.0
"""Room between parts of the drawing."""

EXACT = 400
"""Nodes up to which boxes are pushed apart until none overlap."""

WIDEST = 1.6
"""Width for height up to which a drawing is stretched to make room for labels: a little wider than most screens."""


class Wanted(Struct, frozen=True):
    """The input of a layout. ``links`` are pairs of places in ``names``; ``spacing`` is the length of a link in
    pixels, if there is room for it."""

    names: Sequence[str]
    links: Sequence[tuple[int, int]]
    sizes: Sequence[Size]
    spacing: float


def arrange(wanted: Wanted) -> list[Place]:
    """Return the centre of every node."""
    parts = _parts(len(wanted.names), wanted.links)
    linked = [part for part in parts if len(part) > 1]
    single = [part[0] for part in parts if len(part) == 1]
    places: list[Place] = [(0.0, 0.0)] * len(wanted.names)
    bottom = _place_parts(wanted, linked, places)
    _place_singles(wanted, single, bottom, places)
    return places


def _place_parts(wanted: Wanted, parts: Sequence[Sequence[int]], places: list[Place]) -> Box:
    """Put the connected parts side by side, and return the box of all."""
    drawn = [_drawn(wanted, part) for part in parts]
    boxes = [_hull(wanted, part, centres) for part, centres in zip(parts, drawn, strict=True)]
    sizes = [Size(box.width + GAP, box.height + GAP) for box in boxes]
    corners = pack(sizes, sheet_width(sizes))
    for part, centres, box, (left, top) in zip(parts, drawn, boxes, corners, strict=True):
        for at, (x, y) in zip(part, centres, strict=True):
            places[at] = (x - box.left + left, y - box.top + top)
    return hull([Box(x, y, x + size.width, y + size.height) for (x, y), size in zip(corners, sizes, strict=True)])


def _place_singles(wanted: Wanted, single: Sequence[int], above: Box, places: list[Place]) -> None:
    """Nodes without links in even columns below everything else."""
    if not single:
        return
    cell = Size(
        max(wanted.sizes[at].width for at in single) + GAP / 2, max(wanted.sizes[at].height for at in single) + GAP / 2
    )
    block = [cell] * len(single)
    columns = max(1, min(len(single), int(max(above.width, sheet_width(block)) // cell.width)))
    columns = ceil(len(single) / ceil(len(single) / columns))
    for number, at in enumerate(single):
        row, column = divmod(number, columns)
        places[at] = ((column + 0.5) * cell.width, above.bottom + (row + 0.5) * cell.height)


def _drawn(wanted: Wanted, part: Sequence[int]) -> list[Place]:
    """Return the centres of one connected part, anywhere on the plane."""
    local = {at: number for number, at in enumerate(part)}
    links = [(local[one], local[other]) for one, other in wanted.links if one in local]
    xs, ys = positions(network(len(part), links), [wanted.names[at] for at in part])
    sizes = [wanted.sizes[at] for at in part]
    level = _level(list(zip(xs, ys, strict=True)))
    stretch = _stretch(sizes, level)
    wide = [(x * wanted.spacing * stretch, y * wanted.spacing / stretch) for x, y in level]
    return separate(wide, sizes, THOROUGH if len(part) <= EXACT else BRIEF)


def _stretch(sizes: Sequence[Size], places: Sequence[Place]) -> float:
    """Return how much wider than high the drawing should be before boxes are pushed apart: otherwise wide boxes would
    all move up and down. A drawing that is wide already stays unchanged."""
    box = hull([Box(x, y, x, y) for x, y in places])
    shape = sum(size.width for size in sizes) / max(sum(size.height for size in sizes), 1e-9)
    room = WIDEST * max(box.height, 1e-9) / max(box.width, 1e-9)
    return sqrt(max(1.0, min(shape, room)))


def _level(places: Sequence[Place]) -> list[Place]:
    """Turn the drawing along its principal axis so that it is wide rather than high, and mirror it so that most of it
    is at the left and the top, where reading starts."""
    middle_x = sum(x for x, _ in places) / len(places)
    middle_y = sum(y for _, y in places) / len(places)
    moved = [(x - middle_x, y - middle_y) for x, y in places]
    along = sum(x * x for x, _ in moved)
    across = sum(y * y for _, y in moved)
    both = sum(x * y for x, y in moved)
    angle = -atan2(2 * both, along - across) / 2
    turn, lift = cos(angle), sin(angle)
    turned = [(x * turn - y * lift, x * lift + y * turn) for x, y in moved]
    box = hull([Box(x, y, x, y) for x, y in turned])
    flip_x = -1 if box.left + box.right < 0 else 1
    flip_y = -1 if box.top + box.bottom < 0 else 1
    return [(x * flip_x, y * flip_y) for x, y in turned]


def _hull(wanted: Wanted, part: Sequence[int], centres: Sequence[Place]) -> Box:
    return hull([centred(x, y, wanted.sizes[at]) for at, (x, y) in zip(part, centres, strict=True)])


def _parts(count: int, links: Sequence[tuple[int, int]]) -> list[list[int]]:
    """Return the connected parts, the largest first."""
    parent = list(range(count))

    def top(at: int) -> int:
        while parent[at] != at:
            parent[at] = parent[parent[at]]
            at = parent[at]
        return at

    for one, other in links:
        first, second = sorted((top(one), top(other)))
        parent[second] = first
    parts: dict[int, list[int]] = {}
    for at in range(count):
        parts.setdefault(top(at), []).append(at)
    return sorted(parts.values(), key=lambda part: (-len(part), part[0]))


# Rectangles side by side on a sheet: the unconnected parts of a drawing.  In: sizes and a width to fold at. Out: the
# upper left corner of each. A skyline: every rectangle goes where its top is highest on the sheet, the largest first,
# which leaves little room unused and no two on top of each other.

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
    """Return a width at which the packed sheet has about the wanted shape."""
    area = sum(size.width * size.height for size in sizes)
    widest = max((size.width for size in sizes), default=0.0)
    return max(widest, sqrt(area * ASPECT * LOOSE))


def pack(sizes: Sequence[Size], width: float) -> list[tuple[float, float]]:
    """Return the corners, in the order of ``sizes``. Nothing is wider than ``width``, or it sticks out alone."""
    corners: list[tuple[float, float]] = [(0.0, 0.0)] * len(sizes)
    skyline = [_Step(0.0, 0.0, width)]
    for at in sorted(range(len(sizes)), key=lambda index: (-sizes[index].height, -sizes[index].width, index)):
        x, y = _best(skyline, min(sizes[at].width, width))
        corners[at] = (x, y)
        skyline = _covered(skyline, _Step(x, y + sizes[at].height, min(sizes[at].width, width)))
    return corners


def _best(skyline: Sequence[_Step], width: float) -> tuple[float, float]:
    """Return the highest place of that width, the leftmost of equals."""
    end = skyline[-1].x + skyline[-1].width
    places = [
        (max(step.y for step in skyline if step.x < start.x + width and step.x + step.width > start.x), start.x)
        for start in skyline
        if start.x + width <= end + 1e-6
    ]
    y, x = min(places)
    return x, y


def _covered(skyline: Sequence[_Step], top: _Step) -> list[_Step]:
    """Return the skyline after a rectangle was placed."""
    end = top.x + top.width
    left = [_Step(step.x, step.y, min(step.width, top.x - step.x)) for step in skyline if step.x < top.x]
    right = [
        _Step(max(step.x, end), step.y, step.x + step.width - max(step.x, end))
        for step in skyline
        if step.x + step.width > end + 1e-9
    ]
    return [*left, top, *right]


# Boxes pushed apart until none overlap, with the drawing preserved as far as possible.  In: positions and sizes. Out:
# positions whose boxes share no area. Two that overlap each move half of the shorter way; a crowd that does not
# separate is enlarged a little and tried again, which ends because the points move apart.

SLACK = 0.01
"""Added to every push, so that boxes that touch are not found again."""

Place = tuple[float, float]

CROWDED = 1.2
"""Overlaps for each box above which the drawing is enlarged before anything is pushed."""

STEP = 1.15
"""The factor of each enlargement."""


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
"""For thousands of boxes: the remaining overlaps are small, and more rounds would take seconds and enlarge the
sheet."""


def separate(places: Sequence[Place], sizes: Sequence[Size], effort: Effort = THOROUGH) -> list[Place]:
    """Return the places after pushing; what still overlaps after all that effort stays so."""
    spread = _roomier(_apart(places), sizes, effort.steps)
    for _ in range(effort.tries):
        spread, clear = _pushed(spread, sizes, effort.rounds)
        if clear:
            break
        spread = [(x * effort.growth, y * effort.growth) for x, y in spread]
    return spread


def _roomier(places: list[Place], sizes: Sequence[Size], steps: int) -> list[Place]:
    """Return the drawing enlarged until few boxes overlap: pushing a crowd apart would make rows and columns of it."""
    for _ in range(steps):
        boxes = [centred(x, y, size) for (x, y), size in zip(places, sizes, strict=True)]
        most = CROWDED * len(boxes)
        if next(islice(overlapping(boxes), int(most), None), None) is None:
            break
        places = [(x * STEP, y * STEP) for x, y in places]
    return places


def _apart(places: Sequence[Place]) -> list[Place]:
    """No two at one point: pushing needs a direction."""
    taken: set[Place] = set()
    distinct: list[Place] = []
    for at, (x, y) in enumerate(places):
        place = (x, y) if (x, y) not in taken else (x + (at % 97 + 1) * SLACK, y + (at % 89 + 1) * SLACK)
        taken.add(place)
        distinct.append(place)
    return distinct


def _pushed(places: list[Place], sizes: Sequence[Size], rounds: int) -> tuple[list[Place], bool]:
    for _ in range(rounds):
        boxes = [centred(x, y, size) for (x, y), size in zip(places, sizes, strict=True)]
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
    """Move two centres apart by what their boxes share, along the axis that shares less."""
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
