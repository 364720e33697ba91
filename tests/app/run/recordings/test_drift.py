"""Where two requests differ first (X27)."""

from __future__ import annotations

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from prosa.data import parse_pointer
from prosa.records.replay import first_difference, marked
from tests.depth import examples

values = st.recursive(
    st.none() | st.booleans() | st.integers(0, 3) | st.sampled_from(("", "a", "ab", "~/")),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(("a", "b/c", "~", "")), inner, max_size=3)
    ),
    max_leaves=8,
)


def same(one: Any, other: Any) -> bool:
    """Whether two values of JSON are one: true is not 1."""
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(same(one[key], other[key]) for key in one)
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(same, one, other))
    return type(one) is type(other) and bool(one == other)


def at(value: Any, pointer: str) -> Any:
    """What a pointer leads to; None where there is nothing."""
    for step in parse_pointer(pointer):
        if isinstance(value, dict):
            value = value.get(step)
        elif isinstance(value, list):
            value = value[int(step)] if int(step) < len(value) else None
    return value


@settings(max_examples=examples(300), deadline=None)
@given(values, values)
def test_x27_two_values_differ_where_the_pointer_says(one: Any, other: Any) -> None:
    found = first_difference(one, other)
    assert (found is None) == same(one, other)
    if found is not None:
        assert same(at(one, found.pointer), found.recorded) and same(at(other, found.pointer), found.now)
        assert found.recorded_line != found.now_line


def test_x27_nothing_is_another_thing_than_null() -> None:
    found = first_difference({"a": None}, {})
    assert found is not None and found.words == "/a: recorded null, now nothing"


def test_x27_order_of_keys_does_not_count_and_that_of_lists_does() -> None:
    assert first_difference({"a": 1, "b": 2}, {"b": 2, "a": 1}) is None
    found = first_difference([1, 2], [2, 1])
    assert found is not None and found.words == "/0: recorded 1, now 2"


def test_x27_a_secret_that_was_taken_out_is_no_difference() -> None:
    recorded = {"text": f"key {marked('k-1')} and {marked('k-22')}."}
    assert first_difference(recorded, {"text": "key k-1 and k-22."}) is None
    assert first_difference(recorded, {"text": "key k-2 and k-22."}) is not None
