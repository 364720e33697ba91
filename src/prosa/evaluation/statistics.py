"""Statistics of repeats: rates of passing with their intervals, over repeats of a case and over the cases of a suite.

In: counts and rates. Out: estimates and 95 % intervals that name their method (X28). The draws of a bootstrap begin
with a fixed seed, so that the same counts always give the same interval. Normal intervals are not used for a few
hundred points or fewer, where they are too narrow (Bowyer et al., arXiv 2503.01747).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import comb, fsum, sqrt
from random import Random
from statistics import NormalDist
from typing import Literal, TypeAlias

from msgspec import Struct

CONFIDENCE = 0.95
DRAWS = 10_000
SEED = 20_230
MAX_DRAWN = 1_000
"""Cases up to which a bootstrap draws; above, the normal interval differs from it by less than the draws do."""

Method: TypeAlias = Literal["wilson", "bootstrap", "normal", "newcombe"]

_NORMAL = NormalDist()
_Z = _NORMAL.inv_cdf((1 + CONFIDENCE) / 2)


class Interval(Struct, frozen=True):
    """A 95 % confidence interval and the method that gave it."""

    low: float
    high: float
    method: Method


class Estimate(Struct, frozen=True):
    """A value with its interval."""

    value: float
    interval: Interval


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
    """The Wilson score interval of a proportion; of nothing it is the whole range."""
    if not repeats:
        return Interval(0.0, 1.0, "wilson")
    share, z2 = passed / repeats, _Z * _Z
    middle = (share + z2 / (2 * repeats)) / (1 + z2 / repeats)
    half = _Z / (1 + z2 / repeats) * sqrt(share * (1 - share) / repeats + z2 / (4 * repeats * repeats))
    low = 0.0 if passed <= 0 else max(0.0, middle - half)
    high = 1.0 if passed >= repeats else min(1.0, middle + half)
    return Interval(low, high, "wilson")


def mean_rate(rates: Sequence[float]) -> Estimate:
    """The mean of the rates of cases, each in [0, 1], with its interval over the cases. Repeats are not
    drawn: they say nothing about the cases that are not there. Where all rates are equal there is nothing to draw from,
    and the interval is that of as many single answers. Raises ValueError for no rates."""
    if not rates:
        raise ValueError("there is no rate of no cases")
    mean = fsum(rates) / len(rates)
    if len(rates) == 1 or min(rates) == max(rates):
        return Estimate(mean, wilson(mean * len(rates), len(rates)))
    drawn = _interval_of_mean(rates)
    return Estimate(mean, Interval(max(drawn.low, 0.0), min(drawn.high, 1.0), drawn.method))


def _interval_of_mean(values: Sequence[float]) -> Interval:
    if len(values) > MAX_DRAWN:
        mean, half = fsum(values) / len(values), _Z * sqrt(_variance(values) / len(values))
        return Interval(mean - half, mean + half, "normal")
    return _bootstrap(values)


def _bootstrap(values: Sequence[float]) -> Interval:
    """The expanded percentile interval of the mean (Hesterberg 2015, The American Statistician 69): the percentiles are
    those of a t interval, as plain ones are too narrow for few values."""
    size, draw = len(values), Random(SEED).choices  # noqa: S311
    means = sorted(fsum(draw(values, k=size)) / size for _ in range(DRAWS))
    share = _NORMAL.cdf(-sqrt(size / (size - 1)) * _t_quantile((1 + CONFIDENCE) / 2, size - 1))
    at = min(int(share * DRAWS), DRAWS // 2)
    return Interval(means[at], means[DRAWS - 1 - at], "bootstrap")


def _t_quantile(probability: float, freedom: int) -> float:
    """The quantile of Student's t: exact for one and two degrees of freedom, else the expansion of Cornish and Fisher
    in 1/freedom, which is right to one percent from three on."""
    from math import pi, tan

    if freedom == 1:
        return tan(pi * (probability - 0.5))
    if freedom == 2:
        return (2 * probability - 1) * sqrt(2 / (4 * probability * (1 - probability)))
    z = _NORMAL.inv_cdf(probability)
    terms = (
        (z**3 + z) / 4,
        (5 * z**5 + 16 * z**3 + 3 * z) / 96,
        (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / 384,
        (79 * z**9 + 776 * z**7 + 1482 * z**5 - 1920 * z**3 - 945 * z) / 92160,
    )
    return z + fsum(term / freedom**power for power, term in enumerate(terms, 1))


def _variance(values: Sequence[float]) -> float:
    mean = fsum(values) / len(values)
    return fsum((value - mean) ** 2 for value in values) / (len(values) - 1)


class Counted(Struct, frozen=True):
    """How often a case passed, of how many repeats."""

    passed: int
    repeats: int

    @property
    def rate(self) -> float:
        """The share that passed."""
        return self.passed / self.repeats

    @property
    def variance(self) -> float:
        """The variance of one repeat. Half a success and half a failure are added, so that a case that was never seen
        to fail is not taken for one that cannot."""
        share = (self.passed + 0.5) / (self.repeats + 1)
        return share * (1 - share)


Verdict: TypeAlias = Literal["better", "worse", "cannot tell"]


class Comparison(Struct, frozen=True):
    """Two sides on the same cases: the mean difference of their rates, first minus second. ``more`` is about how many
    more repeats of every case would tell, where it cannot be told now; None where no number of repeats would, because
    the cases themselves differ too much."""

    difference: Estimate
    verdict: Verdict
    more: int | None = None


def compare(pairs: Sequence[tuple[Counted, Counted]]) -> Comparison:
    """Compares two sides, paired by case. Raises ValueError for no cases."""
    if not pairs:
        raise ValueError("there is nothing to compare")
    differences = [first.rate - second.rate for first, second in pairs]
    mean = fsum(differences) / len(pairs)
    varied = len(pairs) > 1 and min(differences) != max(differences)
    interval = _interval_of_mean(differences) if varied else _newcombe(pairs)
    interval = Interval(max(interval.low, -1.0), min(interval.high, 1.0), interval.method)
    difference = Estimate(mean, interval)
    if interval.low > 0:
        return Comparison(difference, "better")
    if interval.high < 0:
        return Comparison(difference, "worse")
    return Comparison(difference, "cannot tell", _more_repeats(pairs, differences))


def _newcombe(pairs: Sequence[tuple[Counted, Counted]]) -> Interval:
    """The interval of the difference of two proportions made of their Wilson intervals (Newcombe 1998, method 10): of
    the repeats of a single case, or of the cases where all differ equally."""
    first, second = ([pair[side] for pair in pairs] for side in (0, 1))
    sides = [_proportion(each) for each in (first, second)]
    (one, low_one, high_one), (two, low_two, high_two) = sides
    mean = one - two
    below = sqrt((one - low_one) ** 2 + (high_two - two) ** 2)
    above = sqrt((high_one - one) ** 2 + (two - low_two) ** 2)
    return Interval(mean - below, mean + above, "newcombe")


def _proportion(counts: Sequence[Counted]) -> tuple[float, float, float]:
    if len(counts) == 1:
        passed, size = float(counts[0].passed), counts[0].repeats
    else:
        passed, size = fsum(each.rate for each in counts), len(counts)
    interval = wilson(passed, size)
    return passed / size, interval.low, interval.high


MAX_MORE = 10_000
"""More repeats than this are as good as none."""


def _more_repeats(pairs: Sequence[tuple[Counted, Counted]], differences: Sequence[float]) -> int | None:
    """About how many more repeats of each case would make an interval of this difference leave out 0.

    The variance of a mean difference has a part between cases, which stays, and one within them, which repeats divide.
    """
    size, mean = len(pairs), fsum(differences) / len(differences)
    within = fsum(first.variance + second.variance for first, second in pairs) / size
    repeats = min(min(first.repeats, second.repeats) for first, second in pairs)
    between = max(0.0, _variance(differences) - within / repeats) if size > 1 else 0.0
    room = size * (mean / _Z) ** 2 - between
    if room <= 0:
        return None
    more = max(1, int(within / room) + 1 - repeats)
    return more if more <= MAX_MORE else None


def total(counts: Iterable[Counted]) -> Counted:
    """All repeats together."""
    known = list(counts)
    return Counted(sum(each.passed for each in known), sum(each.repeats for each in known))
