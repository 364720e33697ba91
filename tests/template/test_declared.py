"""Which names a schema declares (X13), and which of a template's names it does not."""

from __future__ import annotations

from typing import Any

import pytest

from prosa.schema.declared import MAX_PARTS, Declarations
from prosa.template import Template, undeclared
from prosa.template.analyse import MAX_SUGGESTIONS

A = {"properties": {"a": {}}}
B = {"properties": {"b": {}}}
LEAF = {"type": "string"}


def missing(schema: Any, *path: str | None) -> str | None:
    found = Declarations(schema).missing(path)
    return found.name if found else None


@pytest.mark.parametrize(
    "schema", [{}, True, {"type": "object"}, {"title": "any"}, {"required": ["z"]}, {"type": ["object", "null"]}]
)
def test_x13_a_schema_with_no_names_declares_everything(schema: Any) -> None:
    assert missing(schema, "a") is None
    assert missing(schema, "a", "b", None, "c") is None


@pytest.mark.parametrize(
    "schema",
    [
        A,
        {"$ref": "#/$defs/a", "$defs": {"a": A}},
        {"$ref": "#here", "$defs": {"a": {"$anchor": "here", **A}}},
        {"$dynamicRef": "#here", "$defs": {"a": {"$dynamicAnchor": "here", **A}}},
        {"$ref": "#/$defs/with~1slash", "$defs": {"with/slash": A}},
        {"$ref": "#/$defs/a%20b", "$defs": {"a b": A}},
        {"$ref": "#/allOf/1", "allOf": [B, A]},
        {"allOf": [B, A]},
        {"anyOf": [A, B]},
        {"oneOf": [B, A]},
        {"if": B, "then": A, "properties": {}},
        {"if": B, "else": A, "properties": {}},
        {"patternProperties": {"^[a-m]$": {}}},
        {"allOf": [{"anyOf": [{"oneOf": [{"then": A}]}]}]},
        {
            "properties": {},
            "allOf": [{"$ref": "#/$defs/x"}],
            "$defs": {"x": {"then": {"patternProperties": {"^a": {}}}}},
        },
    ],
)
def test_x13_declared_is_what_these_keywords_reach(schema: Any) -> None:
    assert missing(schema, "a") is None
    assert missing(schema, "zz") == "zz"


def test_x13_a_name_that_only_a_condition_mentions_is_not_declared() -> None:
    assert missing({"properties": {"a": {}}, "if": {"properties": {"kind": {"const": 1}}}}, "kind") == "kind"


@pytest.mark.parametrize(
    ("schema", "path", "expected"),
    [
        ({"properties": {"a": {**B}}}, ("a", "b"), None),
        ({"properties": {"a": {**B}}}, ("a", "c"), "c"),
        ({"properties": {"a": {}}}, ("a", "anything", "below"), None),
        ({"properties": {"a": True}}, ("a", "anything"), None),
        ({"properties": {"l": {"items": B}}}, ("l", None, "b"), None),
        ({"properties": {"l": {"items": B}}}, ("l", None, "c"), "c"),
        ({"properties": {"l": {"type": "array"}}}, ("l", None, "c"), None),
        ({"properties": {"l": {"prefixItems": [A, B]}}}, ("l", None, "b"), None),
        ({"properties": {"m": {"additionalProperties": B}}}, ("m", "any", "b"), None),
        ({"properties": {"m": {"additionalProperties": B}}}, ("m", "any", "c"), "c"),
        ({"properties": {"m": {"additionalProperties": B}}}, ("m", None, "c"), "c"),
        ({"properties": {"m": A}}, ("m", None, "x"), None),
        ({"properties": {"s": LEAF}}, ("s", "x"), "x"),
        ({"properties": {"s": LEAF}}, ("s", None), "[]"),
        ({"properties": {"n": {"type": ["object", "null"]}}}, ("n", "x"), None),
        ({"patternProperties": {"^x": B}}, ("x1", "c"), "c"),
        ({"properties": {"tree": {"$ref": "#"}}}, ("tree", "tree", "tree", "x"), "x"),
        ({"properties": {"k": {"items": {"$ref": "#/properties/k"}, **B}}}, ("k", None, None, "b"), None),
    ],
)  # fmt: skip
def test_x13_declarations_reach_into_members_and_elements(schema: Any, path: Any, expected: str | None) -> None:
    assert missing(schema, *path) == expected


