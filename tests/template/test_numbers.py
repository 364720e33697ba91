"""Number literals and the text of floats."""

from __future__ import annotations

import struct

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from prosa.template.pipeline import parse_number
from prosa.template.printing import go_float
from tests.depth import examples

FLOATS = st.floats(allow_nan=False, allow_infinity=False)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("0", 0),
        ("42", 42),
        ("-7", -7),
        ("+7", 7),
        ("1_000", 1000),
        ("0x1F", 31),
        ("0X_ff", 255),
        ("-0x10", -16),
        ("0b101", 5),
        ("0o17", 15),
        ("017", 15),
        ("0_7", 7),
        ("00", 0),
        ("0x1e", 30),
        ("123456789012345678901234567890", 123456789012345678901234567890),
        ("'a'", 97),
        ("'é'", 233),
        ("'\\n'", 10),
        ("'\\''", 39),
        ("'\"'", 34),
        ("'\\\\'", 92),
        ("'\\x41'", 65),
        ("'\\101'", 65),
        ("'\\u00e9'", 233),
        ("'\\U0001F600'", 0x1F600),
    ],
)
def test_x11_integers_and_characters_are_integers(text, value):
    """X11, X12: of any size."""
    assert parse_number(text) == value
    assert type(parse_number(text)) is int


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("1.0", 1.0),
        ("-2.5", -2.5),
        (".5", 0.5),
        ("+.5", 0.5),
        ("5.", 5.0),
        ("1e3", 1000.0),
        ("1.5E-3", 0.0015),
        ("1_0.5e1_0", 105_000_000_000.0),
        ("08.5", 8.5),
        ("08e1", 80.0),
        ("0x1p4", 16.0),
        ("0x.8p1", 1.0),
        ("0X_1.8P-1", 0.75),
        ("1e-999", 0.0),
    ],
)
def test_x11_a_point_or_an_exponent_makes_a_float(text, value):
    assert parse_number(text) == value
    assert type(parse_number(text)) is float


@pytest.mark.parametrize(
    "text",
    [
        *("", "x", "-", ".", "1__0", "1_", "_1", "1_.5", "._5", "1e", "1e_5", "0x", "0b2", "0o8", "08", "0_8", "0x1.8"),
        *("--1", "1.2.3", "1 ", "1\n", "٣", "inf", "nan", "1e999", "0x1p99999", "1i", "1.5i", "1+2i"),
        *("'", "''", "'ab'", "'\\'", "'\\\"'", "'\\z'", "'\\ud800'", "'\\U00110000'", "'\\400'", "'\\x4'", "'a", "'''"),
        *("9" * 4301, "1" * 10_000_000, "'" + "a" * 100_000 + "'"),
    ],
    ids=lambda text: text[:12],
)
def test_x11_what_go_does_not_read_is_refused_in_a_sentence(text):
    with pytest.raises(ValueError, match=r"\w"):
        parse_number(text)


def test_an_imaginary_number_is_refused_by_name():
    with pytest.raises(ValueError, match="imaginary"):
        parse_number("2i")


@given(st.text("0123456789_.eExXbBoOpP+-'\\iafn", max_size=9))
@settings(max_examples=examples(200), deadline=None)
def test_any_text_is_a_number_or_a_value_error(text):
    try:
        assert isinstance(parse_number(text), int | float)
    except ValueError as error:
        assert str(error)


@given(st.integers())
@settings(max_examples=examples(50), deadline=None)
def test_x12_an_integer_reads_back(value):
    assert parse_number(str(value)) == value


@given(FLOATS, st.sampled_from("efgx"))
@settings(max_examples=examples(200), deadline=None)
def test_x12_the_shortest_text_of_a_float_reads_back(value, form):
    text = go_float(value, form, None)
    read = float.fromhex(text) if form == "x" else float(text)
    assert struct.pack("d", read) == struct.pack("d", value)


@pytest.mark.parametrize(
    ("value", "form", "precision", "text"),
    [
        (float("inf"), "g", None, "+Inf"),
        (float("-inf"), "f", 2, "-Inf"),
        (float("nan"), "e", None, "NaN"),
        (1e5, "g", None, "100000"),
        (1e6, "g", None, "1e+06"),
        (123456789.0, "g", None, "1.23456789e+08"),
        (1e21, "f", None, "1000000000000000000000"),
        (1.0, "e", None, "1e+00"),
        (2.5, "f", 0, "2"),
        (1e-5, "G", None, "1E-05"),
    ],
)
def test_x11_floats_in_the_forms_of_go(value, form, precision, text):
    assert go_float(value, form, precision) == text
