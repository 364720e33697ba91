"""What an absent name is (X13, LA20): nothing and false, with a schema and without."""

from __future__ import annotations

from typing import Any

import pytest

from prosa.schema import fill_defaults
from prosa.template import Template, TemplateError

OPEN: dict[str, Any] = {
    "type": "object",
    "properties": {
        "name": {"type": "string"},
        "tone": {"type": "string", "default": "plain"},
        "limits": {"type": "object", "properties": {"words": {"type": "integer", "default": 100}}},
        "items": {"type": "array", "items": {"type": "object", "properties": {"id": {}}}},
    },
}
CLOSED = {**OPEN, "additionalProperties": False}


@pytest.mark.parametrize("schema", [None, True, {}, OPEN, CLOSED])
def test_x13_la20_a_declared_name_that_the_input_lacks_prints_nothing_and_is_false(schema: Any) -> None:
    template = Template(
        "[{{.name}}][{{if .name}}yes{{else}}no{{end}}][{{.limits.words}}][{{range .items}}{{.id}}{{end}}]"
    )
    assert template.render({}, schema=schema) == "[][no][][]"
    assert template.render({"items": [{}, {"id": 1}]}, schema=schema) == "[][no][][1]"


def test_x13_defaults_are_filled_in_before_rendering() -> None:
    template = Template("{{.tone}} {{.limits.words}}")
    data = fill_defaults(CLOSED, {"limits": {}})
    assert template.render(data, schema=CLOSED) == "plain 100"
    assert template.render(fill_defaults(CLOSED, {"tone": "", "limits": {"words": 0}}), schema=CLOSED) == " 0"


def test_x13_an_undeclared_name_is_decided_by_the_data_where_the_schema_is_open() -> None:
    template = Template("[{{.other}}][{{if .other}}yes{{end}}]")
    assert template.render({}, schema=OPEN) == "[][]"
    assert template.render({"other": "here"}, schema=OPEN) == "[here][yes]"


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("a\n {{.nmae}}", "nmae"),
        ("a\n {{if false}}{{.nmae}}{{end}}", "nmae"),
        ("a\n {{$.nmae}}", "nmae"),
        ('a\n {{index . "nmae"}}', "nmae"),
        ("a\n {{with .}}{{.nmae}}{{end}}", "nmae"),
    ],
)
def test_x13_an_undeclared_name_stops_a_run_where_the_schema_is_closed(text: str, name: str) -> None:
    with pytest.raises(TemplateError) as caught:
        Template(text).render({name: "even if it were there"}, schema=CLOSED)
    assert caught.value.line == 2
    assert name in caught.value.message
    assert "did you mean .name?" in caught.value.message


def test_x13_a_closed_part_of_an_open_schema_stops_a_run_too() -> None:
    schema = {"properties": {"who": {"type": "object", "properties": {"first": {}}, "additionalProperties": False}}}
    assert Template("{{.other}}{{.who.first}}").render({"who": {"first": "Ada"}}, schema=schema) == "Ada"
    with pytest.raises(TemplateError, match=r"who\.last"):
        Template("{{.who.last}}").render({"who": {"first": "Ada"}}, schema=schema)


@pytest.mark.parametrize("value", [None, {}])
def test_x13_a_step_through_null_or_an_absent_value_is_absent(value: Any) -> None:
    template = Template("[{{.a.b.c.d}}][{{(.a.b).c}}][{{with $x := .a.b.c}}{{else}}{{$x.d}}{{end}}]")
    assert template.render({"a": value}) == "[][][]"
    assert Template('[{{index .a "b" "c"}}]').render({"a": value}) == "[]"


@pytest.mark.parametrize("value", ["text", 1, 0, 1.5, True, False, [], [1]])
def test_x13_a_step_into_a_scalar_or_a_list_is_an_error(value: Any) -> None:
    with pytest.raises(TemplateError, match="steps into") as caught:
        Template("one\ntwo {{.a.b}}").render({"a": value})
    assert (caught.value.line, caught.value.column, caught.value.fragment) == (2, 7, ".a.b")


def test_x12_x13_null_prints_null_and_an_absent_value_nothing() -> None:
    template = Template("{{.v}}|{{print .v}}|{{if .v}}yes{{else}}no{{end}}|{{.v | default 5}}")
    assert template.render({"v": None}) == "null|null|no|5"
    assert template.render({}) == "||no|5"


def test_x13_absent_is_false_to_every_construct() -> None:
    text = (
        "{{with .x}}w{{else}}W{{end}}{{range .x}}r{{else}}R{{end}}{{not .x}}{{or .x 1}}{{and .x 1}}"
        '{{eq .x nil}}{{eq .x ""}}{{len .x}}{{join .x ","}}{{slice .x 0 2}}{{upper .x}}{{title .x}}'
    )
    assert Template(text).render({}) == "WRtrue1truefalse0"


def test_x13_a_template_without_an_argument_has_nothing() -> None:
    assert Template('{{define "t"}}[{{.}}{{.a}}{{$.a}}]{{end}}{{template "t"}}').render({"a": 1}) == "[]"
