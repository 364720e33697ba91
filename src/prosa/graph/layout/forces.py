"""One level of the layout: links pull, bodies push, and every body walks towards balance (Fruchterman and Reingold).

In: a network and where its bodies are. Out: where they come to rest. The step adapts itself (Hu 2005): it grows while
the forces fall and shrinks when they rise, so there is nothing to tune for a graph.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import sqrt

from msgspec import Struct, field

from prosa.graph.layout.coarsen import Network

SPACING = 1.0
"""The length that a link between two bodies has when nothing else pulls or pushes. Everything else scales with it."""

PUSH = 0.3
"""Strength of pushing against pulling. Less draws clusters tighter, more fills the plane evenly."""

COOLING = 0.9
"""How the step changes when the forces rise (times) or keep falling (divided by)."""

PATIENCE = 5
"""Rounds in a row with falling forces before the step grows."""

STILL = 0.004
"""The layout rests when its step is below this share of the spacing."""

Points = tuple[list[float], list[float]]


def relax(network: Network, points: Points, *, rounds: int, step: float) -> Points:
    """Move the bodies for at most that many rounds, the first ``step`` wide."""
    xs, ys = list(points[0]), list(points[1])
    pulls = _pulls(network)
    before, falling = float("inf"), 0
    for _ in range(rounds):
        along_x, along_y = repulsion(xs, ys, network.masses)
        total = _walk(xs, ys, along_x, along_y, pulls, step)
        if total < before:
            falling += 1
            if falling >= PATIENCE:
                falling, step = 0, step / COOLING
        else:
            falling, step = 0, step * COOLING
        before = total
        if step < STILL * SPACING:
            break
    return xs, ys


def _pulls(network: Network) -> list[tuple[int, int, float]]:
    """Link with their strength: weaker where both ends have many, or hubs would be drawn into one heap."""
    return [
        (body, other, weight / sqrt(min(len(network.links[body]), len(network.links[other]))))
        for body, links in enumerate(network.links)
        for other, weight in links.items()
        if body < other
    ]


def _walk(
    xs: list[float],
    ys: list[float],
    along_x: list[float],
    along_y: list[float],
    pulls: Sequence[tuple[int, int, float]],
    step: float,
) -> float:
    """Move every body one step along its force, and return the sum of the squared forces."""
    push = PUSH * SPACING * SPACING
    along_x = [each * push for each in along_x]
    along_y = [each * push for each in along_y]
    for one, other, strength in pulls:
        dx = xs[other] - xs[one]
        dy = ys[other] - ys[one]
        pull = strength * sqrt(dx * dx + dy * dy) / SPACING
        along_x[one] += dx * pull
        along_y[one] += dy * pull
        along_x[other] -= dx * pull
        along_y[other] -= dy * pull
    total = 0.0
    for body, (x, y) in enumerate(zip(along_x, along_y, strict=True)):
        force = x * x + y * y
        total += force
        if force > 0:
            share = step / sqrt(force)
            xs[body] += x * share
            ys[body] += y * share
    return total


# How bodies push each other apart: Barnes and Hut's approximation in O(n log n) (Nature 324, 1986).  In: positions and
# masses. Out: a force for every body, `sum of m·m'·(p - p') / |p - p'|³`. It falls with the square of the distance, so
# groups that are linked stay close and do not drive each other to the edge of the drawing. Far groups count as one
# body at their centre of mass; for speed, distance is decided for a whole leaf of the tree.

LEAF = 8
"""Bodies that a square holds before it is divided. Fewer make a deeper tree, more make longer sums; 8 was fastest."""

MAX_DEPTH = 24
"""Divisions of the plane. Bodies closer than 2⁻²⁴ of its width stay in one leaf."""

FAR = 1.6
"""A square is far when its width is less than this multiple of its distance. 1.6 errs by about a tenth, which shows
in no drawing."""

_NEAREST = 1e-3
"""Square of the least distance: two bodies at one point must not push with infinite force."""


class _Square(Struct):
    """A square of the plane: its width, its bodies' mass and their centre, and its parts or, of a leaf, its bodies."""

    width: float
    mass: float
    x: float
    y: float
    parts: list[_Square] = field(default_factory=list)
    bodies: list[int] = field(default_factory=list)


def repulsion(xs: Sequence[float], ys: Sequence[float], masses: Sequence[float]) -> tuple[list[float], list[float]]:
    """Return the forces along x and y on every body."""
    count = len(xs)
    forces_x, forces_y = [0.0] * count, [0.0] * count
    if count < 2:
        return forces_x, forces_y
    left, top = min(xs), min(ys)
    width = max(max(xs) - left, max(ys) - top) or 1.0
    leaves: list[_Square] = []
    whole = _divide(list(range(count)), left, top, width, 0, (xs, ys, masses), leaves)
    for leaf in leaves:
        near = _near(leaf, whole, xs, ys, masses)
        for body in leaf.bodies:
            x, y = xs[body], ys[body]
            along_x = along_y = 0.0
            for other_x, other_y, mass in near:
                dx = x - other_x
                dy = y - other_y
                square = dx * dx + dy * dy + _NEAREST
                push = mass / (square * sqrt(square))
                along_x += dx * push
                along_y += dy * push
            forces_x[body] = along_x * masses[body]
            forces_y[body] = along_y * masses[body]
    return forces_x, forces_y


_Values = tuple[Sequence[float], Sequence[float], Sequence[float]]


def _divide(
    bodies: list[int], left: float, top: float, width: float, depth: int, values: _Values, leaves: list[_Square]
) -> _Square:
    xs, ys, masses = values
    if len(bodies) <= LEAF or depth >= MAX_DEPTH:
        mass = sum(masses[body] for body in bodies)
        x = sum(xs[body] * masses[body] for body in bodies) / mass
        y = sum(ys[body] * masses[body] for body in bodies) / mass
        leaf = _Square(width, mass, x, y, bodies=bodies)
        leaves.append(leaf)
        return leaf
    half = width / 2
    middle_x, middle_y = left + half, top + half
    quarters: tuple[list[int], list[int], list[int], list[int]] = ([], [], [], [])
    for body in bodies:
        quarters[(xs[body] >= middle_x) + 2 * (ys[body] >= middle_y)].append(body)
    parts = [
        _divide(quarter, (left, middle_x)[at & 1], (top, middle_y)[at >> 1], half, depth + 1, values, leaves)
        for at, quarter in enumerate(quarters)
        if quarter
    ]
    mass = sum(part.mass for part in parts)
    x = sum(part.x * part.mass for part in parts) / mass
    y = sum(part.y * part.mass for part in parts) / mass
    return _Square(width, mass, x, y, parts)


def _near(
    leaf: _Square, whole: _Square, xs: Sequence[float], ys: Sequence[float], masses: Sequence[float]
) -> list[tuple[float, float, float]]:
    """Return the bodies that push those of a leaf: far squares as one body each, near ones body by body."""
    found: list[tuple[float, float, float]] = []
    waiting = [whole]
    at_x, at_y, own = leaf.x, leaf.y, leaf.width
    while waiting:
        square = waiting.pop()
        dx = square.x - at_x
        dy = square.y - at_y
        reach = (square.width + own / 2) / FAR
        if reach * reach < dx * dx + dy * dy:
            found.append((square.x, square.y, square.mass))
        elif square.parts:
            waiting.extend(square.parts)
        else:
            found.extend((xs[body], ys[body], masses[body]) for body in square.bodies)
    return found
