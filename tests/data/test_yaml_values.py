"""What YAML means: the core schema of 1.2, value and source text of every scalar (X1)."""

from __future__ import annotations

import math

import pytest

from prosa.data import Mapping, Scalar, read_yaml, to_value


def scalar(text: str) -> Scalar:
    reading = read_yaml(text)
    assert not reading.problems
    assert isinstance(reading.node, Scalar)
    return reading.node


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("null", None),
        ("~", None),
        ("NULL", None),
        ("nUll", "nUll"),
        ("true", True),
        ("TRUE", True),
        ("tRue", "tRue"),
        ("False", False),
        ("yes", "yes"),
        ("no", "no"),
        ("on", "on"),
        ("12", 12),
        ("+12", 12),
        ("-12", -12),
        ("010", 10),
        ("0o17", 15),
        ("-0o17", "-0o17"),
        ("0o18", "0o18"),
        ("0x1F", 31),
        ("0x1f", 31),
        ("0xg", "0xg"),
        ("1_000", "1_000"),
        ("0b11", "0b11"),
        ("12:30:45", "12:30:45"),
        ("190:20:30", "190:20:30"),
        ("123456789012345678901234567890", 123456789012345678901234567890),
        ("1.10", 1.1),
        ("1.", 1.0),
        (".5", 0.5),
        ("-.5e3", -500.0),
        ("1e3", 1000.0),
        ("1e", "1e"),
        ("+", "+"),
        ("-", None),
        (".", "."),
        ("..", ".."),
        (".inf", math.inf),
        ("+.INF", math.inf),
        ("-.Inf", -math.inf),
        ("inf", "inf"),
        ("nan", "nan"),
        ("2024-01-15", "2024-01-15"),
        ("2024-01-15T10:00:00Z", "2024-01-15T10:00:00Z"),
        ("2024-01-15 10:00:00", "2024-01-15 10:00:00"),
        ("١٢", "١٢"),
        ("'12'", "12"),
        ('"true"', "true"),
        ("! 12", "12"),
        ("!!str 12", "12"),
        ("!!int '12'", 12),
        ("!!float 3", 3.0),
        ("!!bool 'true'", True),
        ("!!null ''", None),
        ("a # b", "a"),
        ("a#b", "a#b"),
    ],
)
def test_x1_a_scalar_has_its_core_value(text: str, value: object) -> None:
    reading = read_yaml(text)
    assert not reading.problems
    assert reading.node is not None
    found = to_value(reading.node)
    if text == "-":
        assert found == [None]
    else:
        assert (found, type(found)) == (value, type(value))


def test_x1_not_a_number_is_a_float() -> None:
    assert math.isnan(scalar(".nan").value)
    assert math.isnan(scalar(".NaN").value)


@pytest.mark.parametrize(
    ("source", "text", "style"),
    [
        ("1.10", "1.10", "plain"),
        ("2024-01-15", "2024-01-15", "plain"),
        ("0x1F", "0x1F", "plain"),
        ("TRUE", "TRUE", "plain"),
        ("~", "~", "plain"),
        ("'it''s'", "it's", "single"),
        ('"a\\tb"', "a\tb", "double"),
        ("two\n words", "two words", "plain"),
        ("|\n a\n b\n", "a\nb\n", "literal"),
        (">-\n a\n b\n", "a b", "folded"),
    ],
)
def test_x1_a_scalar_has_its_source_text(source: str, text: str, style: str) -> None:
    node = scalar(source)
    assert (node.text, node.style) == (text, style)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("", None),
        ("# only a comment\n", None),
        ("a: 1\nb: [x, {c: d}]\n", {"a": 1, "b": ["x", {"c": "d"}]}),
        ("a:\nb: ''\n", {"a": None, "b": ""}),
        ("a:\n- 1\n- - 2\n  - 3\n", {"a": [1, [2, 3]]}),
        ("1: a\ntrue: b\n~: c\n1.10: d\n'': e\n", {"1": "a", "true": "b", "~": "c", "1.10": "d", "": "e"}),
        ("a: &x [1, 2]\nb: *x\nc: *x\n", {"a": [1, 2], "b": [1, 2], "c": [1, 2]}),
        ("a: &x 1\n*x : b\n", {"a": 1, "1": "b"}),
        ("&k key: v\nother: *k\n", {"key": "v", "other": "key"}),
        ("---\na: 1\n...\n", {"a": 1}),
        ("%YAML 1.2\n---\na: 1\n", {"a": 1}),
        ("\ufeffa: 1\n", {"a": 1}),
        ("a: {b: 1,}\nc: [1,]\n", {"a": {"b": 1}, "c": [1]}),
        ('{"a": 1, "b":[true,null]}', {"a": 1, "b": [True, None]}),
    ],
)
def test_collections(text: str, value: object) -> None:
    reading = read_yaml(text)
    assert not reading.problems
    assert (None if reading.node is None else to_value(reading.node)) == value


