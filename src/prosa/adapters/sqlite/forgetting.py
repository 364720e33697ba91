"""Documents that leave the index, and what was known of them that matters to others (incremental updates).

In: numbers of documents. Out: `Before`: their keys, their names, and whether they had a say in the sites or lent
metadata. They come back under the same numbers when they only changed.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass, field

from prosa.adapters.sqlite import writing
from prosa.graph.names import Key


@dataclass(slots=True)
class Before:
    """What documents were. ``names`` are the ids and paths by which they could be called; ``nodes`` are the MDH nodes
    among them, by path and canonical URLs; ``lenders`` says that one was a meta file."""

    numbers: set[int] = field(default_factory=set)
    keys: list[tuple[Key, int]] = field(default_factory=list)
    names: set[str] = field(default_factory=set)
    nodes: set[tuple[str, str]] = field(default_factory=set)
    lenders: bool = False

    def forget(self, connection: sqlite3.Connection, documents: Sequence[int]) -> None:
        """Notes what documents were, and removes them."""
        for number in documents:
            self._note(connection, number)
        writing.remove(connection, documents)

    def _note(self, connection: sqlite3.Connection, number: int) -> None:
        columns = "SELECT own, path, dialect, canonical, globs IS NOT NULL FROM document WHERE id = ?"
        own, path, dialect, canonical, lender = connection.execute(columns, (number,)).fetchone()
        self.numbers.add(number)
        self.names |= {own, path}
        if dialect == "mdh":
            self.nodes.add((path, canonical))
        self.lenders |= bool(lender)
        keys = connection.execute("SELECT space, name FROM key WHERE document = ?", (number,))
        self.keys += [(Key(space, name), number) for space, name in keys]
