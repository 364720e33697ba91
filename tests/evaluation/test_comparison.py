"""X34: verdicts rest on cases, are wrong at most once in twenty times, and never gain from what was not measured."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from itertools import combinations, combinations_with_replacement, product
from math import ceil, comb, factorial, lcm, log2, prod
from random import Random
from unittest.mock import patch

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from prosa.evaluation import comparison
from prosa.evaluation.comparison import (
    ALPHA,
    MAX_CASES,
    MAX_EXACT,
    Comparison,
    Pair,
    compare,
    compare_together,
    enough_cases,
    flips_of,
    holm,
    p_value,
)
from prosa.evaluation.statistics import Counted
from tests.depth import DEEP, examples

GOOD, BAD = Counted(1, 1), Counted(0, 1)


def p_of(pairs: Sequence[Pair]) -> Fraction:
    """p alone, without an interval and a number of cases. Cases that do not differ are left out where all patterns of
    the others are tried: they take part in the drawing alone."""
    unit = lcm(*(side.repeats for pair in pairs for side in pair))
    whole = [one.passed * (unit // one.repeats) - two.passed * (unit // two.repeats) for one, two in pairs]
    whole = [-each for each in whole] if sum(whole) < 0 else whole
    differing = [each for each in whole if each]
    return p_value(whole, flips_of(differing if len(differing) <= MAX_EXACT else whole))


def by_hand(differences: Sequence[Fraction]) -> Fraction:
    """The definition: how many ways to flip signs give a sum at least as far from 0."""
    unit = prod({each.denominator for each in differences})
    sums = [0]
    for each in differences:
        sums = [total + sign * int(each * unit) for total in sums for sign in (1, -1)]
    return Fraction(sum(abs(total) >= abs(sums[0]) for total in sums), len(sums))


@pytest.fixture(autouse=True, scope="module")
def _few_suites_are_drawn():
    """How many cases would be enough is what takes time, and what one test is about."""
    with patch.object(comparison, "RESAMPLED", 20):
        yield


counted = st.integers(1, 4).flatmap(lambda n: st.builds(Counted, st.integers(0, n), st.just(n)))
pairs = st.lists(st.tuples(counted, counted), min_size=1, max_size=8)


@given(pairs)
@settings(max_examples=examples(200))
def test_x34_p_is_the_share_of_sign_flips_that_are_as_far_from_nothing(given_pairs):
    differences = [one.share - two.share for one, two in given_pairs]
    found = compare(given_pairs)
    assert found.p == float(by_hand(differences))
    assert found.difference.value == pytest.approx(float(sum(differences) / len(differences)))
    assert (found.cases, found.cases_differing) == (len(differences), sum(each != 0 for each in differences))
    assert (found.verdict in ("better", "worse")) is (by_hand(differences) <= ALPHA)


@given(st.lists(st.tuples(counted, counted), min_size=6, max_size=7))
@settings(max_examples=examples(75), deadline=None)
def test_x34_the_interval_holds_the_shifts_that_the_test_does_not_reject(given_pairs):
    differences = [one.share - two.share for one, two in given_pairs]
    interval = compare(given_pairs).difference.interval
    means = {sum(some) / size for size in range(1, 9) for some in combinations(differences, size)}
    kept = [each for each in means if by_hand([one - each for one in differences]) > ALPHA]
    assert interval is not None
    assert (interval.low, interval.high) == pytest.approx((float(min(kept)), float(max(kept))), abs=2e-6)


@given(st.lists(st.tuples(counted, counted), min_size=6, max_size=24), st.integers(1, 4))
@settings(max_examples=examples(125, share=20), deadline=None)
def test_x34_the_interval_never_contradicts_the_test(given_pairs, comparisons):
    for found in compare_together([given_pairs] * comparisons):
        interval = found.difference.interval
        assert interval is not None and found.p_adjusted is not None
        assert interval.low <= found.difference.value + 1e-6 and found.difference.value - 1e-6 <= interval.high
        assert (interval.low <= 0 <= interval.high) is (found.p_adjusted > 0.05)


def test_x34_below_six_cases_there_is_no_verdict_and_no_interval():
    for cases in range(1, 6):
        found = compare([(GOOD, BAD)] * cases)
        assert (found.verdict, found.difference.interval, found.enough_cases) == ("cannot tell", None, 6)
    assert compare([(GOOD, BAD)] * 6).verdict == "better"
    assert compare([(GOOD, BAD)] * 6).p == 2 / 64


@pytest.mark.parametrize(("comparisons", "needed"), [(1, 6), (2, 7), (4, 8), (8, 9)])
def test_x34_more_comparisons_need_more_cases_that_differ(comparisons: int, needed: int):
    assert needed == ceil(log2(40 * comparisons))
    others = [[(GOOD, GOOD)] * 10] * (comparisons - 1)
    first = [compare_together([[(GOOD, BAD)] * cases, *others])[0] for cases in (needed - 1, needed)]
    assert [each.verdict for each in first] == ["cannot tell", "better"]


@given(pairs)
@settings(max_examples=examples(125))
def test_x34_exchanged_sides_give_the_opposite(given_pairs):
    first, second = compare(given_pairs), compare([(two, one) for one, two in given_pairs])
    opposite = {"better": "worse", "worse": "better"}
    assert second.verdict == opposite.get(first.verdict, first.verdict)
    assert (first.p, first.difference.value) == (second.p, -second.difference.value)


def test_x34_repeats_are_no_evidence_of_their_own():
    """A model that always answers the same gives no more with ten repeats than with one."""
    for cases in (2, 5, 6, 9):
        once = compare([(GOOD, BAD)] * cases)
        often = compare([(Counted(10, 10), Counted(0, 10))] * cases)
        assert (once.p, once.verdict, once.enough_cases) == (often.p, often.verdict, often.enough_cases)


def test_x34_many_cases_are_drawn_from_the_same_seed():
    draw = Random(1)
    many = [(Counted(draw.randint(0, 3), 3), Counted(draw.randint(0, 3), 3)) for _ in range(40)]
    first, second = compare(many), compare(many)
    assert first == second
    assert first.p is not None and (first.p * 100_001 / 2) == pytest.approx(round(first.p * 100_001 / 2))
    whole = [int(3 * (one.share - two.share)) for one, two in many]
    sums = {0: 1}
    for each in whole:  # the exact distribution, which small whole numbers allow
        after: dict[int, int] = {}
        for total, ways in sums.items():
            for sign in (1, -1):
                after[total + sign * each] = after.get(total + sign * each, 0) + ways
        sums = after
    exact = sum(ways for total, ways in sums.items() if abs(total) >= abs(sum(whole))) / 2 ** len(whole)
    assert first.p == pytest.approx(exact, abs=0.006)


def test_x34_a_suite_of_thousands_is_compared_in_seconds():
    """Each case is added to all sums of patterns at once; a loop over patterns would take minutes."""
    found = compare([(Counted(2, 3), Counted(1, 3)), (Counted(1, 3), Counted(1, 3))] * 1_000)
    assert (found.verdict, found.cases_differing) == ("better", 1_000)


# ---- Holm ----


@given(st.lists(st.fractions(0, 1), min_size=1, max_size=5))
@settings(max_examples=examples(100))
def test_x34_holm_is_the_closed_test_of_bonferroni(values):
    """The adjusted value is the largest of all families that a value is in, each adjusted for its number."""
    for at, found in enumerate(holm(values)):
        families = (family for size in range(1, len(values) + 1) for family in combinations(range(len(values)), size))
        whole = (len(each) * min(values[one] for one in each) for each in families if at in each)
        assert found == min(max(whole), 1)


def test_x34_comparisons_of_one_subject_are_adjusted_together():
    strong, weak, none = [(GOOD, BAD)] * 9, [(GOOD, BAD)] * 6, [(GOOD, GOOD)] * 9
    first, second, third = compare_together([strong, weak, none])
    assert [first.p, second.p, third.p] == [2 / 512, 2 / 64, 1.0]
    assert [first.p_adjusted, second.p_adjusted, third.p_adjusted] == pytest.approx([6 / 512, 4 / 64, 1.0])
    assert [first.verdict, second.verdict, third.verdict] == ["better", "cannot tell", "cannot tell"]
    assert second.level == pytest.approx(1 - 0.05 / 2)
    assert second.enough_cases == 7


# ---- what was not measured ----


def completions(given_pairs: Sequence[Pair]) -> list[list[Pair]]:
    """Everything that the unmeasured attempts could have been."""
    options = []
    for sides in given_pairs:
        each = [[Counted(side.passed + more, side.planned) for more in range(side.unmeasured + 1)] for side in sides]
        options.append(list(product(*each)))
    return [list(each) for each in product(*options)]


holes = st.builds(Counted, st.sampled_from([0, 2]), st.just(2), st.sampled_from([0, 0, 0, 1]))
full = st.builds(Counted, st.just(2), st.just(2), st.sampled_from([0, 0, 0, 0, 1]))
empty = st.builds(Counted, st.just(0), st.just(2), st.sampled_from([0, 0, 0, 0, 1]))
wholly = st.just((Counted(0, 0, 2), Counted(0, 2)))
leaning = st.lists(st.one_of(st.tuples(full, empty), st.tuples(full, holes), wholly), min_size=6, max_size=9)


@given(st.lists(leaning, min_size=1, max_size=2))
@settings(max_examples=examples(300, share=20), deadline=None)
def test_x34_an_unmeasured_attempt_never_makes_a_better_verdict(several):
    """Whatever the attempts would have been that were not measured: what is said without them would be said with."""
    found = compare_together(several)
    for at, each in enumerate(found):
        if each.verdict not in ("better", "worse"):
            continue
        for other in range(len(several)):
            for whole in completions(several[other])[:64]:
                filled = [list(map(_filled, one)) for one in several]
                filled[other] = whole
                assert compare_together(filled)[at].verdict == each.verdict


def _filled(pair: Pair) -> Pair:
    """A pair in which nothing that was not measured passed."""
    first, second = (Counted(each.passed, each.planned) for each in pair)
    return first, second


@given(leaning)
@settings(max_examples=examples(300), deadline=None)
def test_x34_p_with_everything_against_it_is_no_smaller(given_pairs):
    found = compare(given_pairs)
    if found.p is not None:
        assert found.p_worst >= found.p_adjusted >= found.p


def test_x34_what_unmeasured_attempts_could_take_back_is_no_verdict():
    pairs = [(GOOD, BAD)] * 6 + [(Counted(1, 1, 1), Counted(0, 2))]
    assert compare([*pairs[:6], (Counted(2, 2), Counted(0, 2))]).verdict == "better"
    found = compare([(GOOD, BAD)] * 6 + [(GOOD, Counted(0, 0, 1))])
    assert (found.p, found.cases, found.verdict) == (2 / 64, 6, "better")  # at its worst it does not differ
    found = compare([(GOOD, BAD)] * 6 + [(Counted(0, 0, 1), BAD)])
    assert (found.p, found.cases, found.verdict) == (2 / 64, 6, "better")
    found = compare([(GOOD, BAD)] * 6 + [(BAD, Counted(0, 0, 1))])
    assert (found.p, found.p_worst, found.verdict) == (2 / 64, 16 / 128, "cannot tell")
    assert found.is_open and found.enough_cases is None
    assert found.measured == ((7, 7), (6, 7))


def test_x34_too_little_measured_is_no_verdict():
    eight = [(GOOD, BAD)] * 8
    assert compare([*eight, (GOOD, Counted(0, 0, 1)), (GOOD, Counted(0, 0, 1))]).verdict == "better"  # 8 of 10
    found = compare([*eight, *[(GOOD, Counted(0, 0, 1))] * 3])
    assert (found.verdict, found.p, found.p_adjusted, found.difference.interval) == ("not measured", None, None, None)
    assert found.measured == ((11, 11), (8, 11))
    nothing = compare([(GOOD, Counted(0, 0, 3))] * 3)
    assert (nothing.verdict, nothing.difference.value, nothing.cases) == ("not measured", None, 0)
    with pytest.raises(ValueError, match="nothing to compare"):
        compare([])


def test_x34_a_comparison_that_was_not_measured_still_counts():
    gone = [(GOOD, Counted(0, 0, 1))] * 8
    first, second = compare_together([[(GOOD, BAD)] * 6, gone])
    assert (first.verdict, first.p_adjusted, second.verdict) == ("cannot tell", 4 / 64, "not measured")


# ---- how many cases would be enough ----


@patch.object(comparison, "RESAMPLED", 500)
def test_x34_enough_cases_give_the_verdict_four_times_in_five():
    draw = Random(5)
    seen = [3, 3, 2, 1, 0, -1, 2, 0]
    enough = enough_cases(seen, ALPHA)
    assert enough is not None
    assert len(seen) < enough <= MAX_CASES
    told = 0
    for _ in range(400):
        suite = draw.choices(seen, k=enough)
        told += sum(suite) > 0 and p_value(suite, flips_of(suite)) <= ALPHA
    assert 0.72 <= told / 400 <= 0.92
    assert enough_cases(seen, ALPHA) == enough


def test_x34_no_number_of_cases_tells_what_does_not_differ():
    assert enough_cases([0] * 8, ALPHA) is None
    assert enough_cases([1, -1], ALPHA) is None
    assert enough_cases([1] * 21 + [-1] * 20 + [0] * 100, ALPHA) is None


# ---- three kinds of no effect ----


def wrong(pairs: Sequence[Pair]) -> bool:
    return p_of(pairs) <= ALPHA


@pytest.mark.parametrize("cases", range(2, 21))
def test_x34_two_deterministic_models_that_are_equally_good(cases: int):
    """By enumeration, for every share of cases that differ; repeats change nothing, as each gives the same again."""
    told = {
        (differing, better)
        for differing in range(cases + 1)
        for better in range(differing + 1)
        if wrong([(GOOD, BAD)] * better + [(BAD, GOOD)] * (differing - better) + [(GOOD, GOOD)] * (cases - differing))
    }
    for share in (0.1, 0.3, 0.5, 0.8, 1.0):
        chance = sum(
            comb(cases, differing) * share**differing * (1 - share) ** (cases - differing)
            * comb(differing, better) / 2**differing
            for differing, better in told
        )  # fmt: skip
        assert chance <= 0.05
    assert bool(told) is (cases >= 6)


def _differences(repeats: int, rate: float) -> dict[int, float]:
    """How likely each difference of passes of two equal sides is."""
    chances = [comb(repeats, at) * rate**at * (1 - rate) ** (repeats - at) for at in range(repeats + 1)]
    found: dict[int, float] = {}
    for one, two in product(range(repeats + 1), repeat=2):
        found[one - two] = found.get(one - two, 0) + chances[one] * chances[two]
    return found


@pytest.mark.parametrize(
    ("cases", "repeats"), [*product(range(2, 7), (1, 2, 3)), (7, 1), (7, 2), (8, 1), (8, 2), (10, 1), (14, 1), (20, 1)]
)
def test_x34_independent_repeats_of_equal_sides(cases: int, repeats: int):
    """By enumeration of all ways that the cases can come out, for an easy and for a hard suite."""
    chances = {rate: _differences(repeats, rate) for rate in (0.5, 0.8)}
    found = dict.fromkeys(chances, 0.0)
    for way in combinations_with_replacement(range(-repeats, repeats + 1), cases):
        if not wrong([(Counted(max(each, 0), repeats), Counted(max(-each, 0), repeats)) for each in way]):
            continue
        ways = factorial(cases) / prod(factorial(way.count(each)) for each in set(way))
        for rate, chance in chances.items():
            found[rate] += ways * prod(chance[each] for each in way)
    assert all(each <= 0.05 for each in found.values()), found


SIDES = Callable[[Random], tuple[float, float]]


def _often(cases: int, repeats: int, sides: SIDES, seeds: int = 200) -> int:
    """In how many suites there is a verdict whose cases have the rates that ``sides`` gives."""
    told = 0
    for seed in range(seeds):
        draw = Random(seed * 1_000 + cases * 11 + repeats)
        suite = []
        for _ in range(cases):
            rates = sides(draw)
            suite.append(tuple(Counted(sum(draw.random() < each for _ in range(repeats)), repeats) for each in rates))
        told += wrong(suite)
    return told


def _equal(draw: Random) -> tuple[float, float]:
    rate = draw.betavariate(3, 2)
    return rate, rate


def _cancelling(draw: Random) -> tuple[float, float]:
    """A skill that helps half of the cases as much as it harms the other half."""
    rate, effect = draw.uniform(0.3, 0.7), draw.choice((-0.3, 0.3))
    return rate + effect, rate - effect


GRID = [*product(range(2, 21), (1, 3, 10)), *product((6, 10, 16, 20), (2, 4, 5, 6, 7, 8, 9))]


@pytest.mark.parametrize("sides", [_equal, _cancelling])
def test_x34_simulated_suites_without_an_effect(sides: SIDES):
    """At most 18 of 200 for each of 2 to 20 cases and 1 to 10 repeats, and one in twenty of all."""
    grid = GRID if DEEP else GRID[::4]
    found = {at: _often(*at, sides) for at in grid}
    assert {at: told for at, told in found.items() if told > 18} == {}
    assert sum(found.values()) <= 0.05 * 200 * len(grid)


def _helpful(draw: Random) -> tuple[float, float]:
    rate = draw.uniform(0.1, 0.5)
    return rate + 0.45, rate


@pytest.mark.parametrize(
    ("cases", "repeats", "least"), [(6, 10, 165), (8, 3, 105), (8, 10, 190), (12, 3, 178), (20, 1, 145), (20, 3, 195)]
)
def test_x34_an_effect_is_found(cases: int, repeats: int, least: int):
    """The other side of caution: a skill that makes 45 of 100 requests succeed that did not."""
    assert _often(cases, repeats, _helpful) >= least


def test_x34_a_comparison_has_no_field_of_time():
    assert not {"seconds", "time"} & set(Comparison.__struct_fields__)