@pytest.mark.parametrize("line_end", ["\n", "\r\n", "\r"])
def test_x1_x2_every_line_end_of_a_text_is_one(line_end: str) -> None:
    text = line_end.join(["a: 1", "b: |", "  x", "  y", "c:", "  - d", ""])
    reading = read_yaml(text)
    assert not reading.problems
    assert isinstance(reading.node, Mapping)
    assert to_value(reading.node) == {"a": 1, "b": "x\ny\n", "c": ["d"]}
    assert [entry.key.span.of(text) for entry in reading.node] == ["a", "b", "c"]


SPECIAL = [
    "\x85",
    "\u2028",
    "\u2029",
    "\x7f",
    "\x9f",
    "\ufffe",
    "\uffff",
    "\ufeff",
    "\U0010ffff",
    "\U00100000",
    "\ue000",
]


@pytest.mark.parametrize("character", SPECIAL)
@pytest.mark.parametrize("form", ["{}", '"{}"', "'{}'", "|-\n  {}", ">-\n  {}", "[{}]"])
def test_x2_characters_that_libyaml_misreads_are_text(character: str, form: str) -> None:
    text = "k: " + form.format(f"a{character}b") + "\nnext: 1\n"
    reading = read_yaml(text)
    assert not reading.problems
    assert isinstance(reading.node, Mapping)
    value = to_value(reading.node)["k"]
    assert (value[0] if form == "[{}]" else value) == f"a{character}b"
    entry = reading.node.entries[1]
    assert entry.key.span.of(text) == "next"
    node = reading.node.entries[0].value
    if isinstance(node, Scalar):
        assert node.text == node.value


def test_x2_a_key_may_hold_such_a_character_and_escapes_stay_what_they_say() -> None:
    text = '"a\u2028": "\\L\\N\\U00100000\\ue000 \u2028"\n'
    reading = read_yaml(text)
    assert not reading.problems
    assert reading.node is not None
    assert to_value(reading.node) == {"a\u2028": "\u2028\x85\U00100000\ue000 \u2028"}


@pytest.mark.parametrize(
    ("text", "value"),
    [
        (r'"\ud83d\ude00"', "😀"),
        (r'"a\uD83D\uDE00b"', "a😀b"),
        (r'"\ue000\ud83d\ude00\uE001"', "\ue000😀\ue001"),
        (r'"\\ud83d\\ude00"', r"\ud83d\ude00"),
        (r"'\ud83d\ude00'", r"\ud83d\ude00"),
        (r"\uD83d\ude00", r"\uD83d\ude00"),
        (r"C:\ud83d", r"C:\ud83d"),
    ],
)
def test_surrogate_escapes_of_json_are_read(text: str, value: str) -> None:
    assert scalar(text).value == value


@pytest.mark.parametrize(
    ("text", "value", "place"), [(r'"a\ud83d"', "a\ufffd", r"\ud83d"), ("a\udc00", "a\ufffd", "\udc00")]
)
def test_a_lone_surrogate_is_a_problem_and_never_a_value(text: str, value: str, place: str) -> None:
    reading = read_yaml(text)
    assert reading.node is not None
    assert to_value(reading.node) == value
    assert [(problem.rule, problem.span.of(text)) for problem in reading.problems] == [("lone-surrogate", place)]


def test_numbers_beyond_the_limit_of_digits_are_problems() -> None:
    for source in ("9" * 4301, "-" + "9" * 4301, "0x" + "f" * 5000, "0o" + "7" * 5000, "0x" + "f" * 3572):
        reading = read_yaml("a: " + source)
        assert [problem.rule for problem in reading.problems] == ["yaml-syntax"]
        assert "4,300 digits" in reading.problems[0].message
        assert reading.node is not None
        assert to_value(reading.node) == {"a": source}
    assert scalar("9" * 4300).value == 10**4300 - 1
    assert scalar("0x" + "f" * 3571).value == 16**3571 - 1
