"""The table of keywords against the engine: what is called enforced is, and nothing else reaches it (X35).

Each keyword that is enforced has a schema and a question that asks for the opposite. The engine passes over a whole
schema for one keyword that it does not know, so an answer that holds shows both.
"""

from __future__ import annotations

import json
from typing import Any

import pytest

from prosa.schema import Schema, SchemaError
from prosa.schema.decodable import FORMATS, KEYWORDS, decodable
from prosa.schema.walk import KNOWN
from tests.adapters.embedded.runs import answered
from tests.depth import DEEP

DIGIT: dict[str, Any] = {"type": "integer", "minimum": 0, "maximum": 9}
LONG = "Answer with the text 'Hello World, this is a long answer'."
SEVEN = "Answer with the number 7.5 ."
OBJECT = 'Answer with the object {"a": 1, "b": 2, "c": 3}.'
LIST = "Answer with the list [1, 1, 1, 2, 2, 2]."


def three(**more: Any) -> dict[str, Any]:
    return {"type": "object", "properties": dict.fromkeys("abc", DIGIT), "additionalProperties": False, **more}


def most(name: str) -> int:
    """How long a text of a format may be: each character is a token of an answer."""
    return 40 if DEEP else {"uuid": 36, "date-time": 20}.get(name, 10)


ENFORCED: dict[str, tuple[Any, str]] = {
    "$defs": ({"$ref": "#/properties/v/$defs/x", "$defs": {"x": {"const": "q"}}}, LONG),
    "$ref": ({"$ref": "#/$defs/word"}, LONG),
    "definitions": ({"$ref": "#/properties/v/definitions/x", "definitions": {"x": {"const": "q"}}}, LONG),
    "additionalProperties": (three(), 'Answer with the object {"z": 1}.'),
    "allOf": ({"allOf": [{"type": "string", "maxLength": 5}, {"pattern": "^a"}]}, LONG),
    "anyOf": ({"anyOf": [DIGIT, {"const": "a"}]}, LONG),
    "const": ({"const": {"b": 1, "a": [1, "é"]}}, LONG),
    "enum": ({"enum": ["a", 1, None, {"x": [1]}]}, LONG),
    "exclusiveMaximum": ({"type": "integer", "exclusiveMaximum": 7, "minimum": 5}, SEVEN),
    "exclusiveMinimum": ({"type": "number", "exclusiveMinimum": 8, "maximum": 9, "multipleOf": 0.5}, SEVEN),
    "items": ({"type": "array", "items": DIGIT, "maxItems": 3}, OBJECT),
    "maxItems": ({"type": "array", "items": DIGIT, "maxItems": 2}, LIST),
    "maxLength": ({"type": "string", "maxLength": 3}, LONG),
    "maxProperties": (three(maxProperties=1), OBJECT),
    "maximum": ({"type": "integer", "minimum": 1, "maximum": 3}, SEVEN),
    "minItems": ({"type": "array", "items": DIGIT, "minItems": 5, "maxItems": 6}, "Answer with []."),
    "minLength": ({"type": "string", "minLength": 12, "maxLength": 15}, "Answer with x."),
    "minProperties": (three(minProperties=1), "Answer with {}."),
    "minimum": ({"type": "integer", "minimum": 100, "maximum": 103}, SEVEN),
    "multipleOf": ({"type": "integer", "multipleOf": 7, "minimum": 15, "maximum": 30}, SEVEN),
    "oneOf": ({"oneOf": [DIGIT, {"const": "a"}], "anyOf": [{"type": "integer"}, {"type": "string"}]}, LONG),
    "patternProperties": (
        {"type": "object", "patternProperties": {r"^x\d$": DIGIT}, "additionalProperties": False, "minProperties": 1}
        | {"maxProperties": 1},
        OBJECT,
    ),
    "prefixItems": ({"type": "array", "prefixItems": [DIGIT, {"const": "a"}], "items": False, "minItems": 2}, LIST),
    "properties": (three(required=["c"]), LONG),
    "required": (three(required=["b"]), 'Answer with the object {"a": 1}.'),
    "type": ({"type": "boolean"}, LONG),
    **{
        f"format {each}": ({"type": "string", "format": each, "maxLength": most(each)}, LONG)
        for each in sorted(FORMATS)
    },
    **{
        f"pattern {each}": ({"type": "string", "pattern": each, "maxLength": 12}, LONG)
        for each in (r"^\d{3}$", r"^\p{L}{2}$", r"\d", "^[^a-z]{2}$", "^(?:a|b)+?c$", "^a$|^b$", "")
    },
}
"""By keyword, a schema and a question against it."""

