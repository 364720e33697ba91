"""Validation with JSON Schema 2020-12: values, words, places (L4, L5, L9, L12, LW1, X20)."""

from __future__ import annotations

import math
import subprocess
import sys
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from prosa.schema import Schema, SchemaProblem
from prosa.schema.limits import MAX_INSTANCE_DEPTH, MAX_PROBLEMS
from tests.depth import examples
from tests.work import is_quick

NAME = {
    "type": "object",
    "properties": {"name": {"type": "string"}},
    "required": ["name"],
    "additionalProperties": False,
}
RESULTS = {"type": "object", "properties": {"results": {"type": "array", "items": {"type": "string"}}}}
EITHER = {"anyOf": [{"type": "string"}, {"type": "object", "properties": {"a": {"type": "integer"}}}]}


def test_a_default_that_was_filled_in_is_not_what_was_found():
    """X13. A message tells what was given, not what the schema added."""
    inner = {"type": "object", "properties": {"s": {"default": 1}, "n": {}}, "required": ["n"]}
    schema = {"type": "object", "properties": {"x": inner}, "allOf": [{"properties": {"y": inner}}]}
    given: Any = {"x": {}, "y": {"t": 0}}
    filled = {"x": {"s": 1}, "y": {"t": 0, "s": 1}}
    words = [each.message.partition("found ")[2] for each in Schema(schema).problems(filled, given)]
    assert sorted(words) == ["an empty object", "only `t`"]
    assert "found only `s`" in Schema(inner).problems({"s": 1}, None)[0].message


@pytest.mark.parametrize(
    ("schema", "value", "pointer", "keyword", "message"),
    [
        (RESULTS, {"results": ["a", "b", 7]}, "/results/2", "type", "expected string, found 7 (integer)"),
        (RESULTS, [], "", "type", "expected object, found [] (array)"),
        ({"type": ["null", "string"]}, True, "", "type", "expected string or null, found true (boolean)"),
        ({"type": "integer"}, 1.5, "", "type", "expected integer, found 1.5 (number)"),
        ({"type": "string"}, None, "", "type", "expected string, found null"),
        (NAME, {}, "", "required", "expected the property `name`, which is required, found an empty object"),
        (NAME, {"name": "x", "a": 1}, "", "additionalProperties", "unexpected property `a`; expected only `name`"),
        ({"enum": [1, "a", None]}, "b", "", "enum", 'expected one of 1, "a" or null, found "b" (string)'),
        ({"const": {"a": 1}}, 3, "", "const", 'expected {"a": 1}, found 3 (integer)'),
        ({"minimum": 3}, 2, "", "minimum", "expected a number of at least 3, found 2"),
        ({"maximum": 3}, 3.5, "", "maximum", "expected a number of at most 3, found 3.5"),
        ({"exclusiveMinimum": 3}, 3, "", "exclusiveMinimum", "expected a number greater than 3, found 3"),
        ({"exclusiveMaximum": 3}, 3, "", "exclusiveMaximum", "expected a number less than 3, found 3"),
        ({"multipleOf": 0.01}, 0.075, "", "multipleOf", "expected a multiple of 0.01, found 0.075"),
        ({"minLength": 3}, "😀é", "", "minLength", 'expected at least 3 characters, found 2 in "😀é"'),
        ({"maxLength": 1}, "ab", "", "maxLength", 'expected at most 1 character, found 2 in "ab"'),
        ({"pattern": "^a"}, "b", "", "pattern", 'expected text that matches the pattern `^a`, found "b" (string)'),
        ({"minItems": 1}, [], "", "minItems", "expected at least 1 item, found 0"),
        ({"maxItems": 1}, [1, 2], "", "maxItems", "expected at most 1 item, found 2"),
        ({"minProperties": 2}, {"a": 1}, "", "minProperties", "expected at least 2 properties, found 1"),
        ({"maxProperties": 0}, {"a": 1}, "", "maxProperties", "expected at most 0 properties, found 1"),
        (
            {"uniqueItems": True},
            [1, 1],
            "",
            "uniqueItems",
            "expected items that all differ, found a repeated one in [1, 1]",
        ),
        (
            {"contains": {"const": 1}},
            [2],
            "",
            "contains",
            "expected at least 1 item as `contains` describes, found fewer in [2]",
        ),
        ({"not": {"type": "string"}}, "x", "", "not", 'expected anything but {"type": "string"}, found "x" (string)'),
        (False, 1, "", "false", "expected no value here, found 1 (integer)"),
        (
            {"properties": {"type": False}},
            {"type": 1},
            "/type",
            "properties",
            "expected no value here, found 1 (integer)",
        ),
        ({"prefixItems": [{}], "items": False}, [1, 2], "/1", "items", "expected no value here, found 2 (integer)"),
        (
            {"propertyNames": {"maxLength": 1}},
            {"ab": 1},
            "",
            "propertyNames",
            'property name "ab": expected at most 1 character, found 2 in "ab"',
        ),
        (
            {"dependentRequired": {"a": ["b"]}},
            {"a": 1},
            "",
            "dependentRequired",
            "expected the property `b` because `a` is there, found none",
        ),
        ({"if": {}, "then": {"type": "null"}}, 1, "", "type", "expected null, found 1 (integer)"),
        (
            {"unevaluatedProperties": False},
            {"a": 1, "b": 2},
            "",
            "unevaluatedProperties",
            "unexpected properties `a` and `b`",
        ),
        (
            EITHER,
            {"a": "x"},
            "",
            "anyOf",
            (
                'fits none of the 2 alternatives: expected string, found {"a": "x"} (object); '
                'or at /a expected integer, found "x" (string)'
            ),
        ),
        (
            {"oneOf": [{"type": "integer"}, {"type": "number"}, {"type": "null"}]},
            1,
            "",
            "oneOf",
            "expected exactly one alternative of `oneOf` to fit, found that numbers 1 and 2 do",
        ),
        (
            {"format": "date"},
            "tomorrow",
            "",
            "format",
            'expected a date like 2026-01-31 (format date), found "tomorrow" (string)',
        ),
        (
            {"properties": {"a/b": {"properties": {"~": {"type": "null"}}}}},
            {"a/b": {"~": 1}},
            "/a~1b/~0",
            "type",
            "expected null, found 1 (integer)",
        ),
    ],
)
def test_l12_lw1_a_problem_has_place_keyword_and_words(
    schema: Any, value: Any, pointer: str, keyword: str, message: str
) -> None:
    compiled = Schema(schema)
    assert compiled.problems(value) == [(pointer, keyword, message)]
    assert not compiled.valid(value)


