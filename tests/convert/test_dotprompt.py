"""Prompt files: Handlebars and Go's templates say the same, and short schemas are JSON Schema (X31)."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from prosa.convert.convert import convert
from prosa.convert.form import Around
from prosa.convert.handlebars import escaped, from_handlebars, to_handlebars
from prosa.convert.picoschema import from_picoschema
from prosa.dialects.front import read_front
from prosa.source import SourceText
from prosa.template import Template

DATA = {"name": "Ada", "tags": ["a", "b"], "none": [], "deep": {"x-y": 1}, "on": True, "off": False}


@pytest.mark.parametrize(
    ("text", "rendered"),
    [
        ("Hello {{name}}, {{{name}}} and {{ deep.x-y }}.", "Hello Ada, Ada and 1."),
        ("{{#if on}}yes{{else}}no{{/if}}{{#unless on}}never{{/unless}}", "yes"),
        ("{{#if off}}a{{else if on}}b{{else}}c{{/if}}", "b"),
        ("{{#each tags}}{{this}}/{{../name}}/{{@root.name}} {{/each}}", "a/Ada/Ada b/Ada/Ada "),
        ("{{#each none}}x{{else}}empty{{/each}}", "empty"),
        ("{{#with deep}}{{x-y}}{{/with}}", "1"),
        ('{{#ifEquals name "Ada"}}same{{else}}other{{/ifEquals}}', "same"),
        ("a\n{{#if on}}\nb\n{{/if}}\nc\n", "a\nb\nc\n"),
        ("a {{~name~}} b", "aAdab"),
        ("a{{! note }}b{{!-- {{name}} --}}c", "abc"),
        ("\\{{name}} \\\\{{name}}", "{{name}} \\Ada"),
    ],
)
def test_x31_a_prompt_renders_as_it_did(text, rendered):
    (said,), acts, unknown = from_handlebars(text)
    assert (Template(said.text).render(DATA) if acts else said.text) == rendered
    assert unknown == ()


@pytest.mark.parametrize(
    "tag", ["{{json name}}", "{{history}}", "{{media url=name}}", "{{> part}}", "{{#each tags as |t|}}"]
)
def test_x31_what_has_no_counterpart_is_text_and_told(tag):
    (said,), _, unknown = from_handlebars(f"a {tag} b")
    assert unknown[0] == tag
    assert Template(said.text).render(DATA) == f"a {tag} b"


@pytest.mark.parametrize(
    "template",
    [
        "Hello {{ .name }}.\n",
        "{{ if .on }}\nyes\n{{ else }}no{{ end }}\n",
        "{{ range .tags }}\n{{ . }}: {{ $.name }}\n{{ end }}",
        "{{ if not .off }}x{{ end }}",
        '{{ "{{" }}name}} and \\{{ .name }}',
        "{{ with .deep }}{{ .x-y }}{{ end }}",
    ],
)
def test_x31_a_template_says_the_same_as_a_prompt(template):
    prompt = to_handlebars(template)
    assert prompt is not None
    (said,), _, unknown = from_handlebars(prompt)
    assert unknown == ()
    assert Template(said.text).render(DATA) == Template(template).render(DATA)


def test_x31_a_template_that_a_prompt_cannot_say_is_text_there_and_itself_again():
    program = "---\nname: a\ndescription: b\ninput: {type: object}\noutput: {type: object}\n---\n\n{{ upper .x }}\n"
    there = convert(SourceText(program, "a.md"), "program", "dotprompt", Around("a", "a.prompt"))
    assert "\\{{ upper .x }}" in there.text
    assert any(item.level == "manual" for item in there.report.items)
    back = convert(SourceText(there.text, "a.prompt"), "dotprompt", "program", Around("a", "a.md"))
    assert "{{ upper .x }}" in back.text


@settings(max_examples=150)
@given(text=st.text(alphabet="a{}\\ !\n#", max_size=12))
def test_x31_a_text_stays_a_text_in_a_prompt(text):
    said, acts, unknown = from_handlebars(escaped(text))
    assert "".join(each.text for each in said) == (text if text.strip() else "")
    assert (acts, unknown) == (False, ())


@pytest.mark.parametrize(
    ("short", "schema"),
    [
        ("string, who it is", {"type": "string", "description": "who it is"}),
        ({"a": "integer"}, {"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"]}),
        ({"a?": "string"}, {"type": "object", "properties": {"a": {"type": ["string", "null"]}}}),
        (
            {"a(array, all of them)": "any"},
            {
                "type": "object",
                "properties": {"a": {"type": "array", "items": {}, "description": "all of them"}},
                "required": ["a"],
            },
        ),
        ({"a(enum)": ["x"]}, {"type": "object", "properties": {"a": {"enum": ["x"]}}, "required": ["a"]}),
        ({"(*)": "number"}, {"type": "object", "properties": {}, "additionalProperties": {"type": "number"}}),
        ("Elsewhere", None),
        ({"a(list)": "string"}, None),
    ],
)
def test_x31_a_short_schema_is_json_schema(short, schema):
    if schema is not None and schema["type"] == "object":
        schema = {"additionalProperties": False, **schema}
    assert from_picoschema(short) == schema


def test_x31_roles_begin_messages_and_defaults_are_those_of_the_schema():
    prompt = (
        "# A licence\n---\nmodel: x/y\nconfig:\n  temperature: 0.5\n  topK: 3\n"
        "input:\n  schema:\n    name: string\n  default:\n    name: Ada\n---\n"
        '{{role "system"}}Be kind.\n{{role "user"}}I am {{name}}.\n'
    )
    there = convert(SourceText(prompt, "a.prompt"), "dotprompt", "chat", Around("a", "a.md"))
    assert (
        '% model = "x/y"\n% temperature = 0.5\n\n### @system:\n\nBe kind.\n\n### @user:\n\nI am {{ .name }}.\n'
        in there.text
    )
    assert convert(SourceText(there.text, "a.md"), "chat", "dotprompt", Around("a", "a.prompt")).text == prompt
    program = convert(SourceText(prompt, "a.prompt"), "dotprompt", "program", Around("a", "a.md"))
    given_schema = (read_front(SourceText(program.text)).value or {})["input"]
    assert given_schema["properties"]["name"] == {"type": "string", "default": "Ada"}
