"""X28, X34: rates and intervals of repeats are those of the textbooks, and count what was measured."""

from __future__ import annotations

from itertools import combinations
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from prosa.evaluation.statistics import Counted, is_enough, mean_rate, pass_all, pass_any, wilson

counts = st.integers(1, 200).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n)))


@given(counts)
def test_x28_wilson_is_that_of_scipy(counted):
    passed, repeats = counted
    from scipy.stats import binomtest  # takes a second, and only this test needs it

    interval = wilson(passed, repeats)
    oracle = binomtest(passed, repeats).proportion_ci(method="wilson")
    assert (interval.low, interval.high) == pytest.approx((oracle.low, oracle.high), abs=1e-9)
    assert interval.method == "wilson"


@given(st.integers(1, 9).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n), st.integers(1, n))))
def test_x28_pass_rates_are_counts_of_draws(counted):
    passed, repeats, k = counted
    draws = list(combinations([True] * passed + [False] * (repeats - passed), k))
    assert pass_all(passed, repeats, k) == pytest.approx(sum(map(all, draws)) / len(draws))
    assert pass_any(passed, repeats, k) == pytest.approx(sum(map(any, draws)) / len(draws))


def test_x28_figures_of_the_plan():
    five, nine, many = wilson(5, 5), wilson(9, 10), wilson(48, 50)
    assert [round(five.low, 2), five.high] == [0.57, 1.0]
    assert [round(nine.low, 2), round(nine.high, 2), round(pass_all(9, 10, 3), 2)] == [0.60, 0.98, 0.70]
    assert [round(many.low, 2), round(many.high, 2), round(pass_all(48, 50, 3), 2)] == [0.87, 0.99, 0.88]


@pytest.mark.parametrize(("passed", "repeats", "k"), [(2, 1, 1), (1, 2, 3), (1, 2, 0), (-1, 2, 1)])
def test_a_rate_that_cannot_be_is_refused(passed, repeats, k):
    with pytest.raises(ValueError, match="no rate"):
        pass_all(passed, repeats, k)
    with pytest.raises(ValueError, match="no rate"):
        pass_any(passed, repeats, k)


def test_b7_wilson_covers_the_truth_as_often_as_it_says():
    """B7: a model that is right with p = 0.8, 50 repeats, 1,000 seeds."""
    covered = 0
    for seed in range(1000):
        draw = Random(seed)
        interval = wilson(sum(draw.random() < 0.8 for _ in range(50)), 50)
        covered += interval.low <= 0.8 <= interval.high
    assert 930 <= covered <= 970


@pytest.mark.parametrize("k", [1, 2])
def test_b7_the_interval_of_a_suite_covers_the_rate_of_its_cases(k: int):
    """B7: cases that differ, six repeats each; the truth is the mean over these cases. It may cover more often than it
    says, as cases that differ vary less together than equal ones do, and never less."""
    covered = 0
    for seed in range(1000):
        draw = Random(seed)
        hard = [draw.betavariate(4, 2) for _ in range(12)]
        rates = [pass_all(sum(draw.random() < each for _ in range(6)), 6, k) for each in hard]
        interval = mean_rate(rates, 6 // k).interval
        covered += interval.low <= sum(each**k for each in hard) / len(hard) <= interval.high
    assert covered >= 950


@given(st.lists(st.floats(0, 1), min_size=1, max_size=30), st.integers(1, 9))
def test_x28_every_interval_holds_its_estimate_and_stays_in_range(rates, answers):
    estimate = mean_rate(rates, answers)
    low, high = estimate.interval.low, estimate.interval.high
    assert -1e-9 <= low <= estimate.value + 1e-9
    assert estimate.value - 1e-9 <= high <= 1 + 1e-9


def test_equal_rates_are_no_certainty():
    estimate = mean_rate([1.0] * 4, 1)
    assert estimate.value == 1.0
    assert estimate.interval.low < 0.6
    assert estimate.interval.method == "wilson"
    with pytest.raises(ValueError, match="no rate of no cases"):
        mean_rate([], 1)


def test_x34_what_was_not_measured_is_in_no_rate():
    counted = Counted(2, 3, 1)
    assert (counted.rate, counted.planned) == (2 / 3, 4)
    assert (float(counted.worst), float(counted.best)) == (0.5, 0.75)
    assert Counted(0, 0, 3).rate == 0.0


@pytest.mark.parametrize(
    ("measured", "planned", "enough"), [(4, 5, True), (3, 4, False), (8, 10, True), (79, 100, False)]
)
def test_x34_four_of_five_have_to_be_measured(measured: int, planned: int, enough: bool):
    assert is_enough(measured, planned) is enough
