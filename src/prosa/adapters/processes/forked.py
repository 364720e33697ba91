"""Work shared out among forked processes. In: a function and its arguments. Out: the results in order.

A forked process has everything that this one has, so nothing is handed to it: it takes the number of the next job from
a pipe that all of them read, and sends each result through a pipe of its own. Whatever a process leaves undone, because
it died or because the work failed, is done here; an error of the work is raised here then.
"""

from __future__ import annotations

import contextlib
import os
import pickle
import select
import signal
from collections.abc import Callable, Iterator, Sequence
from typing import NoReturn, TypeVar

from msgspec import Struct, field

_Job = TypeVar("_Job")
_Result = TypeVar("_Result")

TICKETS = 1024
"""Maximum number of tickets: as many as the smallest pipe holds, so that all are written before any is read."""

_TICKET_BYTES = 4
_NUMBER_BYTES = 4
_LENGTH_BYTES = 8

_PIPE_BYTES = 1 << 20
"""Desired size of a pipe of results, so that no process waits while this one is busy; the system's limit is enough."""


class _Workers(Struct):
    """The processes that are at work, each by the pipe that its results come through."""

    processes: dict[int, int] = field(default_factory=dict)

    def start(self, work: Callable[[int], None]) -> None:
        """Fork one that does ``work``, given where to write its results."""
        results, write = os.pipe()
        _widen(write)
        process = os.fork()
        if not process:
            try:
                signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is answered by the process that was started
                for descriptor in (results, *self.processes):
                    os.close(descriptor)
                work(write)
            finally:
                _leave()
        os.close(write)
        self.processes[results] = process

    def answering(self, *, wait: bool) -> list[int]:
        """Return the pipes that have something to say."""
        poll = select.poll()
        for process in self.processes:
            poll.register(process, select.POLLIN)
        return [process for process, _ in poll.poll(None if wait else 0)]

    def end(self, results: int) -> None:
        """End the process that answers through a pipe, if it has not ended."""
        process = self.processes.pop(results)
        os.close(results)
        with contextlib.suppress(ProcessLookupError):
            os.kill(process, signal.SIGKILL)
        with contextlib.suppress(ChildProcessError):
            os.waitpid(process, 0)


def forked(function: Callable[[_Job], _Result], jobs: Sequence[_Job], count: int, *, here: bool) -> Iterator[_Result]:
    """Yield ``function`` of every job, in order, by ``count`` processes; with ``here`` this one is among them."""
    tickets, step = _tickets(len(jobs))
    workers = _Workers()
    made: dict[int, _Result] = {}
    own = _taken(tickets, step, len(jobs)) if here else iter(())

    def work(write: int) -> None:
        for number in _taken(tickets, step, len(jobs)):
            _send(write, number, function(jobs[number]))

    try:
        with contextlib.suppress(OSError):  # no more processes: those that are there do the work
            for _ in range(min(count, len(jobs)) - here):
                workers.start(work)
        for number, job in enumerate(jobs):
            while number not in made:
                busy = next(own, None)
                if workers.processes:
                    _collect(workers, made, wait=busy is None)
                if busy is not None:
                    made[busy] = function(jobs[busy])
                elif not workers.processes and number not in made:
                    made[number] = function(job)
            yield made.pop(number)
    finally:
        for results in [*workers.processes]:
            workers.end(results)
        os.close(tickets)


def _collect(workers: _Workers, made: dict[int, _Result], *, wait: bool) -> None:
    """Collect the available results; a silent process has ended."""
    for results in workers.answering(wait=wait):
        answer: tuple[int, _Result] | None = _receive(results)
        if answer is None:
            workers.end(results)
        else:
            made[answer[0]] = answer[1]


def _tickets(count: int) -> tuple[int, int]:
    """Return a pipe with the numbers of jobs, and how many follow each that belong to it."""
    step = -(-count // TICKETS)
    read, write = os.pipe()
    os.write(write, b"".join(number.to_bytes(_TICKET_BYTES, "big") for number in range(0, count, step)))
    os.close(write)
    return read, step


def _taken(tickets: int, step: int, count: int) -> Iterator[int]:
    """Yield the numbers of jobs that no other process has taken."""
    while ticket := os.read(tickets, _TICKET_BYTES):
        first = int.from_bytes(ticket, "big")
        yield from range(first, min(first + step, count))


def _send(write: int, number: int, result: _Result) -> None:
    data = pickle.dumps(result, pickle.HIGHEST_PROTOCOL)
    head = number.to_bytes(_NUMBER_BYTES, "big") + len(data).to_bytes(_LENGTH_BYTES, "big")
    rest = memoryview(head + data)
    while rest:
        rest = rest[os.write(write, rest) :]


def _receive(results: int) -> tuple[int, _Result] | None:
    """Return the next result with its number; None where no more of them come."""
    head = _exactly(results, _NUMBER_BYTES + _LENGTH_BYTES)
    data = _exactly(results, int.from_bytes(head[_NUMBER_BYTES:], "big")) if head else b""
    return (int.from_bytes(head[:_NUMBER_BYTES], "big"), pickle.loads(data)) if data else None  # noqa: S301 - ours


def _exactly(results: int, length: int) -> bytes:
    """So many bytes; none where the other end is closed before."""
    pieces: list[bytes] = []
    while length:
        piece = os.read(results, length)
        if not piece:
            return b""
        pieces.append(piece)
        length -= len(piece)
    return b"".join(pieces)


def _widen(write: int) -> None:
    import fcntl

    with contextlib.suppress(OSError):
        fcntl.fcntl(write, fcntl.F_SETPIPE_SZ, _PIPE_BYTES)


def _leave() -> NoReturn:
    """End a forked process at once: resources inherited from its parent must not be closed or flushed."""
    os._exit(0)
