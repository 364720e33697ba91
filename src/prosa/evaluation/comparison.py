"""Two sides compared case by case: a two-sided sign-flip permutation test, its interval, and a verdict (X34).

In: counts of the attempts of each case on both sides. Out: the mean difference of the pass rates, p, and a verdict.
The unit is the case: if a side makes no difference, each case's difference is as likely to be its opposite, so p is
the share of all ways to flip signs whose mean is at least as far from 0. Repeats only make a case's difference less
noisy.

All decisive numbers are computed in integers. A set of sign patterns is one integer with a bit for each pattern, and
the sums of all patterns are such integers too, one for each binary digit.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction
from functools import lru_cache
from math import ceil, lcm
from operator import mul
from random import Random
from statistics import NormalDist
from typing import Final, Literal, TypeAlias

from msgspec import Struct
from msgspec.structs import replace

from prosa.evaluation.statistics import Counted, Interval, is_enough

ALPHA: Final = Fraction(1, 20)
"""The chance of a wrong verdict, over all comparisons of one subject together."""

MAX_EXACT: Final = 16
"""Cases that differ up to which all sign patterns are tried."""

PATTERNS: Final = 100_000
"""Sign patterns that are drawn where more cases differ."""

MAX_RESIDENT: Final = 64
"""The number of cases whose sign patterns are drawn once for all comparisons."""

MIN_CASES: Final = 6
"""Cases that it takes for any verdict: with five, the smallest p is 1/16."""

MAX_CASES: Final = 500
"""The largest suite that is recommended."""

POWER: Final = 0.8
"""The chance of a verdict that makes a number of cases enough."""

SEED: Final = 20_230
RESAMPLED: Final = 500
"""Suites that are drawn from the cases seen, to find how many would be enough."""

DIGITS: Final = 24
"""Binary places of the ends of an interval."""

Verdict: TypeAlias = Literal["better", "worse", "cannot tell", "not measured"]
Pair: TypeAlias = tuple[Counted, Counted]


class Difference(Struct, frozen=True):
    """The mean over the cases of the first rate minus the second; None if no case was measured on both sides. The
    interval is None for fewer than six cases."""

    value: float | None
    interval: Interval | None = None


class Comparison(Struct, frozen=True):
    """Two sides on the same cases.

    ``p`` is that of the measured attempts, ``p_adjusted`` after Holm's adjustment for the other comparisons of the
    same subject, ``p_worst`` the adjusted one with every unmeasured attempt counted against the verdict; all three are
    None where the verdict is "not measured". ``level`` is that of the interval. ``measured`` are the measured and the
    planned attempts of both sides. ``enough_cases`` is the number of cases with a chance of 0.8 of a verdict, if there
    is none now; None if more than 500 are needed, or if unmeasured attempts prevent a verdict.
    """

    difference: Difference
    verdict: Verdict
    p: float | None = None
    p_adjusted: float | None = None
    p_worst: float | None = None
    level: float | None = None
    cases: int = 0
    cases_differing: int = 0
    measured: tuple[tuple[int, int], tuple[int, int]] = ((0, 0), (0, 0))
    enough_cases: int | None = None

    @property
    def is_open(self) -> bool:
        """Whether the measured attempts would give a verdict that the unmeasured ones could reverse."""
        return self.verdict == "cannot tell" and self.p_adjusted is not None and self.p_adjusted <= ALPHA


def compare(pairs: Sequence[Pair]) -> Comparison:
    """Compare two sides, paired by case. Raises ValueError for no cases."""
    return compare_together([pairs])[0]


def compare_together(several: Sequence[Sequence[Pair]]) -> list[Comparison]:
    """Make all comparisons of one subject, adjusted for their number. Raises ValueError for one without cases.

    A comparison without enough measured attempts counts with p = 1, so that attempts that could not be measured never
    help the others.
    """
    tried = [_Tried.of(pairs) for pairs in several]
    adjusted = holm([test.p for test in tried])
    worst = holm([test.worst for test in tried])
    return [test.comparison(*both) for test, *both in zip(tried, adjusted, worst, strict=True)]


def holm(values: Sequence[Fraction]) -> list[Fraction]:
    """Return p values adjusted by Holm's method: the chance that any of them is wrong stays the same."""
    adjusted, least = [Fraction(1)] * len(values), Fraction(0)
    for rank, at in enumerate(sorted(range(len(values)), key=lambda index: values[index])):
        least = max(least, (len(values) - rank) * values[at])
        adjusted[at] = min(least, Fraction(1))
    return adjusted


