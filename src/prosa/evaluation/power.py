"""What a comparison can find: the chance of a verdict for a true difference, before anything runs (X34).

In: the numbers of cases, repeats and comparisons. Out: chances, by a seeded simulation with the test that decides the
verdict. Each case passes with the same two rates, half of the difference above and below one half, where attempts vary
most, so the chance is rather too low than too high.
"""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache
from random import Random
from typing import Final

from msgspec import Struct

from prosa.evaluation.comparison import ALPHA, MAX_RESIDENT, TestAtLevel, flips_of, p_value

DIFFERENCES: Final = (0.3, 0.5)
"""True differences of pass rates whose power is named."""

SEED: Final = 29
SIMULATED: Final = 500
"""Suites that are simulated for one chance."""


class Power(Struct, frozen=True):
    """The chance that a true ``difference`` in pass rate gets a verdict; None where no result could have one, because
    ``least_cases`` is above ``cases``."""

    difference: float
    chance: float | None
    cases: int
    repeats: int
    comparisons: int
    least_cases: int


def least_cases(comparisons: int) -> int:
    """Return how many cases have to differ for a verdict among so many comparisons: ⌈log2(40·m)⌉."""
    return (40 * comparisons - 1).bit_length()


def most_comparisons(cases: int) -> int:
    """Return how many comparisons so many cases can give a verdict in, at best."""
    return (1 << cases) // 40


def powers(cases: int, repeats: int, comparisons: int) -> tuple[Power, ...]:
    """Return the power for the differences that are named, with Holm's adjustment at its hardest."""
    least = least_cases(comparisons)
    return tuple(
        Power(
            difference,
            chance_of_verdict(cases, repeats, comparisons, difference) if cases >= least else None,
            cases,
            repeats,
            comparisons,
            least,
        )
        for difference in DIFFERENCES
    )


@lru_cache(maxsize=64)
def chance_of_verdict(cases: int, repeats: int, comparisons: int, difference: float) -> float:
    """Return the share of simulated suites in which a true difference gets its verdict."""
    draw = Random(SEED).random  # noqa: S311
    high, low = 0.5 + difference / 2, 0.5 - difference / 2
    alpha, known = ALPHA / comparisons, dict[tuple[int, ...], bool]()
    verdicts = 0
    for _ in range(SIMULATED):
        suite = [sum((draw() < high) - (draw() < low) for _ in range(repeats)) for _ in range(cases)]
        key = tuple(sorted(change for change in suite if change))
        if key not in known:
            known[key] = _rejects(key, alpha)
        verdicts += known[key]
    return verdicts / SIMULATED


def _rejects(differences: tuple[int, ...], alpha: Fraction) -> bool:
    if sum(differences) <= 0:
        return False
    if len(differences) > MAX_RESIDENT:  # so many patterns take long, and the normal distribution is near enough
        return TestAtLevel(alpha).rejects(differences)
    return p_value(differences, flips_of(differences)) <= alpha
