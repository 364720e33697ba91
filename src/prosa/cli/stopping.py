"""A run that can be stopped from outside: Ctrl-C, `kill`, a closed terminal. What it started ends with it.

In: asynchronous work. Out: its result, or KeyboardInterrupt, or `Stopped`. The signals are caught only while the work
is going on: before and after it there is nothing to end, and the process simply dies of them.
"""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Coroutine
from contextlib import suppress
from typing import Any, TypeVar

from prosa.cli.errors import Stopped

T = TypeVar("T")

SIGNALS = tuple(getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name))
"""Sent by `kill`, by service managers, and when a terminal closes. SIGINT is asyncio's own."""


def run_stoppable(work: Coroutine[Any, Any, T]) -> T:
    """Runs ``work`` to its end. A signal cancels it, waits for its shutdown, and ends in `Stopped`.

    A second signal of the same kind changes nothing, as every shutdown is bounded; a second Ctrl-C does not wait.
    """
    try:
        return asyncio.run(_until_stopped(work))
    except asyncio.CancelledError:
        # Only a signal cancels a whole run; with two kinds of them at once asyncio does not say which it was.
        raise KeyboardInterrupt from None


async def _until_stopped(work: Coroutine[Any, Any, T]) -> T:
    loop, task = asyncio.get_running_loop(), asyncio.current_task()
    received: list[int] = []

    def stop(number: int) -> None:
        received.append(number)
        if task is not None and len(received) == 1:
            task.cancel()

    caught = [number for number in SIGNALS if signal.getsignal(number) is signal.SIG_DFL]
    for number in caught:
        with suppress(NotImplementedError, ValueError, RuntimeError):
            loop.add_signal_handler(number, stop, number)
    try:
        return await work
    except BaseException:
        if received:
            raise Stopped(received[0]) from None
        raise
    finally:
        for number in caught:
            with suppress(NotImplementedError, ValueError, RuntimeError):
                loop.remove_signal_handler(number)
