"""The split of cases, the level of a look, and what is accepted (X41)."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from prosa.evaluation.comparison import Comparison, Difference
from prosa.evaluation.improvement import is_accepted, looks_left, split_cases

NAMES = st.lists(st.text(max_size=6), unique=True, max_size=40)


@given(NAMES)
def test_x41_half_of_the_cases_are_held_out(names: list[str]):
    split = split_cases(names)
    assert len(split.held_out) == len(names) // 2
    assert sorted((*split.search, *split.held_out)) == sorted(names)


@given(NAMES, st.integers(0, 40))
def test_x41_the_split_does_not_depend_on_the_order(names: list[str], turn: int):
    turned = names[turn:] + names[:turn]
    assert set(split_cases(turned).held_out) == set(split_cases(names).held_out)


@given(NAMES, NAMES)
def test_x41_no_case_that_a_search_has_seen_is_held_out_later(names: list[str], more: list[str]):
    first = split_cases(names)
    before = dict.fromkeys(first.search, False) | dict.fromkeys(first.held_out, True)
    later = split_cases([*names, *(each for each in more if each not in before)], before)
    assert set(first.search) <= set(later.search)
    assert set(first.held_out) <= set(later.held_out)


@given(NAMES, st.text(max_size=6))
def test_x41_one_more_case_moves_one_at_most(names: list[str], new: str):
    before, after = set(split_cases(names).held_out), set(split_cases([*{*names, new}]).held_out)
    assert len(before - after) <= 1 and len(after - before) <= 1


@pytest.mark.parametrize(("held", "looks"), [(0, 0), (5, 0), (6, 1), (7, 3), (8, 6), (9, 12), (10, 25), (20, 26214)])
def test_x41_the_looks_that_could_accept_anything(held: int, looks: int):
    """The smallest p of the exact test is 2 / 2 ** cases, and the k-th look needs 0.05 / k."""
    assert looks_left(held, 0) == looks
    assert looks_left(held, looks) == looks_left(held, looks + 5) == 0
    if looks:
        assert Fraction(2, 2**held) * looks <= Fraction(1, 20) < Fraction(2, 2**held) * (looks + 1)


def compared(verdict: str, p: float | None, worst: float | None) -> Comparison:
    return Comparison(Difference(0.5), verdict, p, p, worst)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("verdict", "worst", "look", "accepted"),
    [
        ("better", 0.03125, 1, True),
        ("better", 0.03125, 2, False),
        ("better", 0.015625, 3, True),
        ("better", 0.015625, 4, False),
        ("worse", 0.001, 1, False),
        ("cannot tell", 0.2, 1, False),
        ("not measured", None, 1, False),
    ],
)
def test_x41_the_kth_look_needs_a_kth_of_the_level(verdict: str, worst: float | None, look: int, accepted: bool):
    assert is_accepted(compared(verdict, worst, worst), look) is accepted
    assert is_accepted(compared(verdict, 0.0001, worst), look) is accepted  # unmeasured attempts count against it
