"""For people who test their own programs: a provider with fixed replies, and a clock that never waits.

Nothing here reaches a network, reads the time of day or sleeps.
"""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime, timedelta

from prosa.adapters.providers.scripted import ScriptedProvider, ScriptProblem

__all__ = ["FakeClock", "ScriptProblem", "ScriptedProvider"]


class FakeClock:
    """Meets the port `Clock`. A sleep returns at once and moves the time forward; ``sleeps`` lists their seconds."""

    def __init__(self, start: datetime = datetime(2026, 1, 1, tzinfo=UTC)) -> None:
        self._start = start
        self._elapsed = 0.0
        self.sleeps: list[float] = []

    def now(self) -> datetime:
        """The start plus all seconds that were slept or advanced."""
        return self._start + timedelta(seconds=self._elapsed)

    def monotonic(self) -> float:
        """Seconds that were slept or advanced."""
        return self._elapsed

    async def sleep(self, seconds: float) -> None:
        """Moves the time forward by ``seconds`` and lets others run once."""
        self.sleeps.append(seconds)
        self.advance(seconds)
        await asyncio.sleep(0)

    def advance(self, seconds: float) -> None:
        """Moves the time forward; a negative number is taken as 0."""
        self._elapsed += max(0.0, seconds)