@pytest.mark.parametrize(
    ("schema", "value"),
    [
        ({}, {"anything": [1]}),
        (True, None),
        ({"type": "integer"}, 3.0),
        ({"type": "integer"}, 10**30),
        ({"type": "number", "maximum": 10**30}, 10**30),
        ({"multipleOf": 0.01}, 0.07),
        ({"$schema": "https://json-schema.org/draft/2020-12/schema", "type": "string"}, ""),
        ({"$schema": "https://json-schema.org/draft/2020-12/schema#"}, 1),
        ({"$ref": "https://json-schema.org/draft/2020-12/schema"}, {"type": "string"}),
        ({"$defs": {"a": {"$anchor": "here", "type": "string"}}, "$ref": "#here"}, "x"),
        ({"$id": "https://example.org/a", "$defs": {"b": {"$id": "b", "type": "string"}}, "$ref": "b"}, "x"),
        ({"items": {"$ref": "#"}, "type": "array"}, [[], [[]]]),
        ({"format": "no such format"}, "x"),
        ({"no-such-keyword": 1}, "x"),
        ({"prefixItems": [{"type": "string"}, {"type": "null"}]}, ["a", None, 1]),
        ({"dependentSchemas": {"a": {"required": ["b"]}}}, {"b": 1}),
        ({"pattern": r"^\p{L}+$"}, "é"),
    ],
)
def test_l9_valid_values_have_no_problems(schema: Any, value: Any) -> None:
    assert Schema(schema).problems(value) == []
    assert Schema(schema).valid(value)


@pytest.mark.parametrize("kind", ["null", "boolean", "object", "array", "number", "integer", "string"])
def test_l9_the_seven_types(kind: str) -> None:
    values: dict[str, Any] = {
        "null": None,
        "boolean": True,
        "object": {},
        "array": [],
        "number": 1.5,
        "integer": 1,
        "string": "1",
    }
    accepted = {name for name, value in values.items() if Schema({"type": kind}).valid(value)}
    assert accepted == ({"number", "integer"} if kind == "number" else {kind})


