"""The functions of the template language."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from prosa.template import funcs
from prosa.template.errors import FunctionError
from prosa.template.funcs import FUNCTIONS
from prosa.template.values import ABSENT
from tests.depth import examples


def call(name, *args):
    return FUNCTIONS[name].call(args, False)


def pipe(value, name, *args):
    return FUNCTIONS[name].call([*args, value], True)


def test_l26_every_function_is_there_under_its_name():
    """L26, X11: Go's functions but `and` and `or`, and those of programs."""
    go = "not eq ne lt le gt ge index slice len print println printf html js urlquery call"
    assert set(FUNCTIONS) == {*go.split(), "upper", "lower", "title", "default", "join", "split"}
    assert all(function.name == name for name, function in FUNCTIONS.items())
    assert all(f.max_args is None or f.min_args <= f.max_args for f in FUNCTIONS.values())


def test_l26_call_form_and_pipeline_form_agree():
    """L26, X14, LA22: the piped value is the subject."""
    assert call("join", ["a", "b"], ", ") == pipe(["a", "b"], "join", ", ") == "a, b"
    assert call("split", "a,b", ",") == pipe("a,b", "split", ",") == ["a", "b"]
    assert call("slice", [1, 2, 3], 0, 2) == pipe([1, 2, 3], "slice", 0, 2) == [1, 2]
    assert call("default", "N/A", "") == pipe("", "default", "N/A") == "N/A"
    assert call("title", "ada") == pipe("ada", "title") == "Ada"
    assert call("len", [1]) == pipe([1], "len") == 1


@pytest.mark.parametrize("value", [ABSENT, None, "", [], {}])
def test_x14_default_replaces_what_is_absent_or_empty(value):
    assert pipe(value, "default", "N/A") == "N/A"


@pytest.mark.parametrize("value", [0, False, 0.0, " ", [None], {"a": None}])
def test_lw5_default_keeps_zero_and_false(value):
    """X14, LW5."""
    assert pipe(value, "default", "N/A") is value


@pytest.mark.parametrize(
    ("items", "separator", "text"),
    [
        (["a", "b", "c"], ", ", "a, b, c"),
        (["a", "b"], "\n- ", "a\n- b"),
        ([1, 2.5, True, None, "x", [1], {"k": 2}], "|", '1|2.5|true|null|x|[1]|{"k":2}'),
        ([], ", ", ""),
        (["only"], ", ", "only"),
        (ABSENT, ", ", ""),
        (None, ", ", ""),
    ],
)
def test_lw5_join_turns_every_element_of_the_data_into_text(items, separator, text):
    """X12, X14, L26, LW5."""
    assert call("join", items, separator) == text
    assert pipe(items, "join", separator) == text


def test_x14_join_in_the_wrong_order_says_the_right_one():
    with pytest.raises(FunctionError, match=r"needs a list, found a string; write `join LIST"):
        call("join", ", ", ["a"])
    with pytest.raises(FunctionError, match="needs a list, found a map"):
        pipe({"a": 1}, "join", ", ")
    with pytest.raises(FunctionError, match="a string as separator, found an integer"):
        call("join", ["a"], 3)


@pytest.mark.parametrize(
    ("value", "separator", "parts"),
    [
        ("a,b,c", ",", ["a", "b", "c"]),
        ("abc", ",", ["abc"]),
        ("", ",", [""]),
        (",a,", ",", ["", "a", ""]),
        ("a--b", "--", ["a", "b"]),
        ("aé😀", "", ["a", "é", "😀"]),
        ("", "", []),
        (1.5, ".", ["1", "5"]),
        (ABSENT, ",", []),
        (None, ",", []),
    ],
)
def test_l26_split_gives_the_parts_of_a_text(value, separator, parts):
    assert call("split", value, separator) == parts
    assert pipe(value, "split", separator) == parts


def test_split_refuses_lists_and_too_many_parts():
    with pytest.raises(FunctionError, match="needs a string, found a list"):
        call("split", ["a"], ",")
    with pytest.raises(FunctionError, match="more than 1,000,000 parts"):
        call("split", "," * funcs.MAX_PARTS, ",")
    with pytest.raises(FunctionError, match="more than 1,000,000 parts"):
        call("split", "a" * (funcs.MAX_PARTS + 1), "")


