"""What a schema says of values that are being written."""

from __future__ import annotations

from prosa.schema.described import SchemaView, keyword_text
from prosa.schema.walk import ABOUT, KNOWN

SCHEMA = {
    "type": "object",
    "required": ["name"],
    "properties": {
        "name": {"type": "string", "description": "Who\nit is"},
        "kind": {"enum": ["a", "b", 3]},
        "open": {"type": ["boolean", "null"]},
        "items": {"type": "array", "items": {"$ref": "#/$defs/item"}},
        "either": {"anyOf": [{"properties": {"x": {}}}, {"properties": {"y": {"default": 1}}}]},
        "map": {"additionalProperties": {"type": "integer"}},
    },
    "$defs": {"item": {"allOf": [{"properties": {"id": {"const": "i"}, "next": {"$ref": "#/$defs/item"}}}]}},
}


def test_members_are_found_through_references_lists_and_alternatives():
    view = SchemaView(SCHEMA)
    assert list(view.members(())) == ["name", "kind", "open", "items", "either", "map"]
    assert list(view.members(("items", None))) == ["id", "next"]
    assert list(view.members(("items", None, "next", "next"))) == ["id", "next"]
    assert list(view.members(("either",))) == ["x", "y"]
    assert view.members(("name", "nothing")) == {}
    assert view.required(()) == {"name"}


def test_values_and_words_are_told():
    view = SchemaView(SCHEMA)
    assert view.values(("kind",)) == ["a", "b", 3]
    assert view.values(("open",)) == [True, False, None]
    assert view.values(("items", None, "id")) == ["i"]
    assert view.values(("either", "y")) == [1]
    assert view.told(view.members(())["name"]) == ("string", "Who it is")
    assert view.told(view.at(("map", "anything"))) == ("integer", "")


def test_a_schema_that_is_none_describes_nothing():
    for odd in (None, True, [], "x", {"properties": 3, "required": 3, "enum": 3, "$ref": "#/x", "items": [1]}):
        view = SchemaView(odd)
        assert view.members(("a", None)) == {} and view.values(()) == []


def test_every_keyword_says_what_it_means():
    assert set(ABOUT) == set(KNOWN)
    assert keyword_text("type") and not keyword_text("tipe")
