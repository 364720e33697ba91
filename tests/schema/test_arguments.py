"""KEY=VALUE typed by the input schema, and the inputs in words (L4)."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from prosa.schema import ArgumentProblem, InputField, Schema, describe_inputs, typed_arguments
from tests.depth import examples
from tests.work import is_quick

SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "s": {"type": "string"},
        "n": {"type": "integer"},
        "f": {"type": "number"},
        "b": {"type": "boolean"},
        "z": {"type": "null"},
        "l": {"type": "array", "items": {"type": "string"}},
        "i": {"type": "array", "items": {"type": "integer"}},
        "o": {"type": "object", "properties": {"x": {"type": "integer"}, "y": {"$ref": "#/$defs/point"}}},
        "open": {"type": "object"},
        "counts": {"type": "object", "additionalProperties": {"type": "integer"}},
        "e": {"enum": ["red", "green", 3, None, True]},
        "c": {"const": "only"},
        "maybe": {"type": ["integer", "null"]},
        "any": {},
        "u": {"anyOf": [{"type": "string"}, {"type": "integer"}]},
        "r": {"$ref": "#/$defs/point"},
        "a.b": {"type": "string"},
        "list or text": {"type": ["array", "string"]},
    },
    "$defs": {"point": {"type": "object", "properties": {"lat": {"type": "number"}}}},
}


@pytest.mark.parametrize(
    ("pairs", "value"),
    [
        ("s=12", {"s": "12"}),
        ("s=", {"s": ""}),
        ("s=true", {"s": "true"}),
        ('s="x"', {"s": '"x"'}),
        ("n=12", {"n": 12}),
        ("n=-3", {"n": -3}),
        ("n=+3", {"n": 3}),
        ("n=007", {"n": 7}),
        ("n=3.0", {"n": 3}),
        ("f=3", {"f": 3}),
        ("f=1e3", {"f": 1000.0}),
        ("b=true|n=1", {"b": True, "n": 1}),
        ("b=False", {"b": False}),
        ("z=null", {"z": None}),
        ('l=["a","b"]', {"l": ["a", "b"]}),
        ("l=a|l=b|l=3", {"l": ["a", "b", "3"]}),
        ("l=a", {"l": ["a"]}),
        ("l=[]", {"l": []}),
        ("i=1|i=2", {"i": [1, 2]}),
        ("i=[1,2]", {"i": [1, 2]}),
        ('o={"x":3}', {"o": {"x": 3}}),
        ("o.x=3", {"o": {"x": 3}}),
        ("o.x=3|o.y.lat=1.5", {"o": {"x": 3, "y": {"lat": 1.5}}}),
        ('o={"x":1}|o.y.lat=2', {"o": {"x": 1, "y": {"lat": 2}}}),
        ("open.what.ever=1", {"open": {"what": {"ever": 1}}}),
        ("counts.a=1|counts.b=2", {"counts": {"a": 1, "b": 2}}),
        ("e=red", {"e": "red"}),
        ("e=3", {"e": 3}),
        ("e=null", {"e": None}),
        ("e=true", {"e": True}),
        ("c=only", {"c": "only"}),
        ("maybe=null", {"maybe": None}),
        ("maybe=", {"maybe": None}),
        ("maybe=4", {"maybe": 4}),
        ("any=4", {"any": 4}),
        ("any=four", {"any": "four"}),
        ('any={"a":[1]}', {"any": {"a": [1]}}),
        ("u=5", {"u": 5}),
        ("u=five", {"u": "five"}),
        ("r.lat=60", {"r": {"lat": 60}}),
        ("a.b=x", {"a.b": "x"}),
        ("list or text=x", {"list or text": "x"}),
        ("list or text=[1]", {"list or text": [1]}),
    ],
)
def test_l4_arguments_have_the_types_of_the_schema(pairs: str, value: dict[str, Any]) -> None:
    typed = typed_arguments(SCHEMA, [tuple(pair.split("=", 1)) for pair in pairs.split("|")])  # type: ignore[misc]
    assert typed == value
    assert repr(typed) == repr(value)


@pytest.mark.parametrize(
    ("pairs", "message"),
    [
        ("n=x", 'n: expected an integer, found "x"'),
        ("n=1.5", 'n: expected an integer, found "1.5"'),
        ("n=", 'n: expected an integer, found ""'),
        ("b=yes", 'b: expected true or false, found "yes"'),
        ("f=many", 'f: expected a number, found "many"'),
        ("f=NaN", 'f: expected a number, found "NaN"'),
        ("i=x", 'i: expected an integer, found "x"'),
        (
            "i=1,2",
            "i: takes a list: write i='[1, 2]' or i=1 i=2; for one item with a comma i='[\"1,2\"]'",
        ),
        ("i=1|i=x", 'i: expected an integer, found "x"'),
        ("i=[1", 'i: expected a list as JSON, found "[1"'),
        ("o=x", 'o: expected an object as JSON, found "x"'),
        ("maybe=x", 'maybe: expected an integer or null, found "x"'),
        ("e=rde", 'e: expected one of "red", "green", 3, null or true, found "rde"; did you mean "red"?'),
        ("e=1", 'e: expected one of "red", "green", 3, null or true, found "1"'),
        ("o.w=1", "o.w: unknown input `w` inside `o`; expected one of `x` and `y`"),
        ("s=1|s=2", "s: given 2 times; expected once"),
        ("o.x=1|o.x.y=2", "o.x.y: `o.x` takes an integer and has no parts"),
        ('o={"x":1}|o.x=2', "o.x: given twice; expected once"),
    ],
)
def test_l4_a_wrong_argument_names_key_found_and_expected(pairs: str, message: str) -> None:
    with pytest.raises(ArgumentProblem) as caught:
        typed_arguments(SCHEMA, [tuple(pair.split("=", 1)) for pair in pairs.split("|")])  # type: ignore[misc]
    assert str(caught.value) == message


@pytest.mark.parametrize(
    ("schema", "key", "message"),
    [
        ({"properties": {"name": {}, "size": {}}}, "naem", "naem: unknown input `naem`; did you mean `name`?"),
        ({"properties": {"name": {}}}, "zzz", "zzz: unknown input `zzz`; expected one of `name`"),
        ({"additionalProperties": False}, "a", "a: unknown input `a`; expected none"),
        ({"properties": {"my-name": {}}}, "my_name", "my_name: unknown input `my_name`; did you mean `my-name`?"),
    ],
)
def test_l4_an_unknown_key_is_refused_with_the_nearest(schema: Any, key: str, message: str) -> None:
    with pytest.raises(ArgumentProblem) as caught:
        typed_arguments(schema, [(key, "x")])
    assert str(caught.value) == message
    assert caught.value.key == key


@pytest.mark.parametrize(
    "schema", [{}, True, {"additionalProperties": True, "properties": {"a": {}}}, {"patternProperties": {"^x": {}}}]
)
def test_l4_a_schema_that_invites_others_takes_any_key(schema: Any) -> None:
    assert typed_arguments(schema, [("xy", "1"), ("xz", "t")]) == {"xy": 1, "xz": "t"}


@given(st.text(max_size=12), st.text(st.sampled_from('0123456789.eE+-[]{}",:truefalsn '), max_size=12))
@settings(max_examples=examples(200), deadline=None)
def test_l4_any_text_is_typed_or_refused(key: str, text: str) -> None:
    for name in (key, *SCHEMA["properties"]):
        try:
            typed = typed_arguments(SCHEMA, [(name, text)])
        except ArgumentProblem as problem:
            assert str(problem)
        else:
            problems = Schema(SCHEMA).problems(typed)
            assert all(problem.pointer.count("/") > 1 for problem in problems)


@pytest.mark.parametrize("key", ["a." * 50_000 + "b", "x" * 100_000, "." * 100_000])
def test_hostile_keys_take_no_time(key: str) -> None:
    def typed() -> None:
        for schema in ({}, SCHEMA, {"properties": {"a": {"$ref": "#"}}}):
            try:
                typed_arguments(schema, [(key, "1")])
            except ArgumentProblem as problem:
                assert str(problem)

    assert is_quick(typed, 3)


def test_l4_the_inputs_in_words() -> None:
    schema = {
        "type": "object",
        "properties": {
            "text": {"type": "string", "default": "hi", "description": "What to\n say."},
            "count": {"type": "integer", "title": "How many"},
            "day": {"type": "string", "format": "date"},
            "tags": {"type": "array", "items": {"type": "string"}},
            "colour": {"enum": ["red", "green"]},
            "maybe": {"anyOf": [{"type": "number"}, {"type": "null"}]},
            "point": {"$ref": "#/$defs/point"},
            "any": {},
        },
        "allOf": [{"properties": {"extra": {"type": "boolean"}}, "required": ["extra"]}],
        "required": ["count"],
        "$defs": {"point": {"type": "object", "description": "A place.", "properties": {}}},
    }
    assert describe_inputs(schema) == (
        InputField("count", "integer", True, None, "How many"),
        InputField("extra", "boolean", True),
        InputField("text", "string", False, "hi", "What to say."),
        InputField("day", "string (date)"),
        InputField("tags", "list of string"),
        InputField("colour", 'one of "red" or "green"', enum=("red", "green")),
        InputField("maybe", "number or null"),
        InputField("point", "object", description="A place."),
        InputField("any", "any JSON"),
    )
    assert describe_inputs(True) == describe_inputs({}) == describe_inputs({"type": "string"}) == ()


def test_a_schema_of_alternatives_without_end_is_described() -> None:
    definitions = {f"a{n}": {"anyOf": [{"$ref": f"#/$defs/a{n + 1}"} for _ in range(50)]} for n in range(30)}
    schema = {"properties": {"x": {"$ref": "#/$defs/a0"}}, "$defs": {**definitions, "a30": {"type": "string"}}}
    assert describe_inputs(schema) == (InputField("x", "string"),)
    assert is_quick(lambda: describe_inputs(schema), 2)


def test_b12_a_list_with_commas_is_never_guessed() -> None:
    """L4. Repeating the key says that each text is one item."""
    schema = {"properties": {"tags": {"type": "array", "items": {"type": "string"}}}}
    with pytest.raises(ArgumentProblem) as caught:
        typed_arguments(schema, [("tags", "a, b")])
    assert 'write tags=\'["a", "b"]\' or tags=a tags=b; for one item with a comma tags=\'["a, b"]\'' in str(
        caught.value
    )
    assert typed_arguments(schema, [("tags", "a, b"), ("tags", "c")]) == {"tags": ["a, b", "c"]}
    assert typed_arguments(schema, [("tags", '["a, b"]')]) == {"tags": ["a, b"]}
    assert typed_arguments(schema, [("tags", "a")]) == {"tags": ["a"]}
