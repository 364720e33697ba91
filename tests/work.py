"""How much work something is, measured so that a busy machine does not decide: processor time of this process, wide
bounds, and another try before a verdict. What is quadratic fails every try."""

from __future__ import annotations

import time
from collections.abc import Callable

TRIES = 4
SLACK = 4.0
"""How much more than its share a larger input may take: caches, collections, neighbours on the same core."""
FLOOR = 0.05
"""Seconds below which a measurement says nothing."""


def seconds(work: Callable[[], object]) -> float:
    """Processor time of one call."""
    began = time.process_time()
    work()
    return time.process_time() - began


def is_linear(work: Callable[[int], object], small: int, large: int) -> bool:
    """Whether ``work(large)`` takes about ``large / small`` times as long as ``work(small)``."""
    for _ in range(TRIES):
        first = seconds(lambda: work(small))
        if seconds(lambda: work(large)) < SLACK * large / small * max(first, FLOOR * small / large):
            return True
    return False


def is_quick(work: Callable[[], object], limit: float) -> bool:
    """Whether ``work`` takes less than ``limit`` seconds of processor time."""
    return any(seconds(work) < limit for _ in range(TRIES))