@pytest.mark.parametrize(
    ("schema", "closed"),
    [
        (A, False),
        ({**A, "additionalProperties": True}, False),
        ({**A, "additionalProperties": False}, True),
        ({**A, "unevaluatedProperties": False}, True),
        ({"allOf": [A, {**B, "additionalProperties": False}]}, True),
        ({"$ref": "#/$defs/x", "$defs": {"x": {**A, "additionalProperties": False}}}, True),
        ({"anyOf": [{**A, "additionalProperties": False}, {**B, "additionalProperties": False}]}, True),
        ({"anyOf": [{**A, "additionalProperties": False}, B]}, False),
        ({"oneOf": [{**A, "additionalProperties": False}]}, True),
    ],
)
def test_x13_a_name_is_impossible_where_additional_properties_are_refused(schema: Any, closed: bool) -> None:
    found = Declarations(schema).missing(("zz",))
    assert found is not None
    assert found.closed is closed


@pytest.mark.parametrize(
    "schema",
    [
        {"$ref": "https://example.org/elsewhere"},
        {"$ref": "#/nowhere"},
        {"$ref": "#nowhere"},
        {"$ref": "#/allOf/" + "9" * 5000, "allOf": [A]},
        {"$ref": 5},
        {"$ref": "#"},
        {"anyOf": [A, {}]},
        {"anyOf": [A, True]},
    ],
)
def test_x13_what_cannot_be_known_declares_everything(schema: Any) -> None:
    assert missing(schema, "zz") is None


def test_a_schema_that_refers_to_itself_in_many_ways_takes_no_time() -> None:
    knot: dict[str, Any] = {"properties": {"a": {}}}
    for key in ("allOf", "anyOf", "oneOf"):
        knot[key] = [{"$ref": "#"}, {"$ref": "#/$defs/x"}] * 20
    knot["$defs"] = {"x": {"allOf": [{"$ref": "#"}] * 40, "anyOf": [{"$ref": "#/$defs/x"}] * 40}}
    assert missing(knot, "a", "b") is None
    assert missing(knot, "zz") == "zz"


def test_schemas_larger_than_the_limits_declare_everything() -> None:
    wide = {"anyOf": [{"properties": {f"n{number}": {}}} for number in range(MAX_PARTS + 1)]}
    assert missing(wide, "zz") is None
    assert missing({"patternProperties": {f"^x{number}$": {} for number in range(200)}}, "zz") is None
    chain = {f"d{number}": {"allOf": [{"$ref": f"#/$defs/d{number + 1}"}]} for number in range(400)}
    assert missing({"$ref": "#/$defs/d0", "$defs": {**chain, "d400": A}}, "zz") == "zz"


SCHEMA: dict[str, Any] = {
    "properties": {
        "name": {"type": "string"},
        "who": {"properties": {"first": {}}, "additionalProperties": False},
        "rows": {"items": {"properties": {"id": {}, "cells": {"items": {"properties": {"text": {}}}}}}},
        "my-key": {"properties": {"in": {}}},
        "free": {},
    }
}


