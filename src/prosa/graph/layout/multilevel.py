"""Positions for one connected network: coarsened until it is small, laid out there, refined level by level.

In: a network and a name for every body. Out: positions with a link about one unit long. The same names and links give
the same positions: names replace the randomness of other layouts.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from hashlib import blake2b
from math import cos, pi, sin, sqrt

from prosa.graph.layout.coarsen import Network, coarsen
from prosa.graph.layout.forces import SPACING, Points, relax

SMALL = 25
"""Bodies of the coarsest network."""

SHRINKING = 0.85
"""A coarser network that keeps more than this share of the bodies is not worth a level."""

ROUNDS = ((60, 300), (400, 200), (1500, 90), (6000, 50))
"""Rounds for networks up to a size; larger ones take those of `FEWEST`. Chosen so that 5,000 bodies take seconds."""

FEWEST = 25

JITTER = 0.8
"""How far a body may start from its place, in links: bodies equally far from everything must separate."""


def positions(network: Network, names: Sequence[str]) -> Points:
    """Return where the bodies go."""
    levels = _levels(network)
    coarsest = levels[-1][0]
    points = relax(coarsest, _unfolded(coarsest, names), rounds=_rounds(len(coarsest)), step=SPACING)
    for at in range(len(levels) - 2, -1, -1):
        fine, group = levels[at][0], levels[at + 1][1]
        points = relax(fine, _spread(fine, group, points, names), rounds=_rounds(len(fine)), step=SPACING / 2)
    return points


def _rounds(count: int) -> int:
    return next((rounds for most, rounds in ROUNDS if count <= most), FEWEST)


def _levels(network: Network) -> list[tuple[Network, list[int]]]:
    """Return the network, then ever coarser ones, each with the groups that made it."""
    levels: list[tuple[Network, list[int]]] = [(network, [])]
    while len(levels[-1][0]) > SMALL:
        coarse, group = coarsen(levels[-1][0])
        if len(coarse) > SHRINKING * len(levels[-1][0]):
            break
        levels.append((coarse, group))
    return levels


def _unfolded(network: Network, names: Sequence[str]) -> Points:
    """Return an unfolded start for few bodies: each is placed by its number of steps from three distant ones, moved a
    little by its name (Harel and Koren 2002). A chain starts as a line, a ring as a ring."""
    one = _steps(network, 0)
    first = _farthest(one)
    one = _steps(network, first)
    other = _steps(network, _farthest(one))
    third = _steps(network, _farthest([min(pair) for pair in zip(one, other, strict=True)]))
    bodies = range(len(network))
    return (
        [SPACING * ((one[at] - other[at]) / 2 + JITTER * _number(names, at)) for at in bodies],
        [SPACING * (third[at] + JITTER * _number(names, at, "aside")) for at in bodies],
    )


def _farthest(steps: Sequence[int]) -> int:
    return max(range(len(steps)), key=lambda at: (steps[at], -at))


def _steps(network: Network, start: int) -> list[int]:
    """Return how many links every body is away from one of them; 0 for what cannot be reached."""
    steps = [-1] * len(network)
    steps[start] = 0
    waiting = deque([start])
    while waiting:
        body = waiting.popleft()
        for other in network.links[body]:
            if steps[other] < 0:
                steps[other] = steps[body] + 1
                waiting.append(other)
    return [max(each, 0) for each in steps]


def _spread(fine: Network, group: Sequence[int], coarse: Points, names: Sequence[str]) -> Points:
    """Return every body where its group was, the plane enlarged to make room, and a little beside it."""
    stretch = sqrt(len(fine) / max(len(coarse[0]), 1))
    xs, ys = [], []
    for body, own in enumerate(group):
        turn = 2 * pi * _number(names, body)
        away = SPACING * (0.1 + _number(names, body, "radius") / 2)
        xs.append(coarse[0][own] * stretch + away * cos(turn))
        ys.append(coarse[1][own] * stretch + away * sin(turn))
    return xs, ys


def _number(names: Sequence[str], body: int, purpose: str = "") -> float:
    """Return a number from 0 to 1 that a name decides."""
    text = f"{names[body]}\0{purpose}".encode("utf-8", "surrogatepass")
    return int.from_bytes(blake2b(text, digest_size=4).digest()) / 0xFFFFFFFF
