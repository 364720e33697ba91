"""What can go wrong with a corpus beyond its files.

CorpusError          a `ProsaError`
├── EmbeddingError   vectors cannot be had: nothing is configured, or what the model gave is no vector
├── IndexProblem     the index cannot be used: locked by another process, in an unsafe place, the disk is full
├── QueryRefused     an SQL query that is wrong, not allowed, or beyond its limits
└── UnknownDocument  no document, or more than one, is called by a name
"""

from __future__ import annotations

from collections.abc import Sequence

from prosa.source import ProsaError

MAX_SHOWN = 80
"""Characters of a name that a message repeats."""


class CorpusError(ProsaError):
    """A problem of a corpus that a user can fix; ``hint`` says how."""

    def __init__(self, message: str, *, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint


class EmbeddingError(CorpusError):
    """Vectors cannot be had."""


class IndexProblem(CorpusError):
    """The index cannot be opened or written."""


class QueryRefused(CorpusError):
    """A refused query: ``hint`` says what is allowed."""


class UnknownDocument(CorpusError):
    """No document is named ``name``, or several are.

    ``near`` are the paths of similar documents; ``reason`` says why a file or folder of that name does not count.
    """

    def __init__(self, name: str, near: Sequence[str] = (), *, reason: str = "", hint: str = "") -> None:
        shown = name if len(name) <= MAX_SHOWN else name[:MAX_SHOWN] + "…"
        what = "several documents are" if len(near) > 1 else "no document is"
        nearest = f"did you mean {' or '.join(near)}?" if near else ""
        hint = hint or nearest or "a document is named by its path, its id or its file name"
        super().__init__(f"{shown} {reason}" if reason else f"{what} called {shown}", hint=hint)
        self.name = name
        self.near = tuple(near)
