"""What goes over the wire (LA4, LA5, LA6)."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from prosa.schema import Schema, lower, unwrap
from tests.depth import examples
from tests.schema.test_validate import JSON, SCHEMAS

TEXT = {"type": "string"}


def closed(**properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "required": list(properties), "additionalProperties": False}


@pytest.mark.parametrize(
    "schema",
    [
        closed(a=TEXT),
        closed(),
        closed(a={"type": ["string", "null"], "description": "x"}, b=closed(c={"type": "integer", "minimum": 0})),
        closed(a={"type": "array", "items": closed(b=TEXT), "minItems": 1}),
        closed(a={"enum": ["x", "y"], "type": "string"}),
        closed(a={"anyOf": [TEXT, closed(b=TEXT)]}),
        {**closed(a={"$ref": "#/$defs/b"}), "$defs": {"b": closed(next={"anyOf": [{"$ref": "#"}, {"type": "null"}]})}},
        {**closed(a=TEXT), "$schema": "https://json-schema.org/draft/2020-12/schema"},
        closed(a={"type": "string", "format": "date", "pattern": "^2"}),
    ],
)
def test_la4_a_schema_that_qualifies_is_sent_as_it_is(schema: Any) -> None:
    lowered = lower(schema)
    assert (lowered.schema, lowered.strict, lowered.wrapped, lowered.notes) == (schema, True, False, ())


@pytest.mark.parametrize(
    ("schema", "reason"),
    [
        ({"type": "object", "properties": {"a": TEXT}, "required": ["a"]}, "additionalProperties is not false"),
        ({**closed(a=TEXT), "required": []}, "the property a is not required"),
        (closed(a={"type": "object"}), "/properties/a: additionalProperties is not false"),
        (closed(a={"type": "string", "minLength": 1}), "the keyword minLength is not supported"),
        (closed(a={"type": "array"}), "does not describe its items"),
        (closed(a={}), "it has no type"),
        (closed(a=True), "true and false are not supported"),
        (closed(a={"oneOf": [TEXT]}), "it has no type"),
        (closed(a={"type": "string", "format": "uri"}), "the format uri"),
        (closed(a={"type": "string", "pattern": "(?=a)"}), "the pattern needs backtracking"),
        (closed(a={"type": "string", "default": "x"}), "the keyword default"),
        ({**closed(a={"$ref": "#/$defs/b", "description": "x"}), "$defs": {"b": TEXT}}, "other keywords beside it"),
        (closed(a={"$ref": "#/properties/b"}, b=TEXT), "elsewhere than to the root or to $defs"),
        ({**closed(a=TEXT), "patternProperties": {}}, "the keyword patternProperties"),
        (closed(**{f"p{number}": TEXT for number in range(5001)}), "more than 5,000 properties"),
        (closed(a={"type": "integer", "enum": list(range(1001))}), "more than 1,000 enum values"),
        (closed(a={"type": "string", "enum": ["x" * 120_000]}), "names are too long"),
    ],
)
def test_la4_what_does_not_qualify_is_sent_without_strict_and_says_why(schema: Any, reason: str) -> None:
    lowered = lower(schema)
    assert not lowered.strict
    assert not lowered.wrapped
    assert reason in lowered.notes[0]
    Schema(lowered.schema)


def test_la4_nesting_is_limited_in_strict_mode() -> None:
    schema = TEXT
    for _ in range(9):
        schema = closed(a=schema)
    assert lower(schema).strict
    assert not lower(closed(a=schema)).strict


@pytest.mark.parametrize(
    ("schema", "sent"),
    [
        (
            {
                "type": "object",
                "$schema": "https://json-schema.org/draft/2020-12/schema",
                "$id": "https://example.org/a",
                "$comment": "x",
                "examples": [{}],
                "default": {},
                "title": "T",
            },
            {"type": "object", "title": "T"},
        ),
        ({"type": "object", "patternProperties": {"^a": TEXT}, "additionalProperties": False}, {"type": "object"}),
        (
            {"type": "object", "properties": {"a": {"oneOf": [TEXT, {"type": "null"}]}}},
            {"type": "object", "properties": {"a": {"anyOf": [TEXT, {"type": "null"}]}}},
        ),
        (
            {"type": "object", "if": {"required": ["a"]}, "then": {"required": ["b"]}, "not": {"required": ["c"]}},
            {"type": "object"},
        ),
        (
            {"type": "object", "properties": {"a": {"type": "string", "pattern": "(?!x)", "minLength": 2}}},
            {"type": "object", "properties": {"a": {"type": "string", "minLength": 2}}},
        ),
        (
            {
                "type": "object",
                "properties": {"a": {"$ref": "#t"}},
                "$defs": {"b c": {"$anchor": "t", "type": "string"}},
            },
            {"type": "object", "properties": {"a": {"$ref": "#/$defs/b%20c"}}, "$defs": {"b c": TEXT}},
        ),
        ({"properties": {"a": TEXT}}, {"type": "object", "properties": {"a": TEXT}}),
        (
            {"$ref": "#/$defs/o", "$defs": {"o": {"type": "object"}}},
            {"type": "object", "$ref": "#/$defs/o", "$defs": {"o": {"type": "object"}}},
        ),
        (
            {"type": "object", "properties": {"default": {"type": "string", "default": "x"}}},
            {"type": "object", "properties": {"default": TEXT}},
        ),
        ({}, {"type": "object"}),
        (True, {"type": "object"}),
    ],
)
def test_la4_the_relaxed_copy_leaves_out_what_servers_refuse(schema: Any, sent: Any) -> None:
    before = deepcopy(schema)
    lowered = lower(schema)
    assert (lowered.schema, lowered.strict, lowered.wrapped) == (sent, False, False)
    assert lowered.notes
    assert schema == before
    Schema(lowered.schema)


@pytest.mark.parametrize(
    ("schema", "strict"),
    [
        (TEXT, True),
        ({"type": "array", "items": TEXT}, True),
        ({"type": "array", "items": {"$ref": "#/$defs/x"}, "$defs": {"x": closed(a=TEXT)}}, True),
        ({"enum": ["a", "b"]}, False),
        ({"type": ["object", "null"]}, False),
        ({"anyOf": [{"type": "object"}, {"type": "null"}]}, False),
        ({"minimum": 3}, False),
        ({"type": "array", "items": {"$ref": "#"}}, False),
        (
            {
                "type": "array",
                "items": {"anyOf": [{"$ref": "#/$defs/a~1b"}, TEXT]},
                "$defs": {"a/b": {"$ref": "#/items/anyOf/1"}},
            },
            False,
        ),
    ],
)
def test_la5_a_root_that_is_no_object_is_wrapped(schema: Any, strict: bool) -> None:
    lowered = lower(schema)
    assert lowered.wrapped
    assert lowered.strict == strict
    assert lowered.schema["type"] == "object"
    assert lowered.schema["required"] == ["value"]
    assert lowered.schema["additionalProperties"] is False
    original, sent = Schema(schema), Schema(lowered.schema)
    for value in ("a", "b", ["a"], [], [[]], [[["a"]]], None, 3, 1.5, {}, [{"a": "x"}]):
        if original.valid(value):
            assert sent.valid({"value": value})
            assert unwrap(lowered, {"value": value}) == value
    assert not sent.valid("a")


@pytest.mark.parametrize("answer", [{}, "plain", None, {"value": 1, "other": 2}, [1]])
def test_la5_an_answer_without_the_wrapper_is_taken_as_it_is(answer: Any) -> None:
    assert unwrap(lower(TEXT), answer) == answer


def test_la5_an_object_is_never_unwrapped() -> None:
    assert unwrap(lower(closed(value=TEXT)), {"value": "x"}) == {"value": "x"}
    assert unwrap(lower({}), {"value": "x"}) == {"value": "x"}


@given(SCHEMAS, JSON)
@settings(max_examples=examples(300), deadline=None)
def test_la4_what_the_author_accepts_the_sent_schema_accepts(schema: Any, value: Any) -> None:
    lowered = lower(schema)
    sent = Schema(lowered.schema)
    if Schema(schema).valid(value):
        wire = {"value": value} if lowered.wrapped else value
        assert sent.valid(wire) or not isinstance(wire, dict)
    assert unwrap(lowered, {"value": value}) == (value if lowered.wrapped else {"value": value})


@given(SCHEMAS, st.sampled_from(["array", "string", ["integer", "object"]]), JSON)
@settings(max_examples=examples(100), deadline=None)
def test_la5_wrapping_keeps_every_reference(schema: Any, kind: Any, value: Any) -> None:
    whole = {
        "type": kind,
        "items": {"$ref": "#/$defs/x"},
        "additionalProperties": {"$ref": "#/items"},
        "$defs": {"x": schema},
    }
    lowered = lower(whole)
    assert lowered.wrapped
    if Schema(whole).valid(value):
        assert Schema(lowered.schema).valid({"value": value})
