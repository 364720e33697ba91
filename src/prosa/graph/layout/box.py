"""Rectangles on the drawing plane, which of many overlap, and which labels can be shown. Units are pixels at 100 %; y
grows downwards.

Greedy: the most important node chooses first, below, above, right or left of it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import floor
from typing import NamedTuple

from msgspec import Struct, field


class Size(NamedTuple):
    """Width and height of what stands at a point."""

    width: float
    height: float


class Box(NamedTuple):
    """A rectangle by its edges."""

    left: float
    top: float
    right: float
    bottom: float

    @property
    def width(self) -> float:
        """From left to right."""
        return self.right - self.left

    @property
    def height(self) -> float:
        """From top to bottom."""
        return self.bottom - self.top

    def overlaps(self, other: Box) -> bool:
        """Return whether the two share an area; to touch is not to overlap."""
        return (
            self.left < other.right and other.left < self.right and self.top < other.bottom and other.top < self.bottom
        )

    def moved(self, dx: float, dy: float) -> Box:
        """Return the same box elsewhere."""
        return Box(self.left + dx, self.top + dy, self.right + dx, self.bottom + dy)

    def grown(self, by: float) -> Box:
        """Return the box with a margin on every side."""
        return Box(self.left - by, self.top - by, self.right + by, self.bottom + by)


def centred(x: float, y: float, size: Size) -> Box:
    """Return the box of that size with its centre at a point."""
    return Box(x - size.width / 2, y - size.height / 2, x + size.width / 2, y + size.height / 2)


def hull(boxes: Sequence[Box]) -> Box:
    """Return the smallest box that holds all; an empty one at the origin for none."""
    if not boxes:
        return Box(0, 0, 0, 0)
    return Box(
        min(box.left for box in boxes),
        min(box.top for box in boxes),
        max(box.right for box in boxes),
        max(box.bottom for box in boxes),
    )


def overlapping(boxes: Sequence[Box]) -> Iterator[tuple[int, int]]:
    """Yield every pair of boxes that overlap, by their places, the smaller first. Sweeps from left to right."""
    ordered = sorted((box.left, box.right, box.top, box.bottom, at) for at, box in enumerate(boxes))
    for number, (_, right, top, bottom, at) in enumerate(ordered):
        for place in range(number + 1, len(ordered)):
            other_left, _, other_top, other_bottom, other = ordered[place]
            if other_left >= right:
                break
            if other_top < bottom and top < other_bottom:
                yield (at, other) if at < other else (other, at)


# Which labels can be shown, and on which side of their node: none covers a node or another label.

CELL = 64.0
"""Edge length of a grid cell for neighbour search, in pixels: about a label."""

DISTANCE = 3.0
"""Between a node and its label."""


class _Taken(Struct):
    """Boxes on the plane, found by the cells they lie in."""

    cells: dict[tuple[int, int], list[Box]] = field(default_factory=dict)

    def add(self, box: Box) -> None:
        for cell in _cells(box):
            self.cells.setdefault(cell, []).append(box)

    def is_free(self, box: Box) -> bool:
        return not any(other.overlaps(box) for cell in _cells(box) for other in self.cells.get(cell, ()))


def place_labels(
    nodes: Sequence[Box], labels: Sequence[Size], order: Sequence[int], others: Sequence[Box] = ()
) -> list[Box | None]:
    """Return the boxes of the labels by node; ``order`` holds the places of those that want one, the most important
    first. ``others`` must stay free too."""
    taken = _Taken()
    for box in (*nodes, *others):
        taken.add(box)
    label_boxes: list[Box | None] = [None] * len(nodes)
    for at in order:
        free = next((side for side in _sides(nodes[at], labels[at]) if taken.is_free(side)), None)
        if free is not None:
            label_boxes[at] = free
            taken.add(free)
    return label_boxes


def _sides(node: Box, label: Size) -> tuple[Box, Box, Box, Box]:
    middle_x, middle_y = (node.left + node.right) / 2, (node.top + node.bottom) / 2
    left, top = middle_x - label.width / 2, middle_y - label.height / 2
    below = Box(left, node.bottom + DISTANCE, left + label.width, node.bottom + DISTANCE + label.height)
    return (
        below,
        below.moved(0, node.top - node.bottom - label.height - 2 * DISTANCE),
        Box(node.right + DISTANCE, top, node.right + DISTANCE + label.width, top + label.height),
        Box(node.left - DISTANCE - label.width, top, node.left - DISTANCE, top + label.height),
    )


def _cells(box: Box) -> list[tuple[int, int]]:
    return [
        (column, row)
        for column in range(floor(box.left / CELL), floor(box.right / CELL) + 1)
        for row in range(floor(box.top / CELL), floor(box.bottom / CELL) + 1)
    ]