VALIDATED: dict[str, Any] = {
    "$anchor": {"$anchor": "x"},
    "$comment": {"$comment": "x"},
    "$dynamicAnchor": {"$dynamicAnchor": "y"},
    "$dynamicRef": {"$dynamicRef": "#word"},
    "$id": {"$id": "https://example.org/x"},
    "$schema": {"$schema": "https://json-schema.org/draft/2020-12/schema"},
    "$vocabulary": {"$vocabulary": {"https://json-schema.org/draft/2020-12/vocab/core": True}},
    "contains": {"contains": {"const": 7}},
    "contentEncoding": {"contentEncoding": "base64"},
    "contentMediaType": {"contentMediaType": "application/json"},
    "contentSchema": {"contentSchema": {"type": "object"}},
    "default": {"default": 1},
    "dependentRequired": {"dependentRequired": {"a": ["b"]}},
    "dependentSchemas": {"dependentSchemas": {"a": {"required": ["b"]}}},
    "deprecated": {"deprecated": True},
    "description": {"description": "x"},
    "else": {"else": {"minLength": 3}},
    "examples": {"examples": [1]},
    "if": {"if": {"const": 1}},
    "maxContains": {"maxContains": 2},
    "minContains": {"minContains": 0},
    "not": {"not": {"const": "a"}},
    "propertyNames": {"propertyNames": {"maxLength": 1}},
    "readOnly": {"readOnly": True},
    "then": {"then": {"minLength": 3}},
    "title": {"title": "x"},
    "unevaluatedItems": {"unevaluatedItems": False},
    "unevaluatedProperties": {"unevaluatedProperties": False},
    "uniqueItems": {"uniqueItems": True},
    "writeOnly": {"writeOnly": False},
    "format uri": {"format": "uri"},
    "format of one's own": {"format": "zork"},
    "pattern with look-ahead": {"pattern": "^(?=a)a"},
    "pattern with a reference": {"pattern": r"^(a)\1"},
    "pattern with a word boundary": {"pattern": r"\ba"},
    "two patterns of names": {"patternProperties": {"^x": DIGIT, "^.y": DIGIT}, "additionalProperties": False},
    "a factor of many digits": {"type": "number", "multipleOf": 123457},
    "a bound beyond all numbers": {"type": "number", "maximum": 1e300},
    "too many items": {"type": "array", "items": DIGIT, "maxItems": 1_000_000},
    "two properties of three": three(minProperties=2),
    "a reference to false": {"anyOf": [{"$ref": "#/$defs/never"}, {"const": 1}]},
}
"""What is not sent, by keyword: with each of them the engine still holds the rest."""

DEFS = {"word": {"type": "string", "pattern": "^a{3}$", "$dynamicAnchor": "word"}, "never": False}


def around(inner: Any, *more: Any) -> dict[str, Any]:
    """A schema with a property that shows whether the engine holds anything, and one with each schema that is tried."""
    properties = {"held": {"const": "zq"}, "v": inner} | {f"v{at}": each for at, each in enumerate(more)}
    closed = {"type": "object", "properties": properties, "required": [*properties], "additionalProperties": False}
    return {**closed, "$defs": DEFS}


TOGETHER = 8
"""Keywords of one question; more in one schema would make an answer that is cut."""


def groups() -> list[tuple[str, ...]]:
    """The names of what is enforced, those of the same question together; what refers to its own place stands alone."""
    found: dict[str, list[str]] = {}
    for name, (inner, question) in ENFORCED.items():
        found.setdefault(name if "#/properties/v/" in str(inner) else question, []).append(name)
    return [tuple(each[at : at + TOGETHER]) for each in found.values() for at in range(0, len(each), TOGETHER)]


def test_x35_every_keyword_is_in_the_table():
    assert KEYWORDS.keys() == KNOWN
    tried = {name.split()[0] for name in ENFORCED}
    assert tried == {name for name, handling in KEYWORDS.items() if handling == "enforced"}
    assert {name for name, handling in KEYWORDS.items() if handling == "validated"} <= VALIDATED.keys()


def test_every_keyword_is_in_one_group():
    assert sorted(name for group in groups() for name in group) == sorted(ENFORCED)


@pytest.mark.parametrize("names", groups(), ids=", ".join)
def test_x35_what_is_enforced_holds_against_the_question(names: tuple[str, ...]):
    schema, question = around(*(ENFORCED[name][0] for name in names)), ENFORCED[names[0]][1]
    said = answered(schema, question, 60 * len(names))
    assert said.startswith('{"held":"zq"'), said
    assert Schema(schema).valid(json.loads(said)), said


@pytest.mark.parametrize("name", VALIDATED)
def test_x35_what_is_validated_is_not_sent(name: str):
    """The engine takes all of these in one schema: one request shows that none of them lets it pass over the rest."""
    sent = decodable(around(VALIDATED[name]))
    if name in KEYWORDS:
        assert name not in sent["properties"]["v"]
    assert sent != around(VALIDATED[name])


def test_x35_the_engine_holds_a_schema_with_all_that_is_only_validated():
    properties = {f"v{at}": each for at, each in enumerate(VALIDATED.values())}
    schema = {"type": "object", "properties": {"held": {"const": "zq"}, **properties}, "required": ["held"]}
    said = answered({**schema, "$defs": DEFS}, "Say hello.", most=12)
    assert said.startswith('{"held":"zq"')


@pytest.mark.parametrize("schema", [{"$ref": "https://example.org/x"}, {"$ref": "#/none"}, {"$schema": "urn:other"}])
def test_x35_what_is_refused_is_refused_when_it_is_read(schema: Any):
    with pytest.raises(SchemaError):
        Schema(schema)


def test_x35_a_schema_that_nothing_satisfies_steps_down_and_is_not_waited_for():
    """The engine passes over it and writes freely; the first character shows that, and the next form is asked."""
    schema = {"type": "object", "properties": {"v": False}, "required": ["v"]}
    assert answered(schema, "Say hello.", most=12).lstrip().startswith("{")
