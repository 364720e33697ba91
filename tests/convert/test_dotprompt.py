"""Prompt files: Handlebars and Go's templates say the same, and short schemas are JSON Schema (X31)."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from prosa.convert.convert import convert
from prosa.convert.dotprompt import from_picoschema
from prosa.convert.form import TargetContext
from prosa.convert.guess import taken_by
from prosa.convert.handlebars import escaped, from_handlebars, to_handlebars
from prosa.convert.table import form_in
from prosa.data import to_value
from prosa.dialects.front import read_front
from prosa.rules.engine import check_text
from prosa.schema import Schema
from prosa.source import SourceText
from prosa.template import Template, undeclared
from tests.depth import examples

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
    there = convert(SourceText(program, "a.md"), "program", "dotprompt", TargetContext("a", "a.prompt"))
    assert "\\{{ upper .x }}" in there.text
    assert any(item.level == "manual" for item in there.report.items)
    back = convert(SourceText(there.text, "a.prompt"), "dotprompt", "program", TargetContext("a", "a.md"))
    assert "{{ upper .x }}" in back.text


@settings(max_examples=examples(150))
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
    there = convert(SourceText(prompt, "a.prompt"), "dotprompt", "chat", TargetContext("a", "a.md"))
    assert (
        '% model = "x/y"\n% temperature = 0.5\n\n### @system:\n\nBe kind.\n\n### @user:\n\nI am {{ .name }}.\n'
        in there.text
    )
    assert convert(SourceText(there.text, "a.md"), "chat", "dotprompt", TargetContext("a", "a.prompt")).text == prompt
    program = convert(SourceText(prompt, "a.prompt"), "dotprompt", "program", TargetContext("a", "a.md"))
    given_schema = (read_front(SourceText(program.text)).value or {})["input"]
    assert given_schema["properties"]["name"] == {"type": "string", "default": "Ada"}


@pytest.mark.parametrize(
    ("name", "text", "form"),
    [
        ("a.prompt", "{{#if a}}x{{/if}}\n", "dotprompt"),
        ("a.prompt", '{"a": 1}', "dotprompt"),
        ("a.agent.md", "[x](y)", "agent"),
        ("AGENTS.md", "{{ x }}", "instructions"),
        ("a.json", "[]", "openai"),
        ("a", "[]", "openai"),
        ("a.json", '[{"response": 1}]', "llm"),
    ],
)
def test_x3_the_name_decides_the_form_before_the_shape(name, text, form):
    assert form_in(SourceText(text, name)) == form


TEXT = {"type": "string"}


@pytest.mark.parametrize(
    ("prompt", "properties"),
    [
        ("{{name}} {{{other}}}", {"name": TEXT, "other": TEXT}),
        ("{{#each items}}x{{/each}}", {"items": {"type": "array"}}),
        ("{{#each items}}{{this}}{{/each}}", {"items": {"type": "array", "items": TEXT}}),
        (
            "{{#each items}}{{name}} {{#each tags}}{{@root.sep}}{{/each}}{{/each}}",
            {
                "items": {
                    "type": "array",
                    "items": {
                        "type": "object",
                        "properties": {"name": TEXT, "tags": {"type": "array"}},
                    },
                },
                "sep": TEXT,
            },
        ),
        ("{{#if on}}a{{/if}}{{#unless off}}b{{/unless}}", {"on": {}, "off": {}}),
        ("{{#if on}}{{on}}{{/if}}", {"on": TEXT}),
        ("{{#if xs}}{{#each xs}}x{{/each}}{{/if}}", {"xs": {"type": "array"}}),
        ("{{#ifEquals a b}}{{a}}{{/ifEquals}}", {"a": {}, "b": {}}),
        (
            "{{user.name}} {{user.home.city}}",
            {
                "user": {
                    "type": "object",
                    "properties": {"name": TEXT, "home": {"type": "object", "properties": {"city": TEXT}}},
                }
            },
        ),
        ("{{#with user}}{{name}}{{/with}}", {"user": {"type": "object", "properties": {"name": TEXT}}}),
        ("{{x}}{{#each x}}{{/each}}", {"x": {}}),
    ],
)
def test_x31_the_position_of_a_variable_decides_the_type_of_the_input(prompt, properties):
    there = program_of(prompt)
    assert there["input"] == {"type": "object", "properties": properties}


def test_x31_a_default_without_a_schema_is_the_default_of_the_guessed_property():
    prompt = "---\ninput:\n  default: {name: User, on: true, n: null}\n---\nHello, {{name}} {{other}}!\n"
    assert program_of(prompt)["input"]["properties"] == {
        "name": {"type": "string", "default": "User"},
        "on": {"type": "boolean", "default": True},
        "n": {"default": None},
        "other": TEXT,
    }
    there = convert(SourceText(prompt, "a.prompt"), "dotprompt", "program", TargetContext("a", "a.md"))
    assert (
        convert(SourceText(there.text, "a.md"), "program", "dotprompt", TargetContext("a", "a.prompt")).text == prompt
    )


@pytest.mark.parametrize("prompt", ["Say hello.\n", '{{role "system"}}Be kind.\n', "{{! note }}Say hello.\n"])
def test_x31_a_prompt_without_variables_takes_no_request(prompt):
    there = convert(SourceText(prompt, "a.prompt"), "dotprompt", "program", TargetContext("a", "a.md"))
    assert program_of(prompt)["input"] == {"type": "object", "properties": {}}
    assert "request" not in there.text.lower()


@pytest.mark.parametrize("form", ["program", "skill", "agent", "mdh", "ymj", "instructions"])
@pytest.mark.parametrize(
    "prompt", ["Hello, {{name}}!\n", "# A {{kind}} letter\n\n{{#if a}}b{{/if}}\n", "{{json this}}"]
)
def test_x31_no_title_or_description_holds_the_text_of_a_template(form, prompt):
    there = convert(SourceText(prompt, "a.prompt"), "dotprompt", form, TargetContext("a", "a.md"))
    fields = to_value(read_front(SourceText(there.text)).fields)
    assert not any("{" in str(fields.get(name)) for name in ("name", "title", "description", "doc_summary"))


def program_of(prompt):
    there = convert(SourceText(prompt, "a.prompt"), "dotprompt", "program", TargetContext("a", "a.md"))
    found = check_text(SourceText(there.text, "a.md"), dialect="markdownlang").diagnostics
    assert {each.rule for each in found} <= {"schema-without-type", "unused-input"}
    return to_value(read_front(SourceText(there.text)).fields)


ANY = st.none() | st.booleans() | st.integers() | st.text(max_size=3) | st.lists(st.integers(), max_size=2)


@st.composite
def prompts(draw, depth=0):
    """A prompt, and data of the types that its tags go by."""
    parts, data = [], {}
    for name in draw(st.lists(st.sampled_from("abcd"), unique=True, max_size=3)):
        kind = draw(st.sampled_from(["text", "if", "equals", *(["each", "with", "path"] if depth < 3 else [])]))
        inner, values = draw(prompts(depth + 1)) if kind in ("each", "with") else ("", {})
        if kind == "text":
            parts.append(f"{{{{{name}}}}}")
            data[name] = draw(st.text(max_size=3))
        elif kind == "path":
            parts.append(f"{{{{#if {name}.x}}}}{{{{{name}.x}}}}{{{{/if}}}}")
            data[name] = {"x": draw(st.text(max_size=3))}
        elif kind == "each":
            parts.append(f"{{{{#each {name}}}}}{inner}{{{{/each}}}}")
            data[name] = [values] * draw(st.integers(0, 2))
        elif kind == "with":
            parts.append(f"{{{{#with {name}}}}}{inner}{{{{/with}}}}")
            data[name] = values
        else:
            tag = f"ifEquals {name} {name}" if kind == "equals" else f"if {name}"
            parts.append(f"{{{{#{tag}}}}}x{{{{/{tag.split()[0]}}}}}")
            data[name] = draw(ANY)
    return "-".join(parts), data


@settings(max_examples=examples(150))
@given(made=prompts())
def test_x31_the_guessed_input_accepts_what_the_tags_go_by(made):
    prompt, data = made
    (said,), acts, _ = from_handlebars(prompt)
    guessed = {"type": "object", "properties": taken_by(Template(said.text)) if acts else {}}
    assert Schema(guessed).problems(data) == []
    if acts:
        assert undeclared(Template(said.text), guessed) == ()
