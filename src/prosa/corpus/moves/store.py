"""The documents of a corpus, as the planner of a move needs them: a port that whoever holds the files meets."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Protocol

from prosa.corpus.moves.world import World
from prosa.dialects.reading import DialectReading


class DocumentStore(Protocol):
    """Paths are relative to the root of the corpus, with `/`."""

    def world(self) -> World:
        """Return what is known of every document."""
        ...

    def texts(self, names: Collection[str]) -> Iterable[tuple[str, str]]:
        """Return the documents that can be read and whose text holds any of some names: paths and texts as they are
        now."""
        ...

    def reading(self, path: str) -> DialectReading[object]:
        """Return a document as it is now. Raises `FileProblem`."""
        ...

    def reread(self, path: str, text: str) -> DialectReading[object]:
        """Return what a text would be read as at a path."""
        ...
