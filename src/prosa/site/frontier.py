"""The URLs that a walk over a site still has to visit, nearest to its start first. In: URLs with their distance. Out:
the next ones, each once, of one origin, no farther than allowed."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable

from msgspec import Struct, field

from prosa.site.page_link import same_site

MAX_SEEN = 500_000
"""URLs that a walk remembers; a site that makes up more has no end."""


class Frontier(Struct):
    """``start`` determines the origin. ``full`` is true if URLs were skipped because there were too many."""

    start: str
    max_depth: int
    full: bool = False
    _waiting: deque[tuple[str, int]] = field(default_factory=deque)
    _seen: set[str] = field(default_factory=set)

    def add(self, urls: Iterable[str], depth: int) -> None:
        """Add URLs at the end of the queue; known ones, those of another origin and those too far are skipped."""
        if depth > self.max_depth:
            return
        for url in urls:
            if url in self._seen or not same_site(url, self.start):
                continue
            if len(self._seen) >= MAX_SEEN:
                self.full = True
                return
            self._seen.add(url)
            self._waiting.append((url, depth))

    def take(self, most: int) -> list[tuple[str, int]]:
        """Return the next URLs with their distances, at most so many; none at the end."""
        return [self._waiting.popleft() for _ in range(min(most, len(self._waiting)))]

    @property
    def waiting(self) -> int:
        """How many are left."""
        return len(self._waiting)
