"""Run the jobs of a source: so many at a time, until none is left, one fails or the user stops it.

In: a source of jobs, how many at once. Out: nothing; the source knows what came of each job, and which errors are
results.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from typing import Generic, Protocol, TypeAlias, TypeVar

from msgspec import Struct

from prosa.runtime.errors import first_error

GRACE = 10.0
"""Seconds that jobs under way get to end in, where the user stops the others."""

MAX_JOBS = 64
"""Jobs of a list at the same time; services refuse far fewer."""

T = TypeVar("T")

_Task: TypeAlias = "asyncio.Task[object]"


class Source(Protocol[T]):
    """What gives the jobs of one kind, and takes what comes of them."""

    async def next(self) -> T | None:
        """Return the next job, or None where none is left."""
        ...

    async def run(self, job: T, /) -> None:
        """Run a job to its end. What is raised ends all."""
        ...


class JobList(Struct, Generic[T]):
    """A source of jobs that are known before the first one runs."""

    waiting: deque[T]
    work: Callable[[T], Awaitable[object]]

    async def next(self) -> T | None:
        """Return the next job in the order of the list."""
        return self.waiting.popleft() if self.waiting else None

    async def run(self, job: T, /) -> None:
        """Do the work."""
        await self.work(job)


async def run_list(
    jobs: Sequence[T],
    work: Callable[[T], Awaitable[object]],
    *,
    at_once: int = MAX_JOBS,
    beside: Callable[[], Coroutine[object, object, None]] | None = None,
) -> None:
    """Run jobs that are known, started in their order; see `run_source`."""
    await run_source(JobList(deque(jobs), work), max(1, min(at_once, MAX_JOBS, len(jobs))), beside=beside)


async def run_source(
    source: Source[T],
    at_once: int,
    *,
    stop: asyncio.Event | None = None,
    grace: float = GRACE,
    beside: Callable[[], Coroutine[object, object, None]] | None = None,
) -> None:
    """Run all jobs of a source, and ``beside`` as long. After ``stop`` no further job begins, and those under way get
    ``grace`` seconds. Raises the first error of a job, after which the others are cancelled."""
    workers: list[_Task] = [asyncio.create_task(_work(source, stop)) for _ in range(at_once)]
    stopping: _Task | None = asyncio.create_task(stop.wait()) if stop is not None else None
    others = [task for task in (stopping, asyncio.create_task(beside()) if beside is not None else None) if task]
    try:
        await _until_done(workers, others, stopping, grace)
    except GeneratorExit:
        for task in (*workers, *others):
            _drop(task)
        raise
    except BaseException:
        await _cancelled(*workers, *others)
        raise
    await _cancelled(*workers, *others)


async def _work(source: Source[T], stop: asyncio.Event | None) -> None:
    while (stop is None or not stop.is_set()) and (job := await source.next()) is not None:
        await source.run(job)


async def _until_done(workers: Sequence[_Task], others: Sequence[_Task], stopping: _Task | None, grace: float) -> None:
    """Wait for the workers; after a stop only for a while."""
    pending = list(workers)
    while pending:
        watched = [*pending, *(task for task in others if not task.done())]
        done, _ = await asyncio.wait(watched, return_when=asyncio.FIRST_COMPLETED)
        _raise_first([task for task in watched if task in done])
        pending = [task for task in pending if not task.done()]
        if stopping in done and pending:
            done, _ = await asyncio.wait(pending, timeout=grace)
            _raise_first([task for task in pending if task in done])
            return


def _raise_first(done: Sequence[_Task]) -> None:
    errors = [error for task in done if not task.cancelled() and (error := task.exception()) is not None]
    if errors:
        raise first_error(BaseExceptionGroup("jobs failed", errors))


async def _cancelled(*tasks: _Task) -> None:
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)


def _drop(task: _Task) -> None:
    """End what a task was at, where no event loop resumes it: its job is known to be under way no more."""
    work = task.get_coro()
    if work is not None:
        work.close()
