"""Documents of a resident corpus by what they ask of others: who must be checked again after a change.

Most questions have one reader and few have many. A set of one path takes 216 bytes and thousands of them megabytes, so
a single reader is kept as a path and up to eight as a tuple.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from pathlib import Path
from typing import Generic, TypeVar

from msgspec import Struct, field

_Question = TypeVar("_Question", bound=Hashable)

_FEW = 8
"""A tuple is searched from its start, so it stays short."""


class Readers(Struct, Generic[_Question], eq=False):
    """The documents by what they ask, each once for a question."""

    _known: dict[_Question, Path | tuple[Path, ...] | set[Path]] = field(default_factory=dict)

    def add(self, question: _Question, real: Path) -> None:
        """Record that a document asks something."""
        known = self._known.setdefault(question, real)
        if isinstance(known, set):
            known.add(real)
        elif isinstance(known, tuple):
            if real not in known:
                self._known[question] = (*known, real) if len(known) < _FEW else {*known, real}
        elif known != real:
            self._known[question] = (known, real)

    def discard(self, question: _Question, real: Path) -> None:
        """Record that a document no longer asks something."""
        known = self._known.get(question, ())
        if isinstance(known, set):
            known.discard(real)
        elif isinstance(known, tuple):
            known = self._known[question] = tuple(path for path in known if path != real)
        if not known or known == real:
            del self._known[question]

    def of(self, questions: Iterable[_Question]) -> set[Path]:
        """Return the documents that ask at least one of some questions."""
        paths: set[Path] = set()
        for question in questions:
            known = self._known.get(question, ())
            paths.update((known,) if isinstance(known, Path) else known)
        return paths
