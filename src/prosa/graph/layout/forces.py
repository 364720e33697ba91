"""One level of the layout: links pull, bodies push, and every body walks towards balance (Fruchterman and Reingold).

In: a network and where its bodies are. Out: where they come to rest. The step adapts itself (Hu 2005): it grows while
the forces fall and shrinks when they rise, so there is nothing to tune for a graph.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import sqrt

from prosa.graph.layout.coarsen import Network
from prosa.graph.layout.repulsion import repulsion

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
    """Moves the bodies for at most that many rounds, the first ``step`` wide."""
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
    """Links with their strength: weaker where both ends have many, or hubs would be drawn into one heap."""
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
    """Moves every body one step along its force; gives the sum of the squared forces."""
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