CELL = "rows.[].cells.[].no"


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("{{.name}}{{.who.first}}{{.free.any.thing}}{{.my-key.in}}", []),
        ("{{.nam}}", ["nam"]),
        ("{{.who.last}}", ["who.last"]),
        ("{{with .who}}{{.first}}{{.last}}{{$.nam}}{{end}}", ["who.last", "nam"]),
        ("{{range .rows}}{{.id}}{{.no}}{{range .cells}}{{.text}}{{.no}}{{end}}{{end}}", ["rows.[].no", CELL]),
        ("{{range $i, $r := .rows}}{{$r.id}}{{$r.no}}{{$i.no}}{{end}}", ["rows.[].no"]),
        ("{{$w := .who}}{{$w.last}}{{$w = .rows}}", ["who.last"]),
        ("{{$w := .who}}{{if .name}}{{$w = .my-key}}{{end}}{{$w.in}}", ["who.in"]),
        ("{{(.who).last}}", ["who.last"]),
        ('{{index .who "last"}}{{index .rows 0 "no"}}{{(index .rows 1).no}}', ["who.last", "rows.[].no", "rows.[].no"]),
        ('{{.nam | default "x"}}{{(.who | default .my-key).in}}', ["nam", "who.in"]),
        ("{{if .nam}}{{else if .who.last}}{{else}}{{.no}}{{end}}", ["nam", "who.last", "no"]),
        ("{{range slice .rows 0 5}}{{.no}}{{end}}{{range .rows | slice 0 5}}{{.no}}{{end}}", ["rows.[].no"] * 2),
        ('{{define "t"}}{{.last}}{{$.first}}{{end}}{{template "t" .who}}', ["who.last"]),
        ('{{define "t"}}{{.last}}{{end}}', []),
        ('{{define "t"}}{{.first}}{{end}}{{template "t" .who}}{{template "t" .}}', ["first"]),
        ('{{define "t"}}{{.x}}{{end}}{{template "t"}}', []),
        ('{{block "b" .who}}{{.last}}{{end}}', ["who.last"]),
        (
            """{{define "t"}}{{range .cells}}{{template "t" .}}{{.no}}{{end}}{{end}}
            {{range .rows}}{{template "t" .}}{{end}}""",
            [CELL, "rows.[].cells.[].cells"],
        ),
        ("{{print (len .nam) | printf .pattern}}", ["nam", "pattern"]),
        ("{{(split .name).no}}{{(print .who).no}}", []),
        ("{{.name.x}}", ["name.x"]),
        ("{{with .nam}}{{.x}}{{.y.z}}{{end}}{{$n := .nam}}{{$n.x}}", ["nam", "nam"]),
        ("{{range .name}}{{.x}}{{end}}", ["name.[]"]),
    ],
)  # fmt: skip
def test_x13_undeclared_names_of_a_template(text: str, names: list[str]) -> None:
    """X13, LA25: lookups are followed through variables, with, range, index and named templates."""
    assert sorted(found.name for found in undeclared(Template(text), SCHEMA)) == sorted(names)


def test_x13_an_undeclared_name_has_its_place_and_a_suggestion() -> None:
    text = "a {{.who.fisrt}} {{ .naem }} {{.entirely_different}}"
    *near, third = undeclared(Template(text), SCHEMA)
    assert [(each.name, each.span.of(text), each.closed, each.suggestion) for each in near] == [
        ("who.fisrt", ".who.fisrt", True, "first"),
        ("naem", ".naem", False, "name"),
    ]
    assert third.suggestion is None


@pytest.mark.parametrize("schema", [True, False, {}])
def test_x13_a_schema_without_names_leaves_nothing_undeclared(schema: Any) -> None:
    assert undeclared(Template("{{.anything}}{{.goes.here}}"), schema) == ()


def test_suggestions_are_made_for_so_many_names_only() -> None:
    template = Template("".join(f"{{{{.name{number}x}}}}" for number in range(2 * MAX_SUGGESTIONS)))
    found = undeclared(template, SCHEMA)
    assert len(found) == 2 * MAX_SUGGESTIONS
    assert sum(1 for each in found if each.suggestion) == MAX_SUGGESTIONS


def test_x13_a_variable_of_one_branch_is_none_of_the_other():
    text = "{{ $v := .a }}{{ if .no }}{{ $v := .b }}{{ else }}{{ $v.x }}{{ end }}"
    assert [use.path for use in Template(text).uses] == [("a",), ("no",), ("b",), ("a", "x")]
    text = "{{ $v := .a }}{{ range .no }}{{ $v := .b }}{{ else }}{{ $v.x }}{{ end }}"
    assert Template(text).uses[-1].path == ("a", "x")
