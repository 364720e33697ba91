"""How many examples a property is tried on: a few of them in `make test`, all in `make test-deep`."""

from __future__ import annotations

import os

DEEP = os.environ.get("PROSA_TESTS") == "deep"
SHARE = 10
"""Which part of the examples a quick run tries."""
FEWEST = 5


def examples(deep: int, share: int = SHARE) -> int:
    """Return how many examples to try of those that a deep run tries. A costly property has a larger ``share``: it is
    divided by more."""
    return deep if DEEP else max(min(deep, FEWEST), deep // share)
