"""What is made of a value once, however often it is asked for.

In: a function of one value that never changes: a part of a program, and no value of a caller. Out: the same function,
which remembers its last results by the identity of the value, so that one that cannot be hashed, such as a schema, can
be looked up. An error is raised each time.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")
R = TypeVar("R")

MOST = 64
"""Results that are remembered; beyond that all are made again."""


def remembered(make: Callable[[T], R]) -> Callable[[T], R]:
    """Return a function that calls ``make`` once for each value. The value is kept, so its identity stays its own."""
    known: dict[int, tuple[T, R]] = {}

    def made(value: T) -> R:
        pair = known.get(id(value))
        if pair is None:
            if len(known) >= MOST:
                known.clear()
            pair = known[id(value)] = (value, make(value))
        return pair[1]

    return made
