"""The real clock behind the `Clock` port."""

from __future__ import annotations

import asyncio
import time
from datetime import UTC, datetime


class SystemClock:
    """Wall clock in UTC, monotonic seconds, and waiting that other tasks can use."""

    def now(self) -> datetime:
        """Return the time of day, with zone UTC."""
        return datetime.now(UTC)

    def monotonic(self) -> float:
        """Return seconds since some fixed moment."""
        return time.monotonic()

    async def sleep(self, seconds: float) -> None:
        """Wait."""
        await asyncio.sleep(seconds)
