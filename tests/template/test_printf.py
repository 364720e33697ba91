"""Go's ``printf`` over plain data. The expectations in the tables were printed by Go."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from prosa.template.errors import FunctionError
from prosa.template.funcs import FUNCTIONS
from prosa.template.printf import MAX_WIDTH, sprintf
from prosa.template.values import ABSENT
from tests.depth import examples
from tests.work import PART

INTEGERS = [
    ("%d", 42, "42"),
    ("%5d|", 42, "   42|"),
    ("%-5d|", 42, "42   |"),
    ("%05d", -42, "-0042"),
    ("%+d", 42, "+42"),
    ("% d", 42, " 42"),
    ("%.4d", -7, "-0007"),
    ("%8.4d", 7, "    0007"),
    ("%.0d|", 0, "|"),
    ("%3.0d|", 0, "   |"),
    ("%-05d|", 3, "3    |"),
    ("%b", 5, "101"),
    ("%#b", -5, "-0b101"),
    ("%o", 64, "100"),
    ("%#o", 64, "0100"),
    ("%O", 64, "0o100"),
    ("%x", -255, "-ff"),
    ("%X", 255, "FF"),
    ("%#x", 255, "0xff"),
    ("%#X", 255, "0XFF"),
    ("%#08x", 255, "0x000000ff"),
    ("%c", 233, "é"),
    ("%3c|", 65, "  A|"),
    ("%c", 0xD800, "\ufffd"),
    ("%q", 65, "'A'"),
    ("%q", 39, "'\\''"),
    ("%q", 10, "'\\n'"),
    ("%+q", 233, "'\\u00e9'"),
    ("%U", 233, "U+00E9"),
    ("%#U", 233, "U+00E9 'é'"),
    ("%.6U", 233, "U+0000E9"),
    ("%U", -1, "U+FFFFFFFFFFFFFFFF"),
    ("%d", 2**80, str(2**80)),
    ("%x", 2**80, "1" + "0" * 20),
]

FLOATS = [
    ("%f", 2.5, "2.500000"),
    ("%.2f", 2.675, "2.67"),
    ("%.0f", 2.5, "2"),
    ("%8.2f|", 3.14159, "    3.14|"),
    ("%-8.2f|", 3.14159, "3.14    |"),
    ("%08.2f", -3.14159, "-0003.14"),
    ("%+.1f", 1.0, "+1.0"),
    ("%F", 1.5, "1.500000"),
    ("%e", 123456.789, "1.234568e+05"),
    ("%.3E", 0.000123, "1.230E-04"),
    ("%g", 1e6, "1e+06"),
    ("%g", 100000.0, "100000"),
    ("%g", 0.0001, "0.0001"),
    ("%g", 0.00001, "1e-05"),
    ("%.3g", 1234.5678, "1.23e+03"),
    ("%G", 1e21, "1E+21"),
    ("%#g", 1.0, "1.00000"),
    ("%#.3g", 1.0, "1.00"),
    ("%#.0f", 2.0, "2."),
    ("%b", 1.0, "4503599627370496p-52"),
    ("%x", 1.0, "0x1p+00"),
    ("%x", 0.1, "0x1.999999999999ap-04"),
    ("%.3X", 100.0, "0X1.900P+06"),
    ("%x", 5e-324, "0x1p-1074"),
    ("%.1x", 1.99, "0x1.0p+01"),
    ("%f", -0.0, "-0.000000"),
]

STRINGS = [
    ("%s", "hi", "hi"),
    ("%5s|", "hi", "   hi|"),
    ("%-5s|", "hi", "hi   |"),
    ("%05s", "hi", "000hi"),
    ("%.2s", "éèê", "éè"),
    ("%6.2s|", "éèê", "    éè|"),
    ("%q", 'a"b\\\n\té\x00\u2028', '"a\\"b\\\\\\n\\té\\x00\\u2028"'),
    ("%+q", "é😀", '"\\u00e9\\U0001f600"'),
    ("%#q", "a\tb", "`a\tb`"),
    ("%#q", "a`b", '"a`b"'),
    ("%x", "hé", "68c3a9"),
    ("%X", "hi", "6869"),
    ("% x", "hi", "68 69"),
    ("%# x", "hi", "0x68 0x69"),
    ("%#x", "hi", "0x6869"),
    ("%.1x", "hi", "68"),
    ("%#x|", "", "|"),
]

OTHERS = [
    ("%t", True, "true"),
    ("%6t|", False, " false|"),
    ("%T", "a", "string"),
    ("%T", 1, "int"),
    ("%T", 1.0, "float64"),
    ("%T", False, "bool"),
    ("%T", [1], "[]interface {}"),
    ("%T", {}, "map[string]interface {}"),
    ("%T", None, "<nil>"),
    ("%T", ABSENT, "<nil>"),
    ("%d", [1, [2, 3]], "[1 [2 3]]"),
    ("%03d", [1, 2], "[001 002]"),
    ("%s", ["a", 1, None], "[a %!s(int=1) <nil>]"),
    ("%q", ["a", "b"], '["a" "b"]'),
    ("%x", {"b": "z", "a": "y"}, "map[61:79 62:7a]"),
    ("%s", {"b": "z", "a": [True]}, "map[a:[%!s(bool=true)] b:z]"),
    ("%d", [], "[]"),
]

ERRORS = [
    ("%d", ["hi"], "%!d(string=hi)"),
    ("%s", [3], "%!s(int=3)"),
    ("%5d", ["hi"], "%!d(string=   hi)"),
    ("%z", [3], "%!z(int=3)"),
    ("%p", [3], "%!p(int=3)"),
    ("%w", ["x"], "%!w(string=x)"),
    ("%d", [None], "%!d(<nil>)"),
    ("%s", [ABSENT], "%!s(<nil>)"),
    ("%t", [1], "%!t(int=1)"),
    ("%d %d", [1], "1 %!d(MISSING)"),
    ("%d", [1, "a", None], "1%!(EXTRA string=a, <nil>)"),
    ("plain", [], "plain"),
    ("100%", [], "100%!(NOVERB)"),
    ("%5", [1], "%!(NOVERB)%!(EXTRA int=1)"),
    ("%!", [], "%!!(MISSING)"),
    ("%%", [], "%"),
    ("%5%|", [], "%|"),
    ("%é", [1], "%!é(int=1)"),
    ("%.", [1], "%!.(int=1)"),
]

INDEXES = [
    ("%[2]d %[1]d", [1, 2], "2 1"),
    ("%[1]d %[1]d", [7], "7 7"),
    ("%[2]d", [1, 2], "2"),
    ("%[2]*[1]d|", [7, 4], "   7|"),
    ("%[3]*.[2]*[1]f|", [12.0, 2, 6], " 12.00|"),
    ("%[5]d", [1], "%!d(BADINDEX)"),
    ("%[0]d", [1], "%!d(BADINDEX)"),
    ("%[x]d", [1], "%!d(BADINDEX)"),
    ("%[]d", [1], "%!d(BADINDEX)"),
    ("%[", [1], "%!(NOVERB)"),
    ("%[]", [1], "%!](BADINDEX)"),
    ("%[1]3d", [1], "%!d(BADINDEX)"),
    ("%[1].2d", [1], "%!d(BADINDEX)"),
    ("%[99999999999999999999]d", [1], "%!d(BADINDEX)"),
    ("%*d|", [5, 42], "   42|"),
    ("%-*d|", [5, 42], "42   |"),
    ("%*d|", [-5, 42], "42   |"),
    ("%.*f", [2, 3.14159], "3.14"),
    ("%*d", ["x", 42], "%!(BADWIDTH)42"),
    ("%.*d", [-1, 42], "%!(BADPREC)42"),
    ("%.*d", [True, 42], "%!(BADPREC)42"),
    ("%*d", [], "%!(BADWIDTH)%!d(MISSING)"),
]


@pytest.mark.parametrize(("form", "value", "text"), [*INTEGERS, *FLOATS, *STRINGS, *OTHERS])
def test_x12_the_other_verbs_are_those_of_go(form, value, text):
    """X11, X12."""
    assert sprintf(form, [value]) == text


@pytest.mark.parametrize(("form", "args", "text"), [*ERRORS, *INDEXES])
def test_x11_a_format_that_does_not_fit_prints_the_error_texts_of_go(form, args, text):
    assert sprintf(form, args) == text


@pytest.mark.parametrize(
    ("form", "value", "text"),
    [
        ("%v", [1, "a", None], '[1,"a",null]'),
        ("%v", {"b": 1, "a": 2.0}, '{"b":1,"a":2}'),
        ("%v", 1e6, "1000000"),
        ("%v", 1e21, "1e+21"),
        ("%v", None, "null"),
        ("%v", ABSENT, ""),
        ("%v", "hi", "hi"),
        ("%+v", {"a": 1}, '{"a":1}'),
        ("%#v", 'a"b', '"a\\"b"'),
        ("%#v", [1, "a"], '[1,"a"]'),
        ("%6v|", [1], "   [1]|"),
        ("%-6v|", None, "null  |"),
        ("%05v", 42, "00042"),
        ("%6v|", 2.0, "     2|"),
        ("%.2v", "hello", "he"),
        ("%.2v", 3.14159, "3.1"),
        ("%+v", 3, "3"),
        ("%d", [[1.5]], "[[%!d(float64=1.5)]]"),
    ],
)
def test_x12_percent_v_is_the_form_in_which_values_print(form, value, text):
    """X12, X13, LA21."""
    assert sprintf(form, [value]) == text


@pytest.mark.parametrize("number", [MAX_WIDTH + 1, 999_999, 2**70])
def test_a_wide_field_is_refused(number):
    for form, args in ((f"%{number}d", [1]), (f"%.{number}f", [1.0]), ("%*d", [number, 1]), ("%.*d", [number, 1])):
        with pytest.raises(FunctionError, match="at most 10,000"):
            sprintf(form, args)


def test_the_widest_field_is_written():
    assert sprintf(f"%{MAX_WIDTH}d", [1]) == " " * (MAX_WIDTH - 1) + "1"
    assert len(sprintf(f"%.{MAX_WIDTH}f", [0.1])) == MAX_WIDTH + 2


def test_many_wide_fields_are_refused_before_they_fill_the_memory():
    with pytest.raises(FunctionError, match="the result has more than"):
        sprintf("%9999[1]d" * 100_000, [1])


def test_x12_printf_takes_its_format_first_and_a_piped_value_last():
    call = FUNCTIONS["printf"].call
    assert call(["%s is %d", "Ada", 36], True) == "Ada is 36"
    with pytest.raises(FunctionError, match="a string as format, found an integer"):
        call([36, "%d"], True)


PIECES = st.sampled_from("%#0+- [].*123456789dvqxXscUtTeEfgGbopOéz!")


@given(
    st.lists(PIECES, max_size=25).map("".join),
    st.lists(
        st.none() | st.just(ABSENT) | st.booleans() | st.integers(-9, 9999) | st.floats(allow_nan=False) | st.text(),
        max_size=4,
    ),
)
@settings(max_examples=examples(200), deadline=None)
def test_any_format_gives_text_or_a_sentence(form, args):
    try:
        assert isinstance(sprintf(form, args), str)
    except FunctionError as error:
        assert error.message


def test_a_hostile_format_takes_time_in_proportion_to_its_length():
    count = 200_000 // PART
    assert sprintf("%[d" * count, [1]) == "%!d(BADINDEX)" * count
    assert sprintf("%" + "0" * count + "d", [1]) == "1"
    assert sprintf("%[" + "1" * count + "]d", [1]) == "%!d(BADINDEX)"
