"""X28: statistics name their method and interval, and are those of the textbooks."""

from __future__ import annotations

from itertools import combinations
from random import Random

import pytest
import scipy.stats
from hypothesis import given
from hypothesis import strategies as st

from prosa.evaluation import statistics
from prosa.evaluation.statistics import Counted, compare, mean_rate, pass_all, pass_any, wilson

counts = st.integers(1, 200).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n)))


@given(counts)
def test_x28_wilson_is_that_of_scipy(counted):
    passed, repeats = counted
    interval = wilson(passed, repeats)
    oracle = scipy.stats.binomtest(passed, repeats).proportion_ci(method="wilson")
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


def test_b7_the_bootstrap_over_cases_covers_the_truth_as_often_as_it_says(monkeypatch):
    """Cases that differ, five repeats each; the truth is the mean over all cases there could be. Fewer draws: what is
    tested is the method, not the noise of the draws."""
    monkeypatch.setattr(statistics, "DRAWS", 1_000)
    covered = 0
    for seed in range(1000):
        draw = Random(seed)
        hard = [draw.betavariate(4, 2) for _ in range(25)]
        rates = [sum(draw.random() < each for _ in range(5)) / 5 for each in hard]
        estimate = mean_rate(rates)
        covered += estimate.interval.low <= 4 / 6 <= estimate.interval.high
    assert 930 <= covered <= 970


def test_x28_the_bootstrap_is_near_that_of_scipy():
    rates = [each / 5 for each in (5, 4, 5, 3, 0, 5, 2, 4, 5, 5, 1, 4) * 5]
    mine = mean_rate(rates)
    oracle = scipy.stats.bootstrap((rates,), lambda x, axis: x.mean(axis=axis), method="percentile", n_resamples=10_000)
    low, high = oracle.confidence_interval
    assert (mine.interval.low, mine.interval.high) == pytest.approx((low, high), abs=0.012)
    assert mine.interval.method == "bootstrap"
    assert mean_rate(rates) == mine  # a fixed seed


@given(st.floats(0.6, 0.999), st.integers(1, 400))
def test_the_quantile_of_t_is_that_of_scipy(probability, freedom):
    mine = statistics._t_quantile(probability, freedom)
    assert mine == pytest.approx(scipy.stats.t.ppf(probability, freedom), rel=0.05 if freedom < 5 else 0.01)


@given(st.lists(st.floats(0, 1), min_size=1, max_size=30))
def test_x28_every_interval_holds_its_estimate_and_stays_in_range(rates):
    estimate = mean_rate(rates)
    low, high = estimate.interval.low, estimate.interval.high
    assert -1e-9 <= low <= estimate.value + 1e-9
    assert estimate.value - 1e-9 <= high <= 1 + 1e-9


def test_equal_rates_are_no_certainty():
    estimate = mean_rate([1.0] * 4)
    assert estimate.value == 1.0
    assert estimate.interval.low < 0.6
    assert estimate.interval.method == "wilson"


def test_many_cases_need_no_draws():
    assert mean_rate([0.0, 1.0] * 600).interval.method == "normal"


def test_x28_a_clear_difference_is_better_or_worse():
    good, bad = Counted(9, 10), Counted(2, 10)
    pairs = [(good, bad), (Counted(10, 10), bad), (Counted(8, 10), Counted(1, 10)), (good, Counted(3, 10)), (good, bad)]
    first, second = compare(pairs), compare([(b, a) for a, b in pairs])
    assert (first.verdict, second.verdict) == ("better", "worse")
    assert first.difference.value == pytest.approx(-second.difference.value)
    assert first.difference.interval.method == "bootstrap"


def test_x28_too_few_repeats_cannot_tell_and_say_how_many_would():
    pairs = [(Counted(2, 3), Counted(1, 3)), (Counted(3, 3), Counted(2, 3)), (Counted(1, 3), Counted(1, 3))]
    told = compare(pairs)
    assert told.verdict == "cannot tell"
    assert told.more is not None
    scaled = [(Counted(a.passed * 20, a.repeats * 20), Counted(b.passed * 20, b.repeats * 20)) for a, b in pairs]
    assert compare(scaled).more is None or compare(scaled).more <= 20 * told.more + 20


def test_x28_no_difference_cannot_be_told_by_repeats():
    assert compare([(Counted(4, 5), Counted(4, 5))] * 3).more is None


def test_a_single_case_is_compared_by_its_repeats():
    told = compare([(Counted(20, 20), Counted(2, 20))])
    assert told.verdict == "better"
    assert told.difference.interval.method == "newcombe"
    assert compare([(Counted(1, 1), Counted(0, 1))]).verdict == "cannot tell"


def test_x28_two_equal_sides_are_rarely_told_apart(monkeypatch):
    """The verdict is wrong for about one in twenty pairs of equal sides."""
    monkeypatch.setattr(statistics, "DRAWS", 400)
    told = 0
    for seed in range(400):
        draw = Random(seed)
        rates = [draw.betavariate(3, 2) for _ in range(20)]
        sides = [[Counted(sum(draw.random() < p for _ in range(4)), 4) for p in rates] for _ in range(2)]
        told += compare(list(zip(*sides, strict=True))).verdict != "cannot tell"
    assert told <= 36
