"""The statistics of a corpus: plain values for `prosa index --stats`."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct, field

from prosa.graph.node import Node


class Linked(Struct, frozen=True):
    """A document, and how many others point at it."""

    node: Node
    count: int


class Statistics(Struct, frozen=True):
    """Counts of documents by dialect, of edges by origin, rel (an empty text: none) and state, most first.

    ``orphans`` are documents that no other points at; ``linked`` those at which most do. ``size`` is the index in
    bytes, ``changed_ns`` when it last changed; both are 0 where that is unknown.
    """

    documents: int = 0
    sections: int = 0
    words: int = 0
    size: int = 0
    changed_ns: int = 0
    embeddings: int = 0
    dialects: Mapping[str, int] = field(default_factory=dict)
    origins: Mapping[str, int] = field(default_factory=dict)
    rels: Mapping[str, int] = field(default_factory=dict)
    states: Mapping[str, int] = field(default_factory=dict)
    orphans: int = 0
    linked: tuple[Linked, ...] = ()

    @property
    def edges(self) -> int:
        """How many edges were written."""
        return sum(self.states.values())
