"""How a long command is stopped by hand: a first signal lets it finish current work, a second one abandons that."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress


@contextmanager
def stopping(stop: asyncio.Event, say: Callable[[], None]) -> Iterator[None]:
    """Within the block a first SIGINT or SIGTERM sets ``stop`` after ``say``, a second one cancels the task and is
    raised as KeyboardInterrupt."""
    loop, task = asyncio.get_running_loop(), asyncio.current_task()

    def hear() -> None:
        if stop.is_set() and task is not None:
            task.cancel()
        else:
            say()
            stop.set()

    for number in (signal.SIGINT, signal.SIGTERM):
        with suppress(NotImplementedError, ValueError, RuntimeError):
            loop.add_signal_handler(number, hear)
    try:
        yield
    except asyncio.CancelledError:
        if stop.is_set():
            raise KeyboardInterrupt from None
        raise
    finally:
        for number in (signal.SIGINT, signal.SIGTERM):
            with suppress(NotImplementedError, ValueError, RuntimeError):
                loop.remove_signal_handler(number)