@pytest.mark.parametrize(
    ("name", "good", "bad"),
    [
        ("date", "2026-01-31", "2026-02-30"),
        ("date-time", "2026-01-31T12:00:00Z", "2026-01-31"),
        ("time", "12:00:00Z", "25:00:00Z"),
        ("duration", "P3DT4H", "3 days"),
        ("email", "a@example.org", "a@"),
        ("hostname", "example.org", "-a-"),
        ("ipv4", "192.0.2.1", "192.0.2.256"),
        ("ipv6", "2001:db8::1", "2001:::1"),
        ("uri", "https://example.org/", "no uri"),
        ("uri-reference", "../a", "\\\\a b"),
        ("iri", "https://éxample.org/", "é a"),
        ("uri-template", "/{a}", "/{a"),
        ("uuid", "123e4567-e89b-12d3-a456-426614174000", "123"),
        ("json-pointer", "/a/0", "a"),
        ("relative-json-pointer", "1/a", "/a"),
        ("regex", "^a+$", "("),
    ],
)
def test_l9_formats_are_asserted(name: str, good: str, bad: str) -> None:
    schema = Schema({"format": name})
    assert schema.valid(good)
    ((pointer, keyword, message),) = schema.problems(bad)
    assert (pointer, keyword) == ("", "format")
    assert f"(format {name})" in message


@pytest.mark.parametrize("pattern", ["^(a+)+$", "^(a|aa)+$", "(x+x+)+y", "^(a|a)*b$"])
def test_x20_plain_patterns_take_linear_time(pattern: str) -> None:
    text = "a" * 100_000 + "!"
    assert not Schema({"pattern": pattern}).valid(text)
    assert is_quick(lambda: Schema({"pattern": pattern}).valid(text), 2)


BACKTRACKING = r"(?=a)(a|aa|a|aa)+(?!a)b$"


@pytest.mark.parametrize(
    "schema",
    [
        {"pattern": BACKTRACKING},
        {"not": {"pattern": BACKTRACKING}},
        {"anyOf": [{"pattern": BACKTRACKING}, {"type": "null"}]},
        {"pattern": r"((a+)\2?)+$(?!x)y"},
    ],
)
def test_x20_exceeding_the_backtracking_limit_is_a_problem_that_says_so(schema: Any) -> None:
    compiled = Schema(schema)
    (problem,) = compiled.problems("a" * 5_000)
    assert not compiled.valid("a" * 5_000)
    assert is_quick(lambda: compiled.problems("a" * 5_000), 1)
    assert problem.keyword == "pattern"
    assert "backtracking" in problem.message


@pytest.mark.parametrize(
    "schema", [{"patternProperties": {BACKTRACKING: False}}, {"propertyNames": {"pattern": BACKTRACKING}}]
)
def test_x20_the_limit_holds_for_names_too(schema: Any) -> None:
    (problem,) = Schema(schema).problems({"a" * 200: 1})
    assert "backtracking" in problem.message


@pytest.mark.parametrize(
    ("pattern", "good", "bad"), [("^(?=.*[0-9]).+$", "a1", "a"), (r"^(.)\1$", "aa", "ab"), ("^(?!x)", "a", "x")]
)
def test_x20_look_around_and_back_references_work(pattern: str, good: str, bad: str) -> None:
    assert Schema({"pattern": pattern}).valid(good)
    assert not Schema({"pattern": pattern}).valid(bad)


def nested(levels: int, leaf: Any = 1) -> Any:
    for _ in range(levels):
        leaf = [leaf]
    return leaf


@pytest.mark.parametrize(
    ("value", "pointer", "words"),
    [
        (math.nan, "", "finite number, found nan"),
        ({"a": [math.inf]}, "/a/0", "finite number, found inf"),
        ({"a": {1: 2}}, "/a", "keys that are text, found '1' (int)"),
        ({"a": (1,)}, "/a", "Python type tuple"),
        ({"a": {1, 2}}, "/a", "Python type set"),
        (["\ud800"], "/0", "surrogate"),
        ({"\ud800": 1}, "", "keys that are text"),
        (10**5000, "", "4,300 digits"),
        (nested(MAX_INSTANCE_DEPTH + 1), "/0" * MAX_INSTANCE_DEPTH, "levels"),
        (nested(100_000), "/0" * MAX_INSTANCE_DEPTH, "levels"),
    ],
    ids=lambda value: value if isinstance(value, str) and len(value) < 30 else "value",
)
@pytest.mark.parametrize("schema", [True, {"type": "array", "items": {"$ref": "#"}}, {"not": {}}])
def test_what_is_not_json_is_one_problem_and_never_a_crash(value: Any, pointer: str, words: str, schema: Any) -> None:
    compiled = Schema(schema)
    (problem,) = compiled.problems(value)
    assert (problem.pointer, problem.keyword) == (pointer, "type")
    assert words in problem.message
    assert not compiled.valid(value)


