"""Positions for one connected network (Hu 2005; Hachul and Jünger 2004): coarsened until it is small, laid out by
forces (Fruchterman and Reingold 1991), refined level by level.

In: a network and a name for every body. Out: positions with a link about one unit long. The same names and links give
the same positions: names replace the randomness of other layouts.

The step adapts itself (Hu 2005): it grows while the forces fall and shrinks when they rise, so there is nothing to tune
for a graph.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from hashlib import blake2b
from math import cos, pi, sin, sqrt

from msgspec import Struct, field

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
    return [max(step, 0) for step in steps]


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


# Smaller graphs that look like a larger one, for a layout from coarse to fine (Hu 2005; Hachul and Jünger 2004).

GROUP = 12
"""Bodies that one group takes. A hub with hundreds of neighbours becomes several groups, or all would fall onto it."""


class Network(Struct, frozen=True):
    """Bodies with masses, and for each its neighbours with the weight of the link. Links go both ways."""

    masses: Sequence[float]
    links: Sequence[dict[int, float]]

    def __len__(self) -> int:
        return len(self.masses)


def network(count: int, pairs: Sequence[tuple[int, int]]) -> Network:
    """Return the network of ``count`` bodies; parallel links are merged, and a link of a body to itself is dropped."""
    links: list[dict[int, float]] = [{} for _ in range(count)]
    for one, other in pairs:
        if one != other:
            links[one][other] = links[other][one] = 1.0
    return Network([1.0] * count, links)


def coarsen(fine: Network) -> tuple[Network, list[int]]:
    """Return the coarser network and the group of every body.

    Bodies with many neighbours gather those that are still free; a body without free neighbours gathers those of a
    neighbour, the leaves of one hub. Order and ties only depend on places, so the same network gives the same groups.
    """
    group = [-1] * len(fine)
    count = 0
    neighbours = _neighbours(fine)
    for body in sorted(range(len(fine)), key=lambda at: (-len(fine.links[at]), at)):
        if group[body] >= 0:
            continue
        group[body] = count
        room = GROUP - 1
        for middle in (body, *sorted(fine.links[body])[:1]):
            room = _gather(neighbours[middle], group, count, room)
        count += 1
    return _merged(fine, group, count), group


def _neighbours(network: Network) -> list[Iterator[int]]:
    """Return the neighbours of every body, those with few links first, each once: a hub is traversed only once."""
    links = network.links
    return [iter(sorted(link, key=lambda at: (len(links[at]), at))) for link in links]


def _gather(neighbours: Iterator[int], group: list[int], own: int, room: int) -> int:
    """Put free neighbours into a group until it is full, and return the room that is left."""
    while room > 0:
        body = next(neighbours, None)
        if body is None:
            break
        if group[body] < 0:
            group[body] = own
            room -= 1
    return room


def _merged(fine: Network, group: Sequence[int], count: int) -> Network:
    masses = [0.0] * count
    links: list[dict[int, float]] = [{} for _ in range(count)]
    for body, own in enumerate(group):
        masses[own] += fine.masses[body]
        mine = links[own]
        for other, weight in fine.links[body].items():
            if group[other] != own:
                mine[group[other]] = mine.get(group[other], 0.0) + weight
    return Network(masses, links)


# One level of the layout: links pull, bodies push, and every body walks towards balance (Fruchterman and Reingold).

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
    along_x = [component * push for component in along_x]
    along_y = [component * push for component in along_y]
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
    points: list[tuple[float, float, float]] = []
    waiting = [whole]
    at_x, at_y, own = leaf.x, leaf.y, leaf.width
    while waiting:
        square = waiting.pop()
        dx = square.x - at_x
        dy = square.y - at_y
        reach = (square.width + own / 2) / FAR
        if reach * reach < dx * dx + dy * dy:
            points.append((square.x, square.y, square.mass))
        elif square.parts:
            waiting.extend(square.parts)
        else:
            points.extend((xs[body], ys[body], masses[body]) for body in square.bodies)
    return points
