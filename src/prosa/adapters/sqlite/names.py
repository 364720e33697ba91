"""Names of documents: in memory while a whole index is built, in the index itself when little has changed.

In: keys. Out: the documents that answer to them, in the order of their paths (`graph.names.Names`).
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from prosa.graph.names import Key


class Numbered(NamedTuple):
    """A document by its number in the index."""

    id: int
    path: str


@dataclass(frozen=True, slots=True)
class KnownNames:
    """Names in memory. Most keys lead to one document, so one that does holds it without a list."""

    known: Mapping[Key, Numbered | list[Numbered]]

    @classmethod
    def of(cls, rows: Iterable[tuple[Numbered, Iterable[Key]]]) -> KnownNames:
        """The names of documents, which come in the order of their paths."""
        known: dict[Key, Numbered | list[Numbered]] = {}
        for document, keys in rows:
            for key in keys:
                before = known.setdefault(key, document)
                if before is not document:
                    known[key] = [before, document] if isinstance(before, Numbered) else [*before, document]
        return cls(known)

    def find(self, key: Key) -> Sequence[Numbered]:
        """The documents that answer to a key."""
        found = self.known.get(key, ())
        return (found,) if isinstance(found, Numbered) else found


@dataclass(frozen=True, slots=True)
class StoredNames:
    """Names in the index."""

    connection: sqlite3.Connection

    def find(self, key: Key) -> Sequence[Numbered]:
        """The documents that answer to a key."""
        rows = self.connection.execute(
            "SELECT d.id, d.path FROM key k JOIN document d ON d.id = k.document WHERE k.space = ? AND k.name = ?"
            " ORDER BY d.path",
            key,
        )
        return [Numbered(*row) for row in rows]
