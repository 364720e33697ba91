"""JSON: what is read, what is refused and where, and that both readers agree (L12)."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from prosa.data import JsonError, Value, parse_json, read_json, read_yaml, to_value
from prosa.data.json import read_exactly
from prosa.data.json_plain import read_plain_json
from prosa.data.limits import MAX_DEPTH, MAX_PROBLEMS
from tests.depth import examples
from tests.work import PART, is_quick


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("null", None),
        (" [ ] ", []),
        ("{}", {}),
        ('{"a":{"b":[1,true,false,null,"x"]}}', {"a": {"b": [1, True, False, None, "x"]}}),
        ("123456789012345678901234567890", 123456789012345678901234567890),
        ("9" * 4300, 10**4300 - 1),
        ("-0", 0),
        ("-0.0", -0.0),
        ("0.1234567890123456789", 0.12345678901234568),
        ("1E+2", 100.0),
        ("1e-999", 0.0),
        (r'"\u0041\n\/\ud83d\ude00"', "A\n/😀"),
        ('"\u2028\x7f"', "\u2028\x7f"),
        ("\ufeff[1]", [1]),
        ('\r\n\t {"":""}', {"": ""}),
        ("[" * MAX_DEPTH + "]" * MAX_DEPTH, None),
    ],
)
def test_json_is_read(text: str, value: Value) -> None:
    reading = read_json(text)
    assert not reading.problems
    assert reading.node is not None
    found = parse_json(text)
    if value is not None or text == "null":
        assert (found, type(found)) == (value, type(value))
    assert to_value(reading.node) == found


@pytest.mark.parametrize(
    ("text", "rule", "place", "words"),
    [
        ("", "json-syntax", "", "found the end of the text, expected a JSON value"),
        ("  \n", "json-syntax", "", "found the end of the text"),
        ('{"a":1,}', "json-syntax", ",", "a comma before `}`"),
        ("[1,]", "json-syntax", ",", "a comma before `]`"),
        ("[1 2]", "json-syntax", "2", "found `2`, expected `,` or `]`"),
        ("[,1]", "json-syntax", ",", "found `,`, expected a JSON value or `]`"),
        ('{"a" 1}', "json-syntax", "1", "expected `:` after a key"),
        ("{a:1}", "json-syntax", "a", "expected a key in double quotes or `}`"),
        ("{'a':1}", "json-syntax", "'", "expected a key in double quotes or `}`"),
        ('{"a":1 "b":2}', "json-syntax", '"', 'found `"`, expected `,` or `}`'),
        ('{"a":', "json-syntax", "", "found the end of the text, expected a JSON value"),
        ("[1", "json-syntax", "", "expected `,` or `]`"),
        ("[1}", "json-syntax", "}", "found `}`, expected `,` or `]`"),
        ("1 x", "json-syntax", "x", "expected the end of the text"),
        ("{} // c", "json-syntax", "/", "expected the end of the text"),
        ('"abc', "json-syntax", '"', "not closed"),
        ('"a\nb"', "json-syntax", '"', "not closed"),
        ('"a\tb"', "json-syntax", "\t", "control character U+0009"),
        (r'"\q"', "json-syntax", r"\q", "expected a JSON escape"),
        (r'"\u12g4"', "json-syntax", r"\u", "expected a JSON escape"),
        ("01", "json-syntax", "01", "found `01`"),
        ("1.", "json-syntax", "1.", "found `1.`"),
        (".5", "json-syntax", ".5", "found `.5`"),
        ("+1", "json-syntax", "+1", "found `+1`"),
        ("-", "json-syntax", "-", "found `-`"),
        ("0x1F", "json-syntax", "0x1F", "found `0x1F`"),
        ("1_000", "json-syntax", "1_000", "found `1_000`"),
        ("True", "json-syntax", "True", "found `True`"),
        ("nul", "json-syntax", "nul", "found `nul`"),
        ("NaN", "json-number", "NaN", "`NaN` is not a JSON number"),
        ("[-Infinity]", "json-number", "-Infinity", "not a JSON number"),
        ('{"a":1e999}', "json-number", "1e999", "larger than any number"),
        ("-1e999", "json-number", "-1e999", "larger than any number"),
        ("9" * 4301, "json-number", "9" * 4301, "4,300 digits"),
        ("-" + "9" * 4301, "json-number", "-" + "9" * 4301, "4,300 digits"),
        ('{"a":1,"b":2,"a":3}', "duplicate-key", '"a"', "duplicate key `a`"),
        (r'{"a":1,"\u0061":3}', "duplicate-key", r'"\u0061"', "duplicate key `a`"),
        (r'["x\ud800y"]', "lone-surrogate", r"\ud800", "half of a surrogate pair"),
        (r'"\udc00\ud83d"', "lone-surrogate", r"\udc00", "half of a surrogate pair"),
        (r'{"\ud83d":1}', "lone-surrogate", r"\ud83d", "half of a surrogate pair"),
        ("[" * 65 + "]" * 65, "nested-too-deep", "[", "64 levels"),
        ("[" * 100_000 + "]" * 100_000, "nested-too-deep", "[", "64 levels"),
        ('{"a":' * 100_000, "nested-too-deep", "{", "64 levels"),
    ],
)
def test_json_is_refused_at_its_place(text: str, rule: str, place: str, words: str) -> None:
    problem = read_json(text).problems[0]
    assert (problem.rule, problem.span.of(text)) == (rule, place)
    assert words in problem.message
    with pytest.raises(JsonError) as caught:
        parse_json(text)
    assert caught.value.message == problem.message
    assert caught.value.offset == problem.span.start


def test_an_error_knows_line_and_column() -> None:
    with pytest.raises(JsonError) as caught:
        parse_json('{"é": "b",\r\n "c": 😀}')
    error = caught.value
    assert (error.line, error.column, error.offset) == (2, 7, 18)
    assert str(error) == f"line 2, column 7: {error.message}"


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ('{"a":1, "b": [2, 3', {"a": 1, "b": [2, 3]}),
        ('{"a":1,"a":2,"b":3}', {"a": 1, "b": 3}),
        ('{"a":NaN,"b":2}', {"a": None, "b": 2}),
        ('{"a":{"b":1,', {"a": {"b": 1}}),
        ('{"a"', {}),
        ('["x\\ud800"]', ["x\ufffd"]),
        ("nope", None),
    ],
)
def test_what_was_understood_is_kept(text: str, value: Value) -> None:
    reading = read_json(text)
    assert reading.problems
    assert (None if reading.node is None else to_value(reading.node)) == value


PIECES = [
    "{",
    "}",
    "[",
    "]",
    ":",
    ",",
    '"',
    "a",
    '"a"',
    "1",
    "-",
    "0",
    ".5",
    "e9",
    "999",
    "true",
    "null",
    "NaN",
    " ",
    "\n",
]
PIECES += ["\\", "\\u", "d83d", "\\ud83d", "\\ude00", "\ud800", "\ufeff", "é", "\x7f", "\x00", "٣", "_"]


def outcome(text: str) -> Any:
    try:
        return ["value", json.dumps(parse_json(text))]
    except JsonError as error:
        return ["refused", error.message]


@given(st.lists(st.sampled_from(PIECES), max_size=14).map("".join))
@settings(max_examples=examples(300), deadline=None)
@example('{"a":1,"a":1}')
@example('["\ud800"]')
@example("\ufeff\ufeff1")
def test_both_readers_agree(text: str) -> None:
    reading = read_json(text)
    if reading.problems:
        assert outcome(text) == ["refused", reading.problems[0].message]
    else:
        assert reading.node is not None
        assert outcome(text) == ["value", json.dumps(to_value(reading.node))]
        assert json.dumps(json.loads(text.removeprefix("\ufeff"))) == outcome(text)[1]


VALUES = st.recursive(
    st.none() | st.booleans() | st.text(max_size=3) | st.integers() | st.floats(allow_nan=False, allow_infinity=False),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text("ab\u00e9", max_size=2), inner, max_size=3),
    max_leaves=8,
)


@given(VALUES, st.sampled_from([None, 0, 2, "\r\n\t"]), st.integers(0, 80), st.sampled_from(PIECES), st.integers(0, 2))
@settings(max_examples=examples(300), deadline=None)
@example([[1, 2.5, -0.0, True], {}], None, 90, "", 0)
@example({"a": {"a": [], "b": "x"}}, 2, 90, "", 0)
def test_what_is_read_by_members_is_read_exactly(
    value: Any, indent: int | str | None, place: int, piece: str, taken: int
) -> None:
    text = json.dumps(value, ensure_ascii=False, indent=indent)
    text = text[:place] + piece + text[place + taken :]
    quick, exact = read_plain_json(text, 7), read_exactly(text, 7)
    assert quick is None or (repr(quick), exact.problems) == (repr(exact.node), ())


@pytest.mark.parametrize(
    "text",
    [
        '{"a": "b", "c": ["d", 1, -2.50, true, null, []], "e": {}}',
        '\ufeff [\r\n\t{"a":"\u00e9"} ]\n',
        "[" * MAX_DEPTH + "]" * MAX_DEPTH,
    ],
)
def test_usual_json_is_read_by_members(text: str) -> None:
    assert repr(read_plain_json(text, 3)) == repr(read_exactly(text, 3).node)


@pytest.mark.parametrize(
    "text",
    [
        *("", "1", "[1,]", "[1 2]", "[1e5]", "[01]", "[}", "[1}", "[]x", "[,1]", '{"a"}', '{"a":}', '["\\n"]'),
        *('{"a":1,"a":1}', '["\ud800"]', "[1\u0663]", "\ufeff\ufeff[]", "[" * (MAX_DEPTH + 1)),
    ],
)
def test_other_json_is_left_to_the_exact_reader(text: str) -> None:
    assert read_plain_json(text, 0) is None


@given(
    st.recursive(
        st.none() | st.text(max_size=3) | st.integers() | st.floats(allow_nan=False, allow_infinity=False),
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=2), inner, max_size=3),
        max_leaves=8,
    ),
    st.integers(0, 60),
    st.sampled_from(PIECES),
)
@settings(max_examples=examples(150), deadline=None)
def test_both_readers_agree_on_damaged_json(value: Any, place: int, piece: str) -> None:
    text = json.dumps(value, ensure_ascii=place % 2 == 0)
    damaged = text[:place] + piece + text[place + 1 :]
    reading = read_json(damaged)
    expected = ["refused", reading.problems[0].message] if reading.problems else None
    assert outcome(damaged) == (expected or ["value", json.dumps(to_value(reading.node))])  # type: ignore[arg-type]
    assert outcome(text)[0] == "value"


HOSTILE = {
    "brackets": "[" * (300_000 // PART),
    "objects": '{"a":' * (60_000 // PART),
    "quotes": '"' * (300_001 // PART),
    "backslashes": '"' + "\\" * (300_001 // PART),
    "digits": "1" * (300_000 // PART),
    "minus": "-" * (300_000 // PART),
    "spaces": " " * (300_000 // PART),
    "duplicates": "{" + '"a":1,' * (40_000 // PART) + '"b":1}',
    "not numbers": "[" + "NaN," * (40_000 // PART) + "1]",
    "lone surrogates": "[" + '"\\ud83d",' * (20_000 // PART) + "1]",
    "surrogates": '"' + "\\ud83d" * (50_000 // PART) + '"',
}


@pytest.mark.parametrize("name", HOSTILE)
def test_x9_hostile_json_is_read_in_linear_time(name: str) -> None:
    found: list[int] = []
    assert is_quick(lambda: found.append(len(read_json(HOSTILE[name]).problems)), 3 / PART)
    assert 1 <= found[0] <= MAX_PROBLEMS
    with pytest.raises(JsonError):
        parse_json(HOSTILE[name])


@pytest.mark.parametrize("text", ["7", "-12345678901234567890123456789", "9" * 4300])
@pytest.mark.parametrize(
    "read", [parse_json, lambda text: to_value(read_json(text).node), lambda text: to_value(read_yaml(text).node)]
)  # type: ignore[arg-type]
def test_x12_integers_stay_integers_of_any_size(text: str, read: Any) -> None:
    value = read(text)
    assert type(value) is int
    assert str(value) == text
    assert type(read("3.0")) is float
    assert type(read("1e2")) is float
