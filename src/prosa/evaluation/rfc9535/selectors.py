"""Selectors and segments of JSONPath (RFC 9535, 2.3 and 2.5). In: a value. Out: nodes, in the order of the standard.

Nothing recurses over a value: what a search may visit and how deep it descends are bounded.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Protocol, TypeAlias

from msgspec import Struct

from prosa.data import Value

MAX_VISITS = 1_000_000
"""Values that one search may visit: a filter in a filter, or the same index many times, multiplies them."""

MAX_DEPTH = 100
"""Maximum nesting below which `..` finds nothing more."""

Parts: TypeAlias = tuple[str | int, ...]


class TooMuch(ValueError):
    """A search that visits too much. The message continues after the name of the query."""


class Node(Struct):
    """A value and the way to it: the node that has it, and its name or index there."""

    value: Value
    parent: Node | None = None
    key: str | int = ""

    def location(self) -> Parts:
        """Return the names and indexes that lead to it."""
        keys: list[str | int] = []
        node = self
        while node.parent is not None:
            keys.append(node.key)
            node = node.parent
        return tuple(reversed(keys))


class Search(Struct):
    """One search: the value that `$` names, and how many more values it may visit."""

    root: Value
    left: int = MAX_VISITS

    def visit(self, count: int) -> None:
        """Count values. Raises `TooMuch`."""
        self.left -= count
        if self.left < 0:
            raise TooMuch(f"visits more than {MAX_VISITS:,} values")


class Selector(Protocol):
    """What takes children of a node."""

    def select(self, node: Node, search: Search) -> Iterable[Node]:
        """Return children of a node. Raises `TooMuch`."""
        ...


class Condition(Protocol):
    """What a filter asks of each child."""

    def holds(self, value: Value, search: Search) -> bool:
        """Return whether it holds for a value. Raises `TooMuch`."""
        ...


class ByName(Struct, frozen=True):
    """The member of an object with a name."""

    name: str

    def select(self, node: Node, search: Search) -> Iterable[Node]:
        """Return one node, or none."""
        search.visit(1)
        value = node.value
        return (Node(value[self.name], node, self.name),) if isinstance(value, dict) and self.name in value else ()


class ByIndex(Struct, frozen=True):
    """The element of an array at an index, which counts from the end where it is negative."""

    index: int

    def select(self, node: Node, search: Search) -> Iterable[Node]:
        """Return one node, or none."""
        search.visit(1)
        value = node.value
        if not isinstance(value, list) or not -len(value) <= self.index < len(value):
            return ()
        return (Node(value[self.index], node, self.index % len(value)),)


class Slice(Struct, frozen=True):
    """Elements of an array from an index to another, by steps."""

    start: int | None
    stop: int | None
    step: int

    def select(self, node: Node, search: Search) -> Iterable[Node]:
        """Return a node for each index of the slice."""
        search.visit(1)
        value = node.value
        if not isinstance(value, list) or self.step == 0:
            return ()
        indexes = range(*slice(self.start, self.stop, self.step).indices(len(value)))
        search.visit(len(indexes))
        return [Node(value[index], node, index) for index in indexes]


class Wildcard(Struct, frozen=True):
    """All children."""

    def select(self, node: Node, search: Search) -> Iterable[Node]:
        """Return a node for each child."""
        return children(node, search)


class Filter(Struct, frozen=True):
    """The children for which a condition holds."""

    condition: Condition

    def select(self, node: Node, search: Search) -> Iterable[Node]:
        """Return the nodes of these children."""
        holds = self.condition.holds
        return (child for child in children(node, search) if holds(child.value, search))


class Segment(Struct, frozen=True):
    """Selectors that are applied to each node, or (``deep``, written `..`) to each node and all that is below it."""

    selectors: tuple[Selector, ...]
    deep: bool

    def apply(self, nodes: Iterable[Node], search: Search) -> Iterator[Node]:
        """Yield what the selectors take. Raises `TooMuch`."""
        for node in _descend(nodes, search) if self.deep else nodes:
            for selector in self.selectors:
                yield from selector.select(node, search)


class Path(Struct, frozen=True):
    """What follows `$` or `@`. ``parts`` are the names and indexes of one that leads to at most one value."""

    segments: tuple[Segment, ...]
    parts: Parts | None

    def nodes(self, value: Value, search: Search) -> Iterator[Node]:
        """Yield what it finds below a value. Raises `TooMuch`."""
        nodes: Iterable[Node] = (Node(value),)
        for segment in self.segments:
            nodes = segment.apply(nodes, search)
        return iter(nodes)


def children(node: Node, search: Search) -> list[Node]:
    """Return a node for each member or element. Raises `TooMuch`."""
    value = node.value
    if isinstance(value, dict):
        search.visit(1 + len(value))
        return [Node(member, node, name) for name, member in value.items()]
    if isinstance(value, list):
        search.visit(1 + len(value))
        return [Node(item, node, index) for index, item in enumerate(value)]
    search.visit(1)
    return []


def _descend(nodes: Iterable[Node], search: Search) -> Iterator[Node]:
    """Yield each node before the objects and arrays below it."""
    for top in nodes:
        todo = [(top, 1)]
        while todo:
            node, depth = todo.pop()
            yield node
            below = [child for child in children(node, search) if isinstance(child.value, dict | list)]
            if below and depth == MAX_DEPTH:
                raise TooMuch(f"descends into a value that is nested more than {MAX_DEPTH} deep")
            todo += [(child, depth + 1) for child in reversed(below)]
