"""Whether a character lies in one of many spans: ordered once, then a binary search per question."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable

from prosa.source import Span


class Cover:
    """The characters that at least one of ``spans`` covers."""

    __slots__ = ("_ends", "_starts")

    def __init__(self, spans: Iterable[Span]) -> None:
        self._starts: list[int] = []
        self._ends: list[int] = []
        for span in sorted(spans):
            if self._ends and span.start <= self._ends[-1]:
                self._ends[-1] = max(self._ends[-1], span.end)
            elif len(span):
                self._starts.append(span.start)
                self._ends.append(span.end)

    def __contains__(self, offset: int) -> bool:
        at = bisect_right(self._starts, offset) - 1
        return at >= 0 and offset < self._ends[at]
