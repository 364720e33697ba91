"""Schemas that are refused, with the place of the culprit (L4, L5, L9)."""

from __future__ import annotations

from typing import Any

import pytest

from prosa.schema import Schema, SchemaError
from tests.work import is_quick


def doubling(levels: int) -> dict[str, Any]:
    definitions: dict[str, Any] = {
        f"a{level}": {"allOf": [{"$ref": f"#/$defs/a{level + 1}"}, {"$ref": f"#/$defs/a{level + 1}"}]}
        for level in range(levels)
    }
    return {"$ref": "#/$defs/a0", "$defs": {**definitions, f"a{levels}": {"type": "string"}}}


def nested(levels: int) -> Any:
    schema: Any = {}
    for _ in range(levels):
        schema = {"not": schema}
    return schema


@pytest.mark.parametrize(
    ("schema", "pointer", "words"),
    [
        ([], "", "expected a schema (a mapping, or true or false), found a list"),
        ("string", "", 'found "string" (string)'),
        (None, "", "found null"),
        ({"type": "objekt"}, "/type", "did you mean `object`?"),
        ({"type": 3}, "/type", "expected a type (null, boolean, object, array, number, integer or string)"),
        ({"properties": {"a": {"minimum": "x"}}}, "/properties/a/minimum", 'expected number, found "x" (string)'),
        ({"properties": []}, "/properties", "expected object, found [] (array)"),
        ({"required": "a"}, "/required", 'expected array, found "a" (string)'),
        ({"required": ["a", "a"]}, "/required", "expected items that all differ"),
        ({"minLength": -1}, "/minLength", "of at least 0, found -1"),
        ({"items": [{"type": "string"}]}, "/items", "expected boolean or object"),
        ({"anyOf": []}, "/anyOf", "at least 1 item"),
        ({"properties": {"a": 7}}, "/properties/a", "found 7 (integer)"),
        ({"pattern": "("}, "/pattern", 'expected a regular expression, found "("'),
        ({"patternProperties": {"a/(": {}}}, "/patternProperties/a~1(", "expected a regular expression"),
        ({"$ref": "#/$defs/nope"}, "/$ref", 'the reference "#/$defs/nope" leads nowhere'),
        ({"properties": {"a": {"$ref": "#nope"}}}, "/properties/a/$ref", "leads nowhere"),
        ({"$ref": "https://example.org/a"}, "/$ref", "nothing is fetched"),
        ({"items": {"$ref": "file:///etc/hostname"}}, "/items/$ref", "nothing is fetched"),
        ({"$ref": "other.json"}, "/$ref", "nothing is fetched"),
        ({"$schema": "http://json-schema.org/draft-07/schema#"}, "/$schema", "only JSON Schema 2020-12 is supported"),
        ({"$schema": "https://example.org/mine"}, "/$schema", "only JSON Schema 2020-12 is supported"),
        ({"$schema": 7}, "/$schema", "only JSON Schema 2020-12"),
        (
            {"$defs": {"a": {"$schema": "http://json-schema.org/draft-04/schema"}}},
            "/$defs/a/$schema",
            "only JSON Schema",
        ),
        ({"minimum": float("nan")}, "/minimum", "finite number"),
        ({"properties": {1: {}}}, "/properties", "keys that are text"),
        (nested(65), "/not" * 64, "at most 64 levels"),
        (doubling(60), "", "references multiply"),
    ],
)
def test_l9_a_bad_schema_is_refused_at_its_place(schema: Any, pointer: str, words: str) -> None:
    with pytest.raises(SchemaError) as caught:
        Schema(schema)
    assert caught.value.pointer == pointer
    assert words in caught.value.message
    assert str(caught.value) == (f"{pointer}: " if pointer else "") + caught.value.message


@pytest.mark.parametrize("schema", [nested(100_000), nested(63), doubling(12)], ids=["endless", "deep", "doubling"])
def test_hostile_schemas_take_no_time(schema: Any) -> None:
    def asked() -> None:
        try:
            Schema(schema).problems("x")
        except SchemaError as error:
            assert "levels" in error.message

    assert is_quick(asked, 3)


@pytest.mark.parametrize(
    ("schema", "pointer"),
    [
        ({"$ref": "#"}, "/$ref"),
        ({"allOf": [{"$ref": "#"}]}, "/allOf/0/$ref"),
        ({"anyOf": [{"type": "string"}, {"$ref": "#"}]}, "/anyOf/1/$ref"),
        ({"properties": {"a": {"$ref": "#/properties/a"}}}, "/properties/a/$ref"),
        ({"$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"not": {"$ref": "#/$defs/a"}}}}, "/$defs/b/not/$ref"),
    ],
)
def test_l9_x30_a_schema_that_leads_back_to_itself_is_refused(schema: Any, pointer: str) -> None:
    """L9, X30. Before it looks into the value: it would describe nothing."""
    with pytest.raises(SchemaError, match="leads back to itself before it looks into the value") as error:
        Schema(schema)
    assert error.value.pointer == pointer


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "array", "items": {"$ref": "#"}},
        {"anyOf": [{"type": "null"}, {"properties": {"next": {"$ref": "#"}}}]},
        {"allOf": [{"$ref": "#/$defs/a"}, {"$ref": "#/$defs/a"}], "$defs": {"a": {"type": "string"}}},
        {"$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"items": {"$ref": "#/$defs/a"}}}, "$ref": "#/$defs/a"},
    ],
)
def test_l9_a_schema_that_goes_deeper_each_time_is_taken(schema: Any) -> None:
    """L9."""
    assert Schema(schema).raw is schema