class _Tried(Struct, frozen=True):
    """One comparison before the others are known: differences as whole multiples of ``1 / unit``, turned so that their
    sum is not negative. ``flips`` are those of all cases, None where there are too few for an interval."""

    differences: tuple[int, ...]
    unit: int
    is_turned: bool
    measured: tuple[tuple[int, int], tuple[int, int]]
    is_measured: bool
    p: Fraction
    worst: Fraction
    flips: Flips | None

    @classmethod
    def of(cls, pairs: Sequence[Pair]) -> _Tried:
        if not pairs:
            raise ValueError("there is nothing to compare")
        first, second = (_measured(pair[side] for pair in pairs) for side in (0, 1))
        seen = [one.share - two.share if one.repeats and two.repeats else None for one, two in pairs]
        known = [change for change in seen if change is not None]
        is_turned = sum(known) < 0
        is_measured = bool(known) and is_enough(*first) and is_enough(*second)
        unit = lcm(*(change.denominator for change in known))
        signed = [None if change is None else int(change * unit) * (-1 if is_turned else 1) for change in seen]
        compared = tuple(change for change in signed if change is not None)
        flips = flips_of(signed) if is_measured else None
        p = worst = Fraction(1) if flips is None else p_value(compared, flips)
        if is_measured and first[0] + second[0] < first[1] + second[1]:
            turned = ((two, one) for one, two in pairs) if is_turned else pairs
            against = _whole([one.worst - two.best for one, two in turned])
            worst = max(p, p_value(against, flips_of(against)))
        return cls(compared, unit, is_turned, (first, second), is_measured, p, worst, flips)

    def comparison(self, adjusted: Fraction, worst: Fraction) -> Comparison:
        size, differing = len(self.differences), sum(difference != 0 for difference in self.differences)
        total = -sum(self.differences) if self.is_turned else sum(self.differences)
        value = float(Fraction(total, self.unit * size)) if size else None
        comparison = Comparison(
            Difference(value), "not measured", cases=size, cases_differing=differing, measured=self.measured
        )
        if not self.is_measured:
            return comparison
        alpha, verdict = ALPHA * self.p / adjusted, self._verdict(worst)
        is_short = verdict == "cannot tell" and adjusted > ALPHA
        return replace(
            comparison,
            difference=Difference(value, self._interval(alpha)),
            verdict=verdict,
            p=float(self.p),
            p_adjusted=float(adjusted),
            p_worst=float(worst),
            level=float(1 - alpha),
            enough_cases=enough_cases(self.differences, alpha) if is_short else None,
        )

    def _verdict(self, worst: Fraction) -> Verdict:
        if worst > ALPHA:
            return "cannot tell"
        return "worse" if self.is_turned else "better"

    def _interval(self, alpha: Fraction) -> Interval | None:
        if len(self.differences) < MIN_CASES or self.flips is None:
            return None
        total = Fraction(sum(self.differences), self.unit * len(self.differences))
        low = lower_end(self.flips, self.unit, total, alpha)
        high = 0.0 - lower_end(self.flips.turned, self.unit, -total, alpha)
        low = _with_test(low, rejects=self.p <= alpha)
        return Interval(0.0 - high, 0.0 - low, "sign-flip") if self.is_turned else Interval(low, high, "sign-flip")


