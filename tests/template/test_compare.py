"""Comparisons."""

from __future__ import annotations

from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from prosa.template.errors import FunctionError
from prosa.template.funcs import FUNCTIONS
from prosa.template.values import ABSENT
from tests.depth import examples

ORDERS = ("lt", "le", "gt", "ge")


def call(name, *args):
    return FUNCTIONS[name].call(args, False)


@pytest.mark.parametrize(
    ("first", "second", "same"),
    [
        (3, 3, True),
        (3, 4, False),
        (2**80, 2**80, True),
        (1.5, 1.5, True),
        ("a", "a", True),
        ("a", "b", False),
        (True, True, True),
        (True, False, False),
        (None, None, True),
        (ABSENT, ABSENT, True),
        (ABSENT, None, True),
        (ABSENT, "", False),
        (ABSENT, 0, False),
        (ABSENT, False, False),
        (None, "x", False),
        (None, [1], False),
        ({}, ABSENT, False),
    ],
)
def test_x11_equality_of_one_kind_and_of_nothing(first, second, same):
    """X11, X13: an absent value equals null and nothing else, and asking is no error."""
    assert call("eq", first, second) is same
    assert call("eq", second, first) is same
    assert call("ne", first, second) is (not same)


def test_x12_an_integer_of_the_data_equals_the_literal():
    assert call("eq", 3, 3) is True
    assert call("gt", 3, 2) is True


@pytest.mark.parametrize(
    ("first", "second"), [(1, 1.0), (1, "1"), (1, True), (0.0, "0"), ("true", True), ([1], 1), ({}, "a"), ([], False)]
)
def test_x11_different_kinds_are_incompatible(first, second):
    for name, (left, right) in product(("eq", "ne"), ((first, second), (second, first))):
        with pytest.raises(FunctionError, match=r"incompatible types for comparison: an? "):
            call(name, left, right)


def test_x11_the_message_about_integers_and_fractions_says_what_to_do():
    with pytest.raises(FunctionError, match=r"an integer and a number with a fraction; .* 3 or 3\.0"):
        call("eq", 3, 3.0)


@pytest.mark.parametrize(("first", "second"), [([], []), ([1], [1]), ({}, {}), ([], {})])
def test_x11_lists_and_maps_are_not_comparable(first, second):
    with pytest.raises(FunctionError, match="non-comparable types"):
        call("eq", first, second)


def test_x11_eq_compares_its_first_argument_with_every_other():
    assert call("eq", "b", "a", "b", "c") is True
    assert call("eq", "x", "a", "b") is False
    assert call("eq", 1, 1, "not reached") is True
    with pytest.raises(FunctionError, match="incompatible"):
        call("eq", 1, 2, "reached")
    assert FUNCTIONS["eq"].min_args == 2
    assert FUNCTIONS["eq"].max_args is None
    assert FUNCTIONS["ne"].max_args == 2


@pytest.mark.parametrize(
    ("first", "second"), [(1, 2), (-(2**70), 2**70), (1.5, 2.5), ("a", "b"), ("", "a"), ("Z", "a"), ("\uffff", "😀")]
)
def test_x11_numbers_and_strings_have_an_order(first, second):
    """X11: strings by their code points, which is the order of their UTF-8 bytes."""
    assert [call(name, first, second) for name in ORDERS] == [True, True, False, False]
    assert [call(name, second, first) for name in ORDERS] == [False, False, True, True]
    assert [call(name, first, first) for name in ORDERS] == [False, True, False, True]


@pytest.mark.parametrize(
    ("first", "second"),
    [(True, False), ([1], [2]), ({}, {}), (None, None), (ABSENT, ABSENT), (None, 1), (1, ABSENT), (1, 1.5), ("1", 1)],
)
def test_x11_what_has_no_order_is_an_error(first, second):
    for name in ORDERS:
        with pytest.raises(FunctionError, match=r"invalid type for comparison|incompatible types for comparison"):
            call(name, first, second)


@given(st.text(), st.text())
@settings(max_examples=examples(100), deadline=None)
def test_x11_strings_are_ordered_as_their_bytes(first, second):
    assert call("lt", first, second) is (
        first.encode("utf-8", "surrogatepass") < second.encode("utf-8", "surrogatepass")
    )
