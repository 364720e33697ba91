"""How much more work a larger input is: the one place of the tests that reads a clock to judge.

A verdict must not depend on the machine: the processor time of this thread is taken without garbage collection, the
smallest of several attempts counts, bounds are wide, and only what fails every attempt fails. Work that is quadratic
does; a neighbour on the same core, a full collection or a first import does not. `make test` compares sizes, and
takes floors, of a quarter of what `make test-deep` does.
"""

from __future__ import annotations

import gc
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from tests.depth import DEEP

TRIES = 8
SLACK = 4.0
"""How much more than its share a larger input may take."""
FLOOR = 0.05
"""Seconds of the larger input below which a measurement says nothing."""
PART = 1 if DEEP else 4
"""What both sizes, and this floor, are divided by."""
WIDE = 4.0
"""What a bound in seconds is multiplied with: a machine may be much slower than the one that it was named on."""


@contextmanager
def _uncollected() -> Iterator[None]:
    """No garbage is collected meanwhile: the heap of a whole suite takes as long as the work."""
    was = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was:
            gc.enable()


def seconds(work: Callable[[], object]) -> float:
    """Processor time of one call in this thread."""
    with _uncollected():
        began = time.thread_time()
        work()
        return time.thread_time() - began


def is_linear(work: Callable[[int], object], small: int, large: int, tries: int = TRIES, part: int = PART) -> bool:
    """Whether ``work(large)`` takes about ``large / small`` times as long as ``work(small)``, for both sizes divided by
    ``part``. What takes less than the floor allows is not compared."""
    allowed = FLOOR / part
    best = float("inf")
    least = 0.0
    for _ in range(tries):
        best = min(best, seconds(lambda: work(large // part)))
        if best < SLACK * allowed:
            return True
        least = max(least, seconds(lambda: work(small // part)))
        if best < SLACK * least * large / small:
            return True
    return False


def is_quick(work: Callable[[], object], limit: float) -> bool:
    """Whether ``work`` takes less than about ``limit`` seconds of processor time: what has no end takes more."""
    return any(seconds(work) < WIDE * limit for _ in range(TRIES))
