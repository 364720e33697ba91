"""The documents of a corpus, as the planner of a move needs them: a port that whoever holds the files meets."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Protocol

from prosa.dialects.reading import DialectReading
from prosa.graph.record import Record


class DocumentStore(Protocol):
    """Paths are relative to the root of the corpus, with `/`."""

    @property
    def given(self) -> bool:
        """Whether the user named the root (`--root`)."""
        ...

    def records(self) -> Iterable[Record]:
        """What is known of every document."""
        ...

    def texts(self) -> Iterable[tuple[str, str]]:
        """Every document that can be read: its path and its text as it is now."""
        ...

    def reading(self, path: str) -> DialectReading[object]:
        """A document as it is now. Raises `FileProblem`."""
        ...

    def reread(self, path: str, text: str) -> DialectReading[object]:
        """What a text would be read as at a path."""
        ...
