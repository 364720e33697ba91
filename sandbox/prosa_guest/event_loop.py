"""An asyncio event loop that only waits for time: the sandbox has no sockets to wait for.

Coroutines, tasks, queues, locks, timeouts and `asyncio.to_thread` work; what would need a socket or a process fails.
"""

from __future__ import annotations

import asyncio
import asyncio.unix_events
import selectors

from prosa_guest.waiting import sleep


class ClockSelector(selectors._BaseSelectorImpl):
    """A selector without files: waiting is sleeping."""

    def select(self, timeout=None):
        if timeout is None:
            raise RuntimeError("deadlock: every task waits and nothing can wake one")
        if timeout > 0:
            sleep(timeout)
        return []


class ClockEventLoop(asyncio.selector_events.BaseSelectorEventLoop):
    """The loop `asyncio.run` uses here. Functions for an executor run in place, one after the other."""

    def __init__(self) -> None:
        super().__init__(ClockSelector())

    def _make_self_pipe(self) -> None:
        self._ssock = self._csock = None

    def _close_self_pipe(self) -> None:
        pass

    def _write_to_self(self) -> None:
        pass

    def run_in_executor(self, executor, func, *args):
        future = self.create_future()
        try:
            future.set_result(func(*args))
        except (SystemExit, KeyboardInterrupt):
            raise
        except BaseException as error:
            future.set_exception(error)
        return future

    async def shutdown_default_executor(self, timeout=None) -> None:
        pass


def install() -> None:
    """Makes the loop the one that asyncio creates."""
    asyncio.unix_events._UnixDefaultEventLoopPolicy._loop_factory = ClockEventLoop
    asyncio.SelectorEventLoop = asyncio.EventLoop = ClockEventLoop
