"""Defaults filled in before rendering (X13)."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from prosa.schema import Schema, fill_defaults
from tests.depth import examples
from tests.work import is_quick

ADDRESS = {"type": "object", "properties": {"city": {"type": "string", "default": "Oslo"}, "zip": {"type": "string"}}}
PAIR = {"properties": {"a": {"default": 1}, "b": {"default": 2}}}


@pytest.mark.parametrize(
    ("schema", "value", "filled"),
    [
        ({"properties": {"n": {"default": 3}}}, {}, {"n": 3}),
        ({"properties": {"n": {"default": 3}}}, {"n": 0}, {"n": 0}),
        ({"properties": {"n": {"default": 3}}}, {"n": None}, {"n": None}),
        ({"properties": {"n": {"default": None}}}, {}, {"n": None}),
        ({"properties": {"n": {"default": False}}}, {"z": 1}, {"z": 1, "n": False}),
        ({"properties": {"n": {"type": "integer"}}}, {}, {}),
        ({"properties": {"a": ADDRESS}}, {"a": {}}, {"a": {"city": "Oslo"}}),
        ({"properties": {"a": ADDRESS}}, {}, {}),
        ({"properties": {"a": {**ADDRESS, "default": {}}}}, {}, {"a": {"city": "Oslo"}}),
        ({"properties": {"a": {**ADDRESS, "default": {"city": "Bergen"}}}}, {}, {"a": {"city": "Bergen"}}),
        ({"items": ADDRESS}, [{}, {"city": "x"}, 7], [{"city": "Oslo"}, {"city": "x"}, 7]),
        (
            {"prefixItems": [ADDRESS], "items": {"properties": {"k": {"default": 1}}}},
            [{}, {}],
            [{"city": "Oslo"}, {"k": 1}],
        ),
        ({"additionalProperties": ADDRESS}, {"x": {}}, {"x": {"city": "Oslo"}}),
        ({"$ref": "#/$defs/a", "$defs": {"a": ADDRESS}}, {}, {"city": "Oslo"}),
        ({"properties": {"a": {"$ref": "#/$defs/n"}}, "$defs": {"n": {"default": 5}}}, {}, {"a": 5}),
        ({"properties": {"a": {"$ref": "#/$defs/n", "default": 6}}, "$defs": {"n": {"default": 5}}}, {}, {"a": 6}),
        ({"allOf": [PAIR, {"properties": {"c": {"default": 3}}}]}, {"b": 9}, {"b": 9, "a": 1, "c": 3}),
        ({"properties": {"a": {"allOf": [{"default": 4}]}}}, {}, {"a": 4}),
        ({"anyOf": [ADDRESS, {"type": "null"}]}, {}, {"city": "Oslo"}),
        ({"anyOf": [{"type": "object", **PAIR}, {"type": "object"}]}, {}, {}),
        ({"if": {}, "then": PAIR}, {}, {}),
        ({"properties": {"a": True}}, {}, {}),
        ({"default": {"a": 1}}, {}, {}),
        (PAIR, "text", "text"),
        (PAIR, None, None),
        (True, {"a": 1}, {"a": 1}),
        ({}, {"a": {}}, {"a": {}}),
    ],
)
def test_x13_defaults_are_filled_in(schema: Any, value: Any, filled: Any) -> None:
    before = deepcopy((schema, value))
    assert fill_defaults(schema, value) == filled
    assert (schema, value) == before


def test_x13_a_default_is_a_copy() -> None:
    schema = {"properties": {"a": {"default": {"list": []}}}}
    fill_defaults(schema, {})["a"]["list"].append(1)
    assert fill_defaults(schema, {}) == {"a": {"list": []}}


def test_x13_defaults_are_those_of_the_schema_as_it_is_now() -> None:
    schema: dict[str, Any] = {"properties": {"a": {}}}
    assert fill_defaults(schema, {}) == {}
    schema["properties"]["a"]["default"] = 1
    assert fill_defaults(schema, {}) == {"a": 1}
    schema["properties"] = {"b": {"$ref": "#/$defs/b"}}
    schema["$defs"] = {"b": {"default": 2}}
    assert fill_defaults(schema, {}) == {"b": 2}


def test_x13_a_recursive_schema_ends() -> None:
    schema = {"$defs": {"n": {"default": {}, "properties": {"next": {"$ref": "#/$defs/n"}, "k": {"default": 1}}}},
              "$ref": "#/$defs/n"}  # fmt: skip
    assert fill_defaults(schema, {}) == {"next": {"k": 1}, "k": 1}
    assert fill_defaults({"$ref": "#"}, {}) == {}
    assert fill_defaults({"allOf": [{"$ref": "#"}]}, {}) == {}


def test_x13_many_defaults_inside_one_another_end() -> None:
    names = [f"p{number}" for number in range(30)]
    node: dict[str, Any] = {"properties": {name: {"$ref": f"#/$defs/{name}"} for name in names}}
    schema = {"$ref": "#/$defs/node", "$defs": {"node": node, **{name: {"default": {}, **node} for name in names}}}
    filled: list[Any] = []
    assert is_quick(lambda: filled.append(fill_defaults(schema, {})), 5)
    assert set(filled[0]) == set(names)


def test_x13_endless_values_are_left_alone() -> None:
    value: Any = {}
    for _ in range(100_000):
        value = {"a": value}
    filled = fill_defaults({"properties": {"a": {"$ref": "#"}, "n": {"default": 1}}}, value)
    assert filled["a"]["a"]["n"] == 1


NUMBERS = {"type": "object", "properties": {"a": {"type": "integer", "default": 1}, "o": {"$ref": "#", "default": {}},
           "l": {"type": "array", "items": {"$ref": "#"}}}}  # fmt: skip


@given(
    st.recursive(
        st.just({}),
        lambda inner: st.fixed_dictionaries(
            {}, optional={"a": st.integers(), "o": inner, "l": st.lists(inner, max_size=2)}
        ),
        max_leaves=6,
    )
)
@settings(max_examples=examples(60), deadline=None)
def test_x13_filling_is_idempotent_and_keeps_what_is_given(value: Any) -> None:
    filled = fill_defaults(NUMBERS, value)
    assert Schema(NUMBERS).valid(filled)
    assert kept(value, filled)


def kept(value: Any, filled: Any) -> bool:
    if isinstance(value, dict):
        return all(key in filled and kept(item, filled[key]) for key, item in value.items())
    if isinstance(value, list):
        return len(value) == len(filled) and all(kept(left, right) for left, right in zip(value, filled, strict=True))
    return bool(value == filled)
