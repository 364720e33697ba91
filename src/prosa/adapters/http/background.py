"""Blocking work beside an event loop, in a thread that nothing waits for: a run that is stopped ends at once.

In: a function. Out: its result, awaited. After a cancelled wait the thread continues to its end, which the function
must bound; its result or error is then discarded.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import TypeVar

T = TypeVar("T")


async def in_background(work: Callable[[], T]) -> T:
    """Run ``work`` in a separate thread. Raises what it raises."""
    loop = asyncio.get_running_loop()
    future: asyncio.Future[T] = loop.create_future()

    def deliver(result: T | None, error: BaseException | None) -> None:
        if future.done():
            return
        if error is not None:
            future.set_exception(error)
        else:
            future.set_result(result)  # type: ignore[arg-type]

    def run() -> None:
        result, error = None, None
        try:
            result = work()
        except BaseException as raised:
            error = raised
        with suppress(RuntimeError):  # the loop is closed: the waiting task is gone
            loop.call_soon_threadsafe(deliver, result, error)

    threading.Thread(target=run, name="prosa-http", daemon=True).start()
    return await future
