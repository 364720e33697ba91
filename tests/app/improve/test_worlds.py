"""Worlds in which no text is better, and worlds whose best text is known; `bench/improve.py` has many of them (X41)."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.app.improve.worlds import Memory, best_rate, improved, known_world, null_world


def test_x41_where_nothing_is_better_nothing_is_accepted(here: Path):
    """Two of the two hundred worlds of the bench."""
    for number in range(2):
        folder, world = null_world(number)
        kept = Memory()
        assert not any(improved(folder, world, seed=seed, rounds=6, kept=kept).accepted for seed in range(2))


@pytest.mark.parametrize("number", range(2))
def test_x41_the_best_text_is_found(number: int, here: Path):
    folder, world = known_world(number)
    found = improved(folder, world, seed=number, rounds=20)
    assert found.accepted and best_rate(found) == 1 and len(world.proposed) < 20
