"""Rectangles on the drawing plane, and which of many overlap. Units are pixels at 100 %; y grows downwards."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple


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


def around(x: float, y: float, size: Size) -> Box:
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
