"""The wall clocks of the running programs, which stop while a run waits its turn (X9).

In: the timeout of each program at its start. Out: `paused`, around a wait that does not count for a program: for a
service whose limits all runs share. The clocks of its callers stop too.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar

from msgspec import Struct


class _Clock(Struct, eq=False):
    """One timeout; ``waiting`` counts the waiting calls below it, ``left`` is the time left when the first
    started to wait."""

    timeout: asyncio.Timeout
    waiting: int = 0
    left: float | None = None

    def stop(self, now: float) -> None:
        self.waiting += 1
        if self.waiting == 1 and not self.timeout.expired():
            when = self.timeout.when()
            self.left = None if when is None else when - now
            self.timeout.reschedule(None)

    def go_on(self, now: float) -> None:
        self.waiting -= 1
        if not self.waiting and self.left is not None and not self.timeout.expired():
            self.timeout.reschedule(now + max(self.left, 0.0))


_RUNNING: ContextVar[tuple[_Clock, ...]] = ContextVar("prosa_deadlines", default=())


@contextmanager
def counting(timeout: asyncio.Timeout) -> Iterator[None]:
    """Run a program under this timeout until the block ends."""
    token = _RUNNING.set((*_RUNNING.get(), _Clock(timeout)))
    try:
        yield
    finally:
        with suppress(ValueError):  # a dropped coroutine ends in another context
            _RUNNING.reset(token)


@contextmanager
def paused() -> Iterator[None]:
    """Stop the wall clocks of the programs around this call."""
    clocks, loop = _RUNNING.get(), asyncio.get_running_loop()
    for clock in clocks:
        clock.stop(loop.time())
    try:
        yield
    except GeneratorExit:
        raise  # nothing continues, and the loop may be closed
    except BaseException:
        _go_on(clocks, loop.time())
        raise
    _go_on(clocks, loop.time())


def _go_on(clocks: Iterable[_Clock], now: float) -> None:
    for clock in clocks:
        clock.go_on(now)
