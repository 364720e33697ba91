"""Cycles of a directed graph, once for every part of the house. Iterative and linear in nodes and edges."""

from __future__ import annotations

from collections import deque
from collections.abc import Hashable, Iterator, Mapping, Sequence
from typing import Generic, TypeVar

from msgspec import Struct, field

Key = TypeVar("Key", bound=Hashable)


def find_cycles(edges: Mapping[Key, Sequence[Key]]) -> tuple[tuple[Key, ...], ...]:
    """Return one shortest cycle for every group of nodes that reach each other, as the nodes on it in order.

    A cycle starts at the first node of its group in the order of ``edges``, as do the cycles. A node that points at
    itself is a cycle of one. Targets that are not keys of ``edges`` are ignored.
    """
    group_of = {node: number for number, group in enumerate(components(edges)) for node in group}
    sizes: dict[int, int] = {}
    for number in group_of.values():
        sizes[number] = sizes.get(number, 0) + 1
    cycles: list[tuple[Key, ...]] = []
    done: set[int] = set()
    for node, targets in edges.items():
        number = group_of[node]
        if number not in done and (sizes[number] > 1 or node in targets):
            done.add(number)
            cycles.append(_shortest(node, group_of, edges))
    return tuple(cycles)


def components(edges: Mapping[Key, Sequence[Key]]) -> tuple[tuple[Key, ...], ...]:
    """Strongly connected components, each after every component it points at (Tarjan 1972, without recursion)."""
    search = _Search(edges)
    for node in edges:
        if node not in search.index:
            search.run(node)
    return tuple(search.found)


class _Search(Struct, Generic[Key]):
    """The state of Tarjan's algorithm: discovery numbers, lowest reachable numbers, open nodes, the path."""

    edges: Mapping[Key, Sequence[Key]]
    index: dict[Key, int] = field(default_factory=dict)
    low: dict[Key, int] = field(default_factory=dict)
    open: list[Key] = field(default_factory=list)
    is_open: set[Key] = field(default_factory=set)
    path: list[tuple[Key, Iterator[Key]]] = field(default_factory=list)
    found: list[tuple[Key, ...]] = field(default_factory=list)

    def run(self, root: Key) -> None:
        """Visit everything that ``root`` reaches."""
        self._enter(root)
        while self.path:
            node, targets = self.path[-1]
            for target in targets:
                if target not in self.edges:
                    continue
                if target not in self.index:
                    self._enter(target)
                    break
                if target in self.is_open:
                    self.low[node] = min(self.low[node], self.index[target])
            else:
                self._leave(node)

    def _enter(self, node: Key) -> None:
        self.index[node] = self.low[node] = len(self.index)
        self.open.append(node)
        self.is_open.add(node)
        self.path.append((node, iter(self.edges[node])))

    def _leave(self, node: Key) -> None:
        self.path.pop()
        if self.path:
            parent = self.path[-1][0]
            self.low[parent] = min(self.low[parent], self.low[node])
        if self.low[node] == self.index[node]:
            self._collect(node)

    def _collect(self, node: Key) -> None:
        """Take the component of ``node`` off the open nodes; it is everything from ``node`` on."""
        group: list[Key] = []
        while not group or group[-1] != node:
            group.append(self.open.pop())
        self.is_open.difference_update(group)
        self.found.append(tuple(reversed(group)))


def _shortest(start: Key, group_of: Mapping[Key, int], edges: Mapping[Key, Sequence[Key]]) -> tuple[Key, ...]:
    """Return a shortest way from ``start`` back to it inside its component; there is one."""
    came_from: dict[Key, Key] = {}
    waiting = deque([start])
    while waiting:
        node = waiting.popleft()
        for target in edges[node]:
            if target == start:
                return _way(start, node, came_from)
            if target in edges and target not in came_from and group_of[target] == group_of[start]:
                came_from[target] = node
                waiting.append(target)
    return (start,)


def _way(start: Key, end: Key, came_from: Mapping[Key, Key]) -> tuple[Key, ...]:
    way = [end]
    while way[-1] != start:
        way.append(came_from[way[-1]])
    return tuple(reversed(way))
