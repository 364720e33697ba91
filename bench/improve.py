"""What `prosa improve` accepts where no text is better, and what it finds where the best one is known.

Worlds are scripted: one fake answers for the model that is tried and for the one that proposes, and gepa searches.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import chdir

from bench.measure import Row

NULL_WORLDS = int(os.environ.get("PROSA_BENCH_WORLDS", "200"))
SEARCHES = 5
KNOWN_WORLDS = 20


def rows() -> Iterator[Row]:
    """Yield the table."""
    accepted, looks = null_worlds(NULL_WORLDS)
    aim = "≤ 18" if NULL_WORLDS == 200 else ""
    yield Row(f"null worlds of {NULL_WORLDS} that accept anything in {SEARCHES} searches", accepted, "worlds", aim=aim)
    yield Row("  looks at held-out cases", looks, "looks")
    found, proposals = known_worlds(KNOWN_WORLDS)
    yield Row(f"worlds of {KNOWN_WORLDS} whose best text is found", found, "worlds", aim="= 20")
    yield Row("  proposals of a search, of at most 20", proposals, "proposals")


def null_worlds(number: int) -> tuple[int, int]:
    """Return how many worlds accept a candidate in any of their searches, each with a new seed on the same held-out
    cases, and the looks of all."""
    from tests.app.improve.worlds import Memory, improved, null_world

    accepted, looks = 0, 0
    for each in range(number):
        with tempfile.TemporaryDirectory() as name, chdir(name):
            folder, kept = null_world(each)[0], Memory()
            found = [improved(folder, null_world(each)[1], seed=seed, rounds=8, kept=kept) for seed in range(SEARCHES)]
            accepted += any(one.accepted for one in found)
            looks += sum(one.parts[0].record.look is not None for one in found)
    return accepted, looks


def known_worlds(number: int) -> tuple[int, float]:
    """Return in how many worlds the accepted text is as good as the best one, and the mean number of proposals."""
    from tests.app.improve.worlds import best_rate, improved, known_world

    found, proposals = 0, 0
    for each in range(number):
        with tempfile.TemporaryDirectory() as name, chdir(name):
            folder, world = known_world(each)
            result = improved(folder, world, seed=each, rounds=20)
            found += result.accepted and best_rate(result) == 1
            proposals += len(world.proposed)
    return found, proposals / number