def _measured(counts: Iterable[Counted]) -> tuple[int, int]:
    known = list(counts)
    return sum(counted.repeats for counted in known), sum(counted.planned for counted in known)


def _whole(differences: Sequence[Fraction]) -> list[int]:
    unit = lcm(*(difference.denominator for difference in differences))
    return [int(difference * unit) for difference in differences]


def _with_test(low: float, *, rejects: bool) -> float:
    """Return the lower end on the same side of 0 as the test: for few differing cases the test tries all patterns,
    while the interval, which counts every case, samples some."""
    return max(low, 2.0**-DIGITS) if rejects else min(low, 0.0)


# ---- sign patterns ----


class Flips(Struct, frozen=True):
    """What ``size`` sign patterns flip: the sum of the positive differences, that of the negative ones without their
    sign, and the number of cases. Each is a list of binary digits, from the lowest: bit j of a digit is that of
    pattern j. One pattern flips nothing: the observation."""

    gained: list[int]
    lost: list[int]
    cases: list[int]
    size: int

    @property
    def turned(self) -> Flips:
        """The same with the sides exchanged."""
        return Flips(self.lost, self.gained, self.cases, self.size)

    @property
    def share(self) -> Fraction:
        """The share of the patterns that flip a sum of 0 or less."""
        return Fraction(_at_most(self.gained, self.lost, self.size), self.size)


def flips_of(differences: Sequence[int | None]) -> Flips:
    """Return what all sign patterns flip of at most 16 differences, else what some that are drawn do. A case that is
    None is left out, and takes its part in the drawing: the same pattern flips the same cases with it and without."""
    known = [difference for difference in differences if difference is not None]
    if len(known) <= MAX_EXACT:
        return _flips(known, _all_patterns(len(known)), 1 << len(known))
    return _flips(differences, _drawn_patterns(len(differences)), PATTERNS + 1)


def _flips(differences: Sequence[int | None], columns: Iterable[int], size: int) -> Flips:
    """Add up what is flipped; bit j of the column of a case says that pattern j flips it."""
    flips = Flips([], [], [], size)
    for difference, column in zip(differences, columns, strict=True):
        if difference is not None:
            _add(flips.gained if difference > 0 else flips.lost, abs(difference), column)
            _add(flips.cases, 1, column)
    return flips


@lru_cache(maxsize=MAX_EXACT + 1)
def _all_patterns(cases: int) -> tuple[int, ...]:
    columns = []
    for at in range(cases):
        column, width = ((1 << (1 << at)) - 1) << (1 << at), 2 << at
        while width < 1 << cases:
            column |= column << width
            width *= 2
        columns.append(column)
    return tuple(columns)


def _drawn_patterns(cases: int) -> Iterable[int]:
    """Return the sign patterns of so many cases, always the same ones. Those of a small suite stay in memory."""
    if cases <= MAX_RESIDENT:
        return _resident_patterns()[:cases]
    draw = Random(SEED).getrandbits  # noqa: S311
    return (draw(PATTERNS) for _ in range(cases))


@lru_cache(maxsize=1)
def _resident_patterns() -> tuple[int, ...]:
    draw = Random(SEED).getrandbits  # noqa: S311
    return tuple(draw(PATTERNS) for _ in range(MAX_RESIDENT))


def p_value(differences: Sequence[int], flips: Flips) -> Fraction:
    """Return the two-sided p of differences whose sum is not negative, with the flips of at least those: twice the
    share of the sign patterns that take away at least what there is, at most 1. Where at most 16 differ, all patterns
    of these are tried.

    A pattern removes at least the whole sum exactly if its flips add up to 0 or less. So p never grows when a
    difference does, and is 1 where the sum is 0 or less.
    """
    differing = [difference for difference in differences if difference]
    if flips.size > 1 << MAX_EXACT and len(differing) <= MAX_EXACT:
        flips = flips_of(differing)
    return min(2 * flips.share, Fraction(1))