def test_a_value_at_the_limit_of_depth_is_judged() -> None:
    assert Schema({"anyOf": [{"type": "integer"}, {"items": {"$ref": "#"}}]}).valid(nested(MAX_INSTANCE_DEPTH))


def test_a_value_inside_itself_is_a_problem() -> None:
    value: list[Any] = []
    value.append(value)
    assert "levels" in Schema(True).problems(value)[0].message


def test_long_values_are_shortened_and_problems_counted() -> None:
    schema = Schema({"type": "array", "items": {"type": "object"}})
    problems = schema.problems(["x" * 10_000] * 300)
    assert len(problems) == MAX_PROBLEMS
    assert all(len(problem.message) < 200 for problem in problems)
    (problem,) = Schema({"type": "string"}).problems({f"key {number}": list(range(50)) for number in range(1_000)})
    assert len(problem.message) < 200
    (problem,) = Schema({"enum": list(range(1_000))}).problems("x")
    assert problem.message == 'expected one of 0, 1, 2, 3, 4, 5, 6, 7 or 992 more, found "x" (string)'


def test_a_problem_reads_as_a_sentence() -> None:
    assert (
        str(SchemaProblem("/a", "type", "expected null, found 1 (integer)")) == "/a: expected null, found 1 (integer)"
    )
    assert str(SchemaProblem("", "type", "expected null")) == "(root): expected null"


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-3, 3) | st.sampled_from(["", "a", "x y", 1.5]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("abc"), inner, max_size=3),
    max_leaves=6,
)
SCHEMAS = st.recursive(
    st.sampled_from(
        [
            True,
            False,
            {},
            {"type": "string"},
            {"type": ["integer", "null"]},
            {"minimum": 1},
            {"enum": [1, "a"]},
            {"required": ["a"]},
            {"minItems": 2},
            {"const": {"a": 1}},
            {"pattern": "^a"},
            {"uniqueItems": True},
        ]
    ),
    lambda inner: st.one_of(
        st.fixed_dictionaries(
            {"properties": st.dictionaries(st.sampled_from("abc"), inner, max_size=2)},
            optional={"additionalProperties": inner, "patternProperties": st.just({"^b": False})},
        ),
        st.fixed_dictionaries(
            {},
            optional={
                "anyOf": st.lists(inner, min_size=1, max_size=3),
                "oneOf": st.lists(inner, min_size=1, max_size=3),
                "allOf": st.lists(inner, min_size=1, max_size=2),
                "not": inner,
                "items": inner,
                "contains": inner,
                "propertyNames": inner,
                "if": inner,
                "then": inner,
                "prefixItems": st.lists(inner, min_size=1, max_size=2),
                "dependentSchemas": st.dictionaries(st.sampled_from("ab"), inner, max_size=1),
                "unevaluatedProperties": inner,
                "unevaluatedItems": inner,
            },
        ),
    ),
    max_leaves=6,
)


@given(SCHEMAS, JSON)
@settings(max_examples=examples(200), deadline=None)
def test_lw1_every_refusal_has_words(schema: Any, value: Any) -> None:
    compiled = Schema(schema)
    problems = compiled.problems(value)
    assert compiled.valid(value) == (not problems)
    for problem in problems:
        assert problem.message
        assert "ValidationError" not in problem.message
        assert problem.keyword


def test_the_validator_is_loaded_with_the_first_schema() -> None:
    program = "import sys, prosa.schema\nprint('jsonschema_rs' in sys.modules)\n"
    program += "prosa.schema.Schema(True)\nprint('jsonschema_rs' in sys.modules)"
    environment = {"PYTHONPATH": ":".join(filter(None, sys.path))}
    done = subprocess.run([sys.executable, "-c", program], check=True, env=environment, capture_output=True, text=True)
    assert done.stdout.split() == ["False", "True"]


def test_la6_an_empty_answer_counts_only_where_the_schema_takes_it() -> None:
    assert Schema({"type": "object"}).valid({})
    assert Schema({}).valid({})
    assert not Schema(NAME).valid({})
    assert not Schema({"type": "array"}).valid({})
