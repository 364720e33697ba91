"""Statistics of repeats: rates of passing over the measured attempts of a case or of a suite, with their intervals.

In: counts. Out: estimates with 95 % Wilson intervals (X28, X34). Normal intervals are not used: for a few hundred
points or fewer they are too narrow (Bowyer et al., arXiv 2503.01747). `comparison` compares two sides.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import comb, fsum, sqrt
from typing import Final, Literal, TypeAlias

from msgspec import Struct

CONFIDENCE: Final = 0.95

ENOUGH: Final = Fraction(4, 5)
"""The share of the planned attempts that must be measured for any result."""

Method: TypeAlias = Literal["wilson", "sign-flip"]

_Z: Final = 1.959963984540054
"""Standard deviations of a normal distribution that hold this share, written down: `statistics` brings `random` and
`decimal` along."""


class Interval(Struct, frozen=True):
    """A confidence interval and the method that gave it."""

    low: float
    high: float
    method: Method


class Estimate(Struct, frozen=True):
    """A value with its interval."""

    value: float
    interval: Interval


class Counted(Struct, frozen=True):
    """How often a case passed, of how many measured attempts; ``unmeasured`` are those that could not be judged."""

    passed: int
    repeats: int
    unmeasured: int = 0

    @property
    def planned(self) -> int:
        """All attempts, measured or not."""
        return self.repeats + self.unmeasured

    @property
    def rate(self) -> float:
        """The share of the measured attempts that passed; 0 where none was measured."""
        return self.passed / self.repeats if self.repeats else 0.0

    @property
    def share(self) -> Fraction:
        """The same as a fraction. Raises ZeroDivisionError where no attempt was measured."""
        return Fraction(self.passed, self.repeats)

    @property
    def worst(self) -> Fraction:
        """The share that passed if no unmeasured attempt had."""
        return Fraction(self.passed, self.planned)

    @property
    def best(self) -> Fraction:
        """The share that passed if every unmeasured attempt had."""
        return Fraction(self.passed + self.unmeasured, self.planned)


def is_enough(measured: int, planned: int) -> bool:
    """Return whether enough of the planned attempts were measured to say anything (X34)."""
    return measured >= planned * ENOUGH


def pass_all(passed: int, repeats: int, k: int) -> float:
    """pass^k: the probability that ``k`` of the repeats, drawn without putting back, all pass: C(c, k) / C(n, k).

    Raises ValueError unless 1 ≤ k ≤ n and 0 ≤ c ≤ n.
    """
    _require(passed, repeats, k)
    return comb(passed, k) / comb(repeats, k)


def pass_any(passed: int, repeats: int, k: int) -> float:
    """pass@k: the probability that at least one of ``k`` repeats passes: 1 − C(n − c, k) / C(n, k)."""
    _require(passed, repeats, k)
    return 1 - comb(repeats - passed, k) / comb(repeats, k)


def _require(passed: int, repeats: int, k: int) -> None:
    if not 0 <= passed <= repeats or not 1 <= k <= repeats:
        raise ValueError(f"there is no rate of {k} for {passed} of {repeats} repeats")


def wilson(passed: float, repeats: int) -> Interval:
    """Return the Wilson score interval of a proportion; without attempts it is the whole range."""
    if not repeats:
        return Interval(0.0, 1.0, "wilson")
    share, z2 = passed / repeats, _Z * _Z
    middle = (share + z2 / (2 * repeats)) / (1 + z2 / repeats)
    half = _Z / (1 + z2 / repeats) * sqrt(share * (1 - share) / repeats + z2 / (4 * repeats * repeats))
    low = 0.0 if passed <= 0 else max(0.0, middle - half)
    high = 1.0 if passed >= repeats else min(1.0, middle + half)
    return Interval(low, high, "wilson")


def mean_rate(rates: Sequence[float], answers: int) -> Estimate:
    """Return the mean of the rates of cases, each in [0, 1] and based on at least the given number of answers.

    The interval is for repeating these cases: at equal means, cases with different rates vary less together than equal
    ones, so the Wilson interval of all answers covers at least as often as stated. Raises ValueError for no rates.
    """
    if not rates:
        raise ValueError("there is no rate of no cases")
    mean = fsum(rates) / len(rates)
    size = answers * len(rates)
    return Estimate(mean, wilson(mean * size, size))
