"""Smaller graphs that look like a larger one, for a layout from coarse to fine (Hu 2005; Hachul and Jünger 2004).

In: a network. Out: a network in which every group of neighbours is one body, and the group of each body.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec import Struct

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
    around = _neighbours(fine)
    for body in sorted(range(len(fine)), key=lambda at: (-len(fine.links[at]), at)):
        if group[body] >= 0:
            continue
        group[body] = count
        room = GROUP - 1
        for middle in (body, *sorted(fine.links[body])[:1]):
            room = _gather(around[middle], group, count, room)
        count += 1
    return _merged(fine, group, count), group


def _neighbours(network: Network) -> list[Iterator[int]]:
    """Return the neighbours of every body, those with few links first, each once: a hub is traversed only once."""
    links = network.links
    return [iter(sorted(each, key=lambda at: (len(links[at]), at))) for each in links]


def _gather(neighbours: Iterator[int], group: list[int], own: int, room: int) -> int:
    """Put free neighbours into a group until it is full, and return the room that is left."""
    while room > 0:
        each = next(neighbours, None)
        if each is None:
            break
        if group[each] < 0:
            group[each] = own
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