def _add(digits: list[int], amount: int, patterns: int) -> None:
    """Add an amount to the sums of some patterns."""
    for place in range(amount.bit_length()):
        carry, at = patterns if amount >> place & 1 else 0, place
        while carry:
            if at >= len(digits):
                digits.extend([0] * (at + 1 - len(digits)))
            digits[at], carry = digits[at] ^ carry, digits[at] & carry
            at += 1


def _at_most(first: Sequence[int], second: Sequence[int], size: int) -> int:
    """Return for how many patterns the first sum is not above the second one."""
    mask = every = (1 << size) - 1
    for place in range(max(len(first), len(second))):
        one = first[place] if place < len(first) else 0
        two = second[place] if place < len(second) else 0
        mask = (two & ~one) | (mask & (every ^ one ^ two))
    return mask.bit_count()


# ---- the interval ----


def lower_end(flips: Flips, unit: int, mean: Fraction, alpha: Fraction) -> float:
    """Return the smallest shift, from -1 on, that the test does not reject at a level: often enough the cases that a
    pattern flips have a mean of at most the shift. Sums are multiples of ``1 / unit``."""
    gained, lost = ([0] * DIGITS + counts for counts in (flips.gained, flips.lost))

    def stays(shift: int) -> bool:
        """Return whether a shift, in steps of ``2 ** -DIGITS``, is not rejected."""
        sides = [list(gained), list(lost)]
        for place, digit in enumerate(flips.cases):
            _add(sides[shift > 0], (abs(shift) * unit) << place, digit)
        return 2 * _at_most(sides[0], sides[1], flips.size) > alpha * flips.size

    low, high = -(1 << DIGITS), ceil(mean * (1 << DIGITS))
    if stays(low):
        return -1.0
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if stays(middle) else (middle, high)
    end = high / (1 << DIGITS)
    return round(end, 6) or end


# ---- how many cases ----


def enough_cases(differences: Sequence[int], alpha: Fraction) -> int | None:
    """Return the smallest number of cases, above the observed number, with which four of five suites give the
    indicated verdict if their cases differ like the observed ones; None above 500."""
    return _enough_cases(tuple(differences), alpha)


@lru_cache(maxsize=64)  # a suite that is looked at again asks the same
def _enough_cases(differences: tuple[int, ...], alpha: Fraction) -> int | None:
    if sum(differences) <= 0 or len(differences) >= MAX_CASES:
        return None
    draw = Random(SEED).choices  # noqa: S311
    suites = [draw(differences, k=MAX_CASES) for _ in range(RESAMPLED)]
    test = TestAtLevel(alpha)

    def enough(cases: int) -> bool:
        return sum(test.rejects(suite[:cases]) for suite in suites) >= POWER * RESAMPLED

    low, high = max(len(differences), MIN_CASES - 1), MAX_CASES
    if not enough(high):
        return None
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return high


class TestAtLevel:
    """The test at a level, for many suites: exact for few cases that differ, else by the normal distribution, which is
    near enough to recommend a number."""

    __test__ = False

    def __init__(self, alpha: Fraction) -> None:
        self.alpha = alpha
        self.square = NormalDist().inv_cdf(1 - float(alpha) / 2) ** 2
        self.known: dict[tuple[int, ...], bool] = {}

    def rejects(self, differences: Sequence[int]) -> bool:
        """Return whether the test rejects that differences have a mean of 0, in favour of a positive one."""
        total = sum(differences)
        if total <= 0:
            return False
        if len(differences) - differences.count(0) > MAX_EXACT:
            squares: int = sum(map(mul, differences, differences))
            return total * total >= self.square * squares
        key = tuple(sorted(filter(None, differences)))
        if key not in self.known:
            self.known[key] = p_value(key, flips_of(key)) <= self.alpha
        return self.known[key]
