"""Results that wait to be written: the first at once, then all that came while the last ones were written.

In: outcomes as scripts end. Out: a document with their results, and word of each. Writing takes its time with every
result of a long document; so together it takes at most as long as the run itself.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from time import monotonic
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from prosa.app.results import NotWritten, Writer
    from prosa.app.running import Outcome


@dataclass(slots=True)
class Batches:
    """``told`` hears of each outcome when its result stands in the document, or why it does not."""

    writer: Writer
    told: Callable[[Outcome, NotWritten | None], None]
    _waiting: list[Outcome] = field(default_factory=list)
    _came: asyncio.Event = field(default_factory=asyncio.Event)

    def add(self, outcome: Outcome) -> None:
        """Takes a result to write."""
        self._waiting.append(outcome)
        self._came.set()

    async def keep_writing(self) -> None:
        """Writes what comes, until it is cancelled."""
        while True:
            await self._came.wait()
            self._came.clear()
            began = monotonic()
            self.flush()
            await asyncio.sleep(monotonic() - began)

    def flush(self) -> None:
        """Writes what waits."""
        outcomes, self._waiting = self._waiting, []
        for outcome, problem in zip(outcomes, self.writer.write_all(outcomes), strict=True):
            self.told(outcome, problem)
