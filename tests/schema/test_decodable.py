"""What of a schema an engine is held to (X35), and schemas without booleans in them: pure, for any schema."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from prosa.schema import Schema, lower
from prosa.schema.decodable import FORMATS, KEYWORDS, NUMBER_BOUND, STRING_LENGTH, decodable
from prosa.schema.lower import without_booleans
from prosa.schema.walk import KNOWN, subschemas
from tests.depth import examples
from tests.schema.test_validate import JSON, SCHEMAS

DIGIT = {"type": "integer", "minimum": 0, "maximum": 9}


def test_x35_the_table_has_every_keyword_once():
    assert KEYWORDS.keys() == KNOWN


@given(SCHEMAS, JSON)
@settings(max_examples=examples(300), deadline=None)
def test_x35_what_the_author_accepts_the_engine_may_write(schema: Any, value: Any):
    """Nothing is lost but long strings and large numbers, which have a bound only there."""
    before, lowered = deepcopy(schema), lower(schema)
    sent = decodable(schema)
    assert schema == before
    wire = {"value": value} if lowered.wrapped else value
    if Schema(schema).valid(value) and isinstance(wire, dict) and _is_small(value):
        assert Schema(sent).valid(wire)


@given(SCHEMAS)
@settings(max_examples=examples(200), deadline=None)
def test_x35_only_what_is_enforced_is_sent(schema: Any):
    for _, each in subschemas(decodable(schema)):
        if isinstance(each, dict):
            assert all(KEYWORDS[name] == "enforced" and name != "oneOf" for name in each)
            assert each.get("format") in {None, *FORMATS}


@given(SCHEMAS, JSON)
@settings(max_examples=examples(200), deadline=None)
def test_a_schema_without_booleans_accepts_as_much(schema: Any, value: Any):
    sent = without_booleans(schema) if isinstance(schema, dict) else {}
    assert not any(isinstance(each, bool) and way[-1] != "additionalProperties" for way, each in subschemas(sent))
    if isinstance(schema, dict) and Schema(schema).valid(value):
        assert Schema(dict(sent)).valid(value)


@pytest.mark.parametrize(
    ("schema", "sent"),
    [
        ({"properties": {"a": True, "b": False, "c": DIGIT}}, {"properties": {"a": {}, "c": DIGIT}}),
        ({"prefixItems": [DIGIT, True], "items": False}, {"prefixItems": [DIGIT, {}], "maxItems": 2}),
        ({"items": False, "maxItems": 9}, {"maxItems": 0}),
        ({"items": True}, {"items": {}}),
        ({"anyOf": [False, DIGIT, True]}, {"anyOf": [DIGIT, {}]}),
        ({"oneOf": [True, {"anyOf": [False]}]}, {"oneOf": [{}, {"anyOf": [{"not": {}}]}]}),
        ({"oneOf": [False, DIGIT, True]}, {"oneOf": [DIGIT, {}]}),
        ({"oneOf": [False]}, {}),
        ({"not": {"properties": {"a": False}}}, {"not": {"properties": {"a": {"not": {}}}}}),
        ({"if": {"items": False}, "then": {"items": False}}, {"if": {"items": {"not": {}}}, "then": {"maxItems": 0}}),
        ({"if": {"anyOf": [False, True]}, "else": DIGIT}, {"if": {"anyOf": [{"not": {}}, {}]}, "else": DIGIT}),
        ({"not": {"not": True}}, {"not": {"not": {}}}),
        (
            {"not": {"additionalProperties": False, "items": True}},
            {"not": {"additionalProperties": False, "items": {}}},
        ),
        (
            {"not": {"$ref": "#/$defs/x"}, "$defs": {"x": False}},
            {"not": {"$ref": "#/$defs/x"}, "$defs": {"x": {"not": {}}}},
        ),
        ({"$defs": {"x": False, "y": {"items": True}}}, {"$defs": {"x": {}, "y": {"items": {}}}}),
    ],
)
def test_a_boolean_is_spelled_out_for_servers_that_take_none(schema: Any, sent: Any):
    assert without_booleans(schema) == sent


TURNING = st.recursive(
    st.booleans() | st.sampled_from([DIGIT, {"type": "object"}, {"$ref": "#/$defs/d"}]),
    lambda inner: st.one_of(
        st.fixed_dictionaries({"properties": st.dictionaries(st.sampled_from("ab"), inner, max_size=2)}),
        st.fixed_dictionaries({"items": inner}),
        st.fixed_dictionaries({"not": inner}),
        st.fixed_dictionaries({"if": inner, "then": inner, "else": inner}),
        st.fixed_dictionaries({"allOf": st.lists(inner, min_size=1, max_size=2)}),
        st.fixed_dictionaries({"anyOf": st.lists(inner, min_size=1, max_size=2)}),
    ),
    max_leaves=6,
)


@given(TURNING, st.booleans() | st.just(DIGIT), JSON)
@settings(max_examples=examples(300), deadline=None)
def test_a_schema_without_booleans_accepts_as_much_behind_not_and_if(inner: Any, shared: Any, value: Any):
    schema = {"$defs": {"d": shared}, "allOf": [inner]}
    sent = without_booleans(schema)
    assert not any(isinstance(each, bool) and way[-1] != "additionalProperties" for way, each in subschemas(sent))
    assert Schema(dict(sent)).valid(value) or not Schema(schema).valid(value)


def test_a_schema_that_has_none_is_the_same_object():
    schema = {"type": "object", "properties": {"a": DIGIT}, "additionalProperties": False}
    assert without_booleans(schema) is schema


@pytest.mark.parametrize(
    ("schema", "sent"),
    [
        ({"type": "string"}, {"type": "string", "maxLength": STRING_LENGTH}),
        ({"type": "string", "minLength": 900}, {"type": "string", "minLength": 900, "maxLength": 900}),
        ({"type": "string", "maxLength": 5000}, {"type": "string", "maxLength": 5000}),
        ({"type": "integer"}, {"type": "integer", "minimum": -NUMBER_BOUND, "maximum": NUMBER_BOUND}),
        ({"type": "number", "exclusiveMinimum": 0}, {"type": "number", "exclusiveMinimum": 0, "maximum": NUMBER_BOUND}),
        ({"type": "string", "enum": ["a"]}, {"type": "string", "enum": ["a"]}),
        ({"oneOf": [DIGIT], "anyOf": [{}]}, {"anyOf": [{"maxLength": 400}], "allOf": [{"anyOf": [DIGIT]}]}),
        ({"$ref": "#/properties/v/$defs/d", "$defs": {"d": DIGIT}}, None),
    ],
)
def test_x35_what_is_sent_has_an_end(schema: Any, sent: Any):
    around = {"type": "object", "properties": {"v": schema}}
    assert decodable(around)["properties"]["v"] == (schema if sent is None else sent)


def test_x35_a_reference_that_comes_back_stands_alone():
    tree = {"type": "object", "properties": {"n": {"$ref": "#/$defs/t", "minProperties": 1}}}
    schema = {"$ref": "#/$defs/t", "$defs": {"t": tree}, "minProperties": 1}
    assert decodable(schema) == {
        "$ref": "#/$defs/t",
        "$defs": {"t": {**tree, "properties": {"n": {"$ref": "#/$defs/t"}}}},
    }


def test_x35_a_value_that_is_no_object_is_wrapped_as_it_is_sent():
    assert decodable(DIGIT) == {
        "type": "object",
        "properties": {"value": DIGIT},
        "required": ["value"],
        "additionalProperties": False,
    }


def _is_small(value: Any) -> bool:
    if isinstance(value, str):
        return len(value) <= STRING_LENGTH
    if isinstance(value, int | float):
        return abs(value) <= NUMBER_BOUND
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return all(map(_is_small, inner))
