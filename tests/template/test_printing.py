"""Values as text."""

from __future__ import annotations

import json
import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from prosa.template.errors import MAX_RESULT, FunctionError
from prosa.template.funcs import FUNCTIONS
from prosa.template.printing import MAX_NESTING, json_text, print_text, println_text, value_text
from prosa.template.values import ABSENT, truth
from tests.depth import examples

DATA = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**53), 2**53)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("plain", "plain"),
        ("", ""),
        ("a\nb", "a\nb"),
        (None, "null"),
        (ABSENT, ""),
        (True, "true"),
        (False, "false"),
        (0, "0"),
        (-7, "-7"),
        (2**70, "1180591620717411303424"),
        ([], "[]"),
        ({}, "{}"),
        ([1, 2, 3], "[1,2,3]"),
        (["a", None, True, 1.5], '["a",null,true,1.5]'),
        ({"b": 1, "a": [{}]}, '{"b":1,"a":[{}]}'),
        ({"Ä": "ö & <b> \u2028"}, '{"Ä":"ö & <b> \u2028"}'),
        (['"\\\n\x01\x7f'], '["\\"\\\\\\n\\u0001\x7f"]'),
    ],
)
def test_x12_values_print_as_json_and_strings_as_themselves(value, text):
    """X12, X13, LA21: keys in the order given, non-ASCII literal, nothing HTML-escaped."""
    assert value_text(value) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (3.0, "3"),
        (-0.0, "-0"),
        (0.1, "0.1"),
        (-2.5, "-2.5"),
        (12345678.0, "12345678"),
        (1e6, "1000000"),
        (1e20, "100000000000000000000"),
        (1e21, "1e+21"),
        (-1.25e22, "-1.25e+22"),
        (1e-6, "0.000001"),
        (1e-7, "1e-7"),
        (1.5e-10, "1.5e-10"),
        (5e-324, "5e-324"),
        (1.7976931348623157e308, "1.7976931348623157e+308"),
    ],
)
def test_x12_floats_print_as_go_writes_json(value, text):
    assert value_text(value) == text
    assert value_text([value]) == f"[{text}]"


@given(DATA)
@settings(max_examples=examples(80), deadline=None)
def test_x12_printed_data_reads_back_as_the_same_data(value):
    assert json.loads(json_text(value), parse_int=float) == value


@pytest.mark.parametrize("value", [math.inf, -math.inf, math.nan])
def test_x12_an_infinite_number_has_no_text(value):
    with pytest.raises(FunctionError, match="no JSON form"):
        value_text([value])


@pytest.mark.parametrize("value", [object(), {1}, b"bytes", {1: "a"}, [{None: 1}]])
def test_what_is_not_data_is_refused(value):
    with pytest.raises(FunctionError, match=r"no JSON form|only strings are keys"):
        value_text(value)


def test_x12_an_integer_of_any_size_prints():
    assert value_text(10**5000) == "1" + "0" * 5000
    assert value_text([-(10**5000)]) == "[-1" + "0" * 5000 + "]"


def nested(depth):
    value = []
    for _ in range(depth - 1):
        value = [value]
    return value


def test_deep_nesting_prints_and_too_deep_nesting_is_refused():
    assert value_text(nested(MAX_NESTING)) == "[" * MAX_NESTING + "]" * MAX_NESTING
    with pytest.raises(FunctionError, match="1,000 levels"):
        value_text(nested(MAX_NESTING * 50))


def test_a_value_that_contains_itself_is_refused():
    value = {}
    value["again"] = value
    with pytest.raises(FunctionError, match="levels deep"):
        value_text(value)


def test_a_value_that_repeats_itself_stops_at_the_largest_text():
    value = ["x" * 1000]
    for _ in range(20):
        value = [value, value]
    with pytest.raises(FunctionError, match=f"{MAX_RESULT:,} characters"):
        value_text(value)


@pytest.mark.parametrize(
    ("values", "printed", "lined"),
    [
        ([], "", "\n"),
        (["a", "b"], "ab", "a b\n"),
        ([1, 2], "1 2", "1 2\n"),
        (["a", 1, 2.0, "b", None], "a1 2bnull", "a 1 2 b null\n"),
        ([[1], {"k": "v"}], '[1] {"k":"v"}', '[1] {"k":"v"}\n'),
        ([ABSENT, 1], " 1", " 1\n"),
    ],
)
def test_x12_print_and_println_use_the_form_of_values(values, printed, lined):
    """X12: Go's spaces, between operands that are no strings."""
    assert print_text(values) == printed
    assert println_text(values) == lined
    assert FUNCTIONS["print"].call(values, False) == print_text(values)
    assert FUNCTIONS["println"].call(values, True) == lined


def test_printing_one_long_text_often_is_refused_before_it_is_built():
    with pytest.raises(FunctionError, match="the result has more than"):
        print_text(["x" * 100_000] * 1_000_000)


@pytest.mark.parametrize("value", [None, ABSENT, False, 0, 0.0, "", [], {}])
def test_x13_absent_null_and_empty_are_false(value):
    assert not truth(value)
    assert FUNCTIONS["not"].call([value], False) is True


@pytest.mark.parametrize("value", [True, -1, 0.1, " ", [None], {"a": None}])
def test_x11_everything_else_is_true(value):
    assert truth(value)
    assert FUNCTIONS["not"].call([value], False) is False
