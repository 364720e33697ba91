"""Which labels can be shown, and on which side of their node: none covers a node or another label.

In: the boxes of the nodes, the sizes of their labels, their priority. Out: a box for every label that fits, None for
the others. Greedy: the most important node chooses first, below, above, right or left of it.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import floor

from msgspec import Struct, field

from prosa.graph.layout.box import Box, Size

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
    found: list[Box | None] = [None] * len(nodes)
    for at in order:
        free = next((each for each in _sides(nodes[at], labels[at]) if taken.is_free(each)), None)
        if free is not None:
            found[at] = free
            taken.add(free)
    return found


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