@pytest.mark.parametrize(
    ("text", "titled"),
    [
        ("hello world", "Hello World"),
        ("iPhone 15 pro", "IPhone 15 Pro"),
        ("don't stop", "Don't Stop"),
        ("it’s ’tis", "It’s ’Tis"),
        ("'quoted' “too”", "'Quoted' “Too”"),
        ("rock 'n' roll", "Rock 'N' Roll"),
        ("well-known (fact)", "Well-Known (Fact)"),
        ("snake_case 3d", "Snake_case 3d"),
        ("élan österreich", "Élan Österreich"),
        ("e\u0301te\u0301 a\u00adb", "E\u0301te\u0301 A\u00adb"),
        ("ß ǆ", "ß ǅ"),
        ("HTML tag\nnext", "HTML Tag\nNext"),
        ("", ""),
    ],
)
def test_la24_title_raises_the_first_letter_of_each_word(text, titled):
    """X14, LA24: the rest is left; an apostrophe does not start a word."""
    assert call("title", text) == titled


@pytest.mark.parametrize(
    ("value", "upper", "lower"),
    [
        ("Hello", "HELLO", "hello"),
        ("Straße É", "STRAßE É", "straße é"),
        ("İ ΣΑΣ ᾳ", "İ ΣΑΣ ᾼ", "i σασ ᾳ"),
        (3, "3", "3"),
        (1e21, "1E+21", "1e+21"),
        (True, "TRUE", "true"),
        (["a", 1], '["A",1]', '["a",1]'),
        (ABSENT, "", ""),
        (None, "NULL", "null"),
    ],
)
def test_lw5_upper_and_lower_take_every_value(value, upper, lower):
    """X12, L26, LW5."""
    assert call("upper", value) == upper
    assert call("lower", value) == lower


@given(st.text())
@settings(max_examples=examples(100), deadline=None)
def test_l26_case_keeps_the_number_of_characters(text):
    assert len(call("upper", text)) == len(call("lower", text)) == len(call("title", text)) == len(text)


@pytest.mark.parametrize(
    ("value", "bounds", "part"),
    [
        ([1, 2, 3], [], [1, 2, 3]),
        ([1, 2, 3], [1], [2, 3]),
        ([1, 2, 3], [0, 5], [1, 2, 3]),
        ([1, 2, 3], [5], []),
        ([1, 2, 3], [5, 9], []),
        ([1, 2, 3], [1, 1], []),
        ([1, 2, 3], [0, 2, 3], [1, 2]),
        ([1, 2, 3], [0, 2**80], [1, 2, 3]),
        ("😀éa", [0, 2], "😀é"),
        ("abc", [1, 99], "bc"),
        ("", [0, 3], ""),
        (ABSENT, [0, 5], ABSENT),
        (None, [0, 5], ABSENT),
    ],
)
def test_la23_slice_counts_code_points_and_clamps_its_end(value, bounds, part):
    """X13, X14, LA23."""
    assert call("slice", value, *bounds) == part
    assert pipe(value, "slice", *bounds) == part


@pytest.mark.parametrize(
    ("value", "bounds", "message"),
    [
        ([1], [-1], "the negative bound -1"),
        ([1], [0, -1], "the negative bound -1"),
        ([1, 2], [2, 1], "the reversed range 2 to 1"),
        ("abc", [9, 5], "the reversed range 9 to 5"),
        ([1, 2], [0, 2, 1], "the reversed range 2 to 1"),
        ("abc", [0, 1, 2], "at most two bounds"),
        ([1], ["0"], "integers as bounds, found a string"),
        ([1], [1.0], "integers as bounds, found a number with a fraction"),
        ([1], [True], "integers as bounds, found a boolean"),
        ([1], [None], "integers as bounds, found null"),
        (3, [0], "a string or a list, found an integer"),
        ({}, [0], "a string or a list, found a map"),
    ],
)
def test_x14_a_range_that_makes_no_sense_is_an_error(value, bounds, message):
    with pytest.raises(FunctionError, match=message):
        call("slice", value, *bounds)
    with pytest.raises(FunctionError, match=message):
        pipe(value, "slice", *bounds)


@pytest.mark.parametrize(
    ("value", "size"), [("abc", 3), ("😀é", 2), ("", 0), ([1, [2]], 2), ({"a": 1}, 1), (ABSENT, 0), (None, 0)]
)
def test_x14_len_counts_code_points_elements_and_keys(value, size):
    assert call("len", value) == size


@pytest.mark.parametrize("value", [3, 1.5, True])
def test_x11_a_scalar_has_no_length(value):
    with pytest.raises(FunctionError, match="needs a string, a list or a map, found a"):
        call("len", value)


