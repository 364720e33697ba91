"""The documents of a corpus for the planner of a move: a port that the owner of the files implements."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Protocol

from prosa.corpus.moves.world import World
from prosa.dialects.reading import DialectReading


class DocumentStore(Protocol):
    """Paths are relative to the root of the corpus, with `/`."""

    def world(self) -> World:
        """Return the records of all documents."""
        ...

    def texts(self, names: Collection[str]) -> Iterable[tuple[str, str]]:
        """Return the readable documents whose text holds any of some names: paths and current texts."""
        ...

    def reading(self, path: str) -> DialectReading[object]:
        """Return a document as it is now. Raises `FileProblem`."""
        ...

    def reread(self, path: str, text: str) -> DialectReading[object]:
        """Return what a text would be read as at a path."""
        ...
