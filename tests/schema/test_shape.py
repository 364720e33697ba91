"""Schemas in front matter, judged at their place in the source (L4, L5, L9, LA2)."""

from __future__ import annotations

import pytest

from prosa.data import read_yaml
from prosa.schema import check_schema_shape
from tests.work import is_quick


def found(text: str) -> list[tuple[str, str]]:
    node = read_yaml(text, offset=100).node
    assert node is not None
    return [
        (problem.rule, text[problem.span.start - 100 : problem.span.end - 100]) for problem in check_schema_shape(node)
    ]


@pytest.mark.parametrize(
    ("text", "problems"),
    [
        ("type: object\nproperties:\n  a: {type: string}\nrequired: [a]\n", []),
        ("{type: [string, 'null']}", []),
        ("{enum: [a, b]}", []),
        ("{const: 1}", []),
        ("$ref: '#/$defs/a'\n$defs:\n  a: {type: string}\n", []),
        ("anyOf:\n- {type: string}\n- {minimum: 3}\n", []),
        ("type: object\nif: {required: [a]}\nthen: {required: [b]}\n", []),
        ("type: object\nadditionalProperties: {}\n", []),
        ("type: object\nproperties: {}\nrequired: [a]\nadditionalProperties: true\n", []),
        ("type: object\nrequired: [a]\n", []),
        ("type: string\nx-hint: 1\nmy-own-note: 2\n", []),
        ("{}", [("schema-without-type", "{}")]),
        ("true", [("schema-without-type", "true")]),
        ("properties: {a: {type: string}}", [("schema-without-type", "properties")]),
        (
            "type: object\nproperties:\n  a: {}\n  b: {description: x}\n",
            [("schema-without-type", "a"), ("schema-without-type", "b")],
        ),
        ("type: array\nitems: {}\n", [("schema-without-type", "items")]),
        ("type: objekt\n", [("bad-schema", "objekt")]),
        ("type: object\nrequired: a\n", [("bad-schema", "a")]),
        ("type: object\nproperties:\n  a:\n    type: string\n    minLength: '3'\n", [("bad-schema", "'3'")]),
        ("pattern: '('\n", [("bad-schema", "'('")]),
        ("properties:\n  a: {$ref: '#/$defs/x'}\n", [("bad-schema", "'#/$defs/x'")]),
        (
            "$schema: http://json-schema.org/draft-07/schema#\n",
            [("bad-schema", "http://json-schema.org/draft-07/schema#")],
        ),
        ("- 1\n", [("bad-schema", "- 1")]),
        ("just text", [("bad-schema", "just text")]),
        ("~", [("bad-schema", "~")]),
        ("minimum: .inf\n", [("bad-schema", ".inf")]),
        ("type: object\nrequierd: [a]\n", [("unknown-schema-keyword", "requierd")]),
        ("type: string\nmin_length: 3\n", [("unknown-schema-keyword", "min_length")]),
        ("type: array\nitem: {type: string}\n", [("unknown-schema-keyword", "item")]),
        ("type: objekt\npropertys: {}\n", [("bad-schema", "objekt"), ("unknown-schema-keyword", "propertys")]),
        (
            "type: object\nproperties: {name: {type: string}}\nrequired: [nmae]\n",
            [("required-without-property", "nmae")],
        ),
        (
            "type: object\nproperties: {a: {type: string}}\npatternProperties: {'^b': {type: string}}\nrequired: [b]\n",
            [],
        ),
        (
            "type: object\nproperties: {a: {type: string}}\nallOf: [{properties: {b: {const: 1}}}]\nrequired: [b]\n",
            [],
        ),
    ],
)
def test_l4_l5_l9_la2_problems_stand_at_their_place(text: str, problems: list[tuple[str, str]]) -> None:
    assert found(text) == problems


def test_la2_the_empty_schema_is_a_warning_about_the_type() -> None:
    node = read_yaml("{}").node
    assert node is not None
    (problem,) = check_schema_shape(node)
    assert problem.rule == "schema-without-type"
    assert "`type`" in problem.notes[0]


@pytest.mark.parametrize(
    ("text", "suggestion"),
    [
        ("type: object\nrequierd: [a]\n", "`required`"),
        ("type: string\nminlength: 3\n", "`minLength`"),
        ("type: object\nproperties: {name: {type: string}}\nrequired: [nmae]\n", "`name`"),
        ("type: strng\n", "`string`"),
    ],
)
def test_l9_near_misses_have_a_suggestion(text: str, suggestion: str) -> None:
    node = read_yaml(text).node
    assert node is not None
    (problem,) = check_schema_shape(node)
    assert f"did you mean {suggestion}?" in problem.message


@pytest.mark.parametrize(
    "text",
    [
        "type: object\n" + "".join(f"typo{number}: 1\n" for number in range(9_000)),
        "type: object\nproperties: {a: {type: string}}\nrequired: [" + ", ".join(f"a{n}" for n in range(9_000)) + "]\n",
        "type: object\nproperties:\n" + "".join(f"  p{number}: {{}}\n" for number in range(9_000)),
    ],
)
def test_large_schemas_take_no_time(text: str) -> None:
    node = read_yaml(text).node
    assert node is not None
    assert len(check_schema_shape(node)) <= 100
    assert is_quick(lambda: check_schema_shape(node), 5)