@pytest.mark.parametrize(
    ("args", "part"),
    [
        ([[1, 2, 3], 1], 2),
        ([{"a": {"b c": 7}}, "a", "b c"], 7),
        ([{"my-key": 1}, "my-key"], 1),
        ([[[1, 2], [3]], 1, 0], 3),
        ([[1]], [1]),
        ([{"a": 1}, "z"], ABSENT),
        ([{"a": 1}, "z", "y", 3], ABSENT),
        ([{"a": None}, "a"], None),
        ([{"a": None}, "a", "b"], ABSENT),
        ([ABSENT, 0], ABSENT),
        ([None, "a"], ABSENT),
        (["aé", 1], 233),
    ],
)
def test_x13_index_steps_into_lists_and_maps_and_past_what_is_absent(args, part):
    """X11, X13, LA25: a key of any form is reachable, a missing one is absent."""
    assert call("index", *args) is part or call("index", *args) == part


@pytest.mark.parametrize(
    ("args", "message"),
    [
        ([[1, 2], 2], "out of range of a list: found 2, expected 0 to 1"),
        ([[1, 2], -1], "found -1, expected 0 to 1"),
        ([[], 0], "found 0, expected nothing, it is empty"),
        ([[1], 2**90], "a number of more than 64 bits"),
        (["ab", 2], "out of range of a string: found 2, expected 0 to 1"),
        ([[1], "0"], "a list needs an integer, found a string"),
        ([[1], 0.0], "a list needs an integer, found a number with a fraction"),
        ([[1], True], "a list needs an integer, found a boolean"),
        ([[1], ABSENT], "a list needs an integer, found an absent value"),
        ([{"1": 1}, 1], "a map needs a string as key, found an integer"),
        ([{"a": 1}, None], "a map needs a string as key, found null"),
        ([3, 0], "needs a list, a map or a string, found an integer"),
        ([{"a": 3}, "a", "b"], "needs a list, a map or a string, found an integer"),
    ],
)
def test_x13_index_of_what_has_no_such_part_is_an_error(args, message):
    with pytest.raises(FunctionError, match=message):
        call("index", *args)


@pytest.mark.parametrize(
    ("name", "args", "text"),
    [
        ("html", ["<a href=\"x\">'&'\0</a>"], "&lt;a href=&#34;x&#34;&gt;&#39;&amp;&#39;\ufffd&lt;/a&gt;"),
        ("html", [["<"]], "[&#34;&lt;&#34;]"),
        ("html", [1, 2, "<"], "1 2&lt;"),
        ("html", [ABSENT], ""),
        ("js", ['it\'s "<b>" & a=b\\\n\x01'], 'it\\\'s \\"\\u003Cb\\u003E\\" \\u0026 a\\u003Db\\\\\\u000A\\u0001'),
        ("js", ["é😀\u2028\u00ad\x7f"], "é😀\\u2028\\u00AD\x7f"),
        ("urlquery", ["a b/c?d=é&~x_y-z.w"], "a+b%2Fc%3Fd%3D%C3%A9%26~x_y-z.w"),
        ("urlquery", [3], "3"),
        ("urlquery", [], ""),
    ],
)
def test_x11_escapers_write_what_go_writes(name, args, text):
    """X11, LA26: escaping happens where the author asks for it."""
    assert call(name, *args) == text


def test_x11_data_has_nothing_to_call():
    with pytest.raises(FunctionError, match="needs a function, found a string"):
        call("call", "os.system", "true")


@pytest.mark.parametrize("name", ["upper", "html", "js", "urlquery", "print", "title"])
def test_no_result_is_larger_than_the_largest_text(name):
    with pytest.raises(FunctionError, match="10,485,760 characters"):
        call(name, "<" * 10_485_761)


def test_join_with_a_long_separator_is_refused_before_it_is_built():
    with pytest.raises(FunctionError, match="10,485,760 characters"):
        call("join", [""] * 1_000_000, "x" * 1_000_000)


VALUES = st.recursive(
    st.none() | st.just(ABSENT) | st.booleans() | st.integers(-3, 300) | st.floats(-10, 10) | st.text(max_size=6),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=5,
)


@given(st.sampled_from(sorted(FUNCTIONS)), st.lists(VALUES, min_size=4, max_size=4), st.booleans(), st.integers(0, 4))
@settings(max_examples=examples(300), deadline=None)
def test_any_arguments_give_a_value_or_a_sentence(name, values, piped, count):
    function = FUNCTIONS[name]
    count = max(function.min_args, min(count, 4 if function.max_args is None else function.max_args))
    try:
        function.call(values[:count], piped and count > 0)
    except FunctionError as error:
        assert error.message
        assert len(error.message) < 200
