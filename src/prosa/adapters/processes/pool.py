"""Processes that share out work. In: a function of a module and its arguments. Out: the results in that order.

Workers are forked if that is safe (`forked`), so that loaded modules need not be loaded again. With running threads it
is not: a lock held by one of them would stay locked in the worker. If a worker dies, its share and the remaining work
are done here.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Sequence
from typing import TypeVar

from msgspec import Struct

_Job = TypeVar("_Job")
_Result = TypeVar("_Result")

MAX_WORKERS = 32
"""Processes of one command; more would wait for the disk and for the process that collects their results."""


FORKING = sys.platform == "linux"
"""Whether a process that is forked can do the work of this one. Elsewhere libraries of the system forbid it."""


def worker_count() -> int:
    """Return the processors that this process may use."""
    try:
        count = len(os.sched_getaffinity(0))
    except AttributeError:
        count = os.cpu_count() or 1
    return min(count, MAX_WORKERS)


def _ignore_interrupts() -> None:
    """Ctrl-C reaches every process of a terminal; this one leaves the answer to the process that started it."""
    import signal

    signal.signal(signal.SIGINT, signal.SIG_IGN)


class Pool(Struct, frozen=True):
    """Meets `prosa.rules.analyzer.Workers`. ``count`` processes are started for each `map` and end with it. ``fresh``
    ones begin with nothing of this process, as they must beside other threads. With ``here`` this process is one of
    them: it works too while others do, where it has nothing else to do with their results."""

    count: int
    fresh: bool = False
    here: bool = False

    def map(self, function: Callable[[_Job], _Result], jobs: Sequence[_Job]) -> Iterator[_Result]:
        """Yield ``function`` of every job, in order. One worker or one job is done in this process."""
        if self.count < 2 or len(jobs) < 2:
            yield from map(function, jobs)
            return
        if FORKING and not self.fresh:
            from prosa.adapters.processes.forked import forked

            yield from forked(function, jobs, self.count, here=self.here)
        else:
            yield from self._started(function, jobs)

    def _started(self, function: Callable[[_Job], _Result], jobs: Sequence[_Job]) -> Iterator[_Result]:
        from concurrent.futures import ProcessPoolExecutor
        from concurrent.futures.process import BrokenProcessPool
        from multiprocessing import get_context

        context = get_context("spawn" if self.fresh else None)
        size = min(self.count, len(jobs)) - self.here
        done = 0
        own: dict[int, _Result] = {}
        try:
            with ProcessPoolExecutor(size, mp_context=context, initializer=_ignore_interrupts) as workers:
                futures = {at: workers.submit(function, job) for at, job in enumerate(jobs)}
                try:
                    while done < len(jobs) - len(own):
                        last = len(jobs) - len(own) - 1
                        if self.here and not futures[done].done() and futures[last].cancel():
                            own[last] = function(jobs[last])
                        else:
                            yield futures.pop(done).result()  # a result that was given is kept no longer
                            done += 1
                finally:
                    for future in futures.values():
                        future.cancel()
        except (BrokenProcessPool, OSError):
            for at in range(done, len(jobs) - len(own)):
                yield function(jobs[at])
        yield from (own[at] for at in sorted(own))
