"""The layout of a whole graph: each connected part by itself, the parts packed on one sheet, single nodes in a grid.

In: names, links and the size of what stands at each node. Out: a centre for every node, in pixels, the sheet's left
upper corner at the origin. Pure and deterministic: it depends on nothing but its arguments.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import atan2, ceil, cos, sin, sqrt

from prosa.graph.layout.box import Box, Size, around, hull
from prosa.graph.layout.coarsen import network
from prosa.graph.layout.multilevel import positions
from prosa.graph.layout.pack import pack, sheet_width
from prosa.graph.layout.separate import BRIEF, THOROUGH, Place, separate

GAP = 28.0
"""Room between parts of the drawing."""

EXACT = 400
"""Nodes up to which boxes are pushed apart until none overlap."""

WIDEST = 1.6
"""Width for height up to which a drawing is stretched to make room for labels: a little wider than most screens."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """What is to be laid out. ``links`` are pairs of places in ``names``; ``spacing`` is the length of a link in
    pixels, where there is room for it."""

    names: Sequence[str]
    links: Sequence[tuple[int, int]]
    sizes: Sequence[Size]
    spacing: float


def arrange(wanted: Wanted) -> list[Place]:
    """The centre of every node."""
    parts = _parts(len(wanted.names), wanted.links)
    linked = [part for part in parts if len(part) > 1]
    single = [part[0] for part in parts if len(part) == 1]
    places: list[Place] = [(0.0, 0.0)] * len(wanted.names)
    bottom = _place_parts(wanted, linked, places)
    _place_singles(wanted, single, bottom, places)
    return places


def _place_parts(wanted: Wanted, parts: Sequence[Sequence[int]], places: list[Place]) -> Box:
    """Puts the connected parts side by side; gives the box of all."""
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
    """The centres of one connected part, anywhere on the plane."""
    local = {at: number for number, at in enumerate(part)}
    links = [(local[one], local[other]) for one, other in wanted.links if one in local]
    xs, ys = positions(network(len(part), links), [wanted.names[at] for at in part])
    sizes = [wanted.sizes[at] for at in part]
    level = _level(list(zip(xs, ys, strict=True)))
    stretch = _stretch(sizes, level)
    wide = [(x * wanted.spacing * stretch, y * wanted.spacing / stretch) for x, y in level]
    return separate(wide, sizes, THOROUGH if len(part) <= EXACT else BRIEF)


def _stretch(sizes: Sequence[Size], places: Sequence[Place]) -> float:
    """How much wider than high the drawing should be before boxes are pushed apart: wide boxes need it, or they would
    all give way up and down. A drawing that is wide already stays as it is."""
    box = hull([Box(x, y, x, y) for x, y in places])
    shape = sum(size.width for size in sizes) / max(sum(size.height for size in sizes), 1e-9)
    room = WIDEST * max(box.height, 1e-9) / max(box.width, 1e-9)
    return sqrt(max(1.0, min(shape, room)))


def _level(places: Sequence[Place]) -> list[Place]:
    """Turned so that the drawing is wide rather than high, along its principal axis, and mirrored so that most of it
    stands at the left and the top, where people begin to read."""
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
    return hull([around(x, y, wanted.sizes[at]) for at, (x, y) in zip(part, centres, strict=True)])


def _parts(count: int, links: Sequence[tuple[int, int]]) -> list[list[int]]:
    """The connected parts, the largest first."""
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
