"""What a reader hands back: the tree as far as it was understood, and every problem found on the way."""

from __future__ import annotations

from collections.abc import Iterable

from msgspec import Struct

from prosa.data.limits import MAX_PROBLEMS, MAX_SHOWN
from prosa.data.tree import Node
from prosa.diagnostics import Annotation, Problem
from prosa.source import Span


class Reading(Struct, frozen=True):
    """The result of reading. ``node`` is None for a text without data; with ``problems`` it is what could be read
    (style 5)."""

    node: Node | None
    problems: tuple[Problem, ...] = ()


class Findings:
    """The problems of one reading in progress, at most `MAX_PROBLEMS`, their spans shifted by ``offset``."""

    __slots__ = ("offset", "problems")

    def __init__(self, offset: int) -> None:
        self.offset = offset
        self.problems: list[Problem] = []

    def add(
        self,
        rule: str,
        message: str,
        start: int,
        end: int,
        *,
        notes: Iterable[str] = (),
        first: Annotation | None = None,
    ) -> None:
        """Record a problem; ``start`` and ``end`` count in the text read, ``first`` is already shifted."""
        if len(self.problems) < MAX_PROBLEMS:
            annotations = (first,) if first else ()
            self.problems.append(Problem(rule, message, self.span(start, end), tuple(notes), annotations))

    def span(self, start: int, end: int) -> Span:
        """Return the span in the caller's text of a stretch of the text read."""
        return Span(start + self.offset, max(start, end) + self.offset)


def shown(text: str) -> str:
    """Return the author's words, quoted and shortened for a message."""
    flat = " ".join(text.split())
    return f"`{flat}`" if len(flat) <= MAX_SHOWN else f"`{flat[: MAX_SHOWN - 1]}…`"
