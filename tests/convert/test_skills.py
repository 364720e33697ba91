"""A skill becomes a program by the steps of the specification, and stays what it was (L46, LA30)."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from prosa.convert.convert import Converted, convert
from prosa.convert.form import TargetContext
from prosa.convert.table import ROWS
from prosa.dialects.front import read_front
from prosa.source import SourceText
from prosa.template import Template
from tests.convert.documents import BODIES
from tests.depth import examples

URL_FETCHER = """\
# URL Fetcher

Fetches a URL and returns the status and content.

Parameters:

- url (required): The URL to fetch
- format (optional): Response format (json, xml, html, text)

Uses the fetch tool to make HTTP requests.
"""

PROGRAM = {
    "name": "url-fetcher",
    "description": "Fetches a URL and returns the status and content.",
    "input": {
        "type": "object",
        "properties": {
            "url": {"type": "string", "format": "uri"},
            "format": {"type": "string", "enum": ["json", "xml", "html", "text"], "default": "json"},
        },
        "required": ["url"],
    },
    "output": {
        "type": "object",
        "properties": {"status": {"type": "integer"}, "content": {"type": "string"}},
        "required": ["status", "content"],
    },
    "mcp_servers": [{"name": "fetch", "command": "uvx", "args": ["mcp-server-fetch"]}],
}


def to_program(text: str, **known: str) -> Converted:
    return convert(SourceText(text, "a/SKILL.md"), "skill", "program", TargetContext("a", "a.md", known))


def front_of(text: str) -> dict[str, object]:
    return read_front(SourceText(text)).value or {}


def body_of(text: str) -> str:
    return text[read_front(SourceText(text)).body.start :]


def skill(body: str, **fields: str) -> str:
    rest = "".join(f"{name.replace('_', '-')}: {value}\n" for name, value in fields.items())
    return f"---\nname: a\ndescription: Does a thing.\n{rest}---\n{body}"


def test_l46_the_example_of_the_specification_gives_its_front_matter():
    """L46, LA30: with a description, and the server that exists."""
    found = to_program(URL_FETCHER)
    assert front_of(found.text) == PROGRAM
    assert list(front_of(found.text)) == list(PROGRAM)


def test_l46_the_example_of_the_specification_gives_its_body():
    rendered = Template(body_of(to_program(URL_FETCHER).text)).render({"url": "https://a.example", "format": "xml"})
    assert rendered.strip() == (
        "# URL Fetcher\n\nFetches https://a.example and returns the status and content.\n\n"
        "Uses the fetch tool to make HTTP requests. Response format: xml."
    )


def test_la30_every_guess_is_reported():
    levels = {(item.level, item.part) for item in to_program(URL_FETCHER).report.items}
    assert {("guessed", "name"), ("guessed", "input"), ("guessed", "output"), ("guessed", "servers")} <= levels


def test_la30_an_unknown_result_is_a_text_and_something_to_do():
    found = to_program(skill("\nDo it.\n"))
    assert front_of(found.text)["output"] == {
        "type": "object",
        "properties": {"result": {"type": "string"}},
        "required": ["result"],
    }
    assert ("manual", "output") in {(item.level, item.part) for item in found.report.items}


def test_l46_arguments_become_a_parameter():
    found = to_program(skill("\nReview $ARGUMENTS now, and {{ this }}.\n"))
    assert front_of(found.text)["input"] == {
        "type": "object",
        "properties": {"arguments": {"type": "string"}},
        "required": ["arguments"],
    }
    assert Template(body_of(found.text)).render({"arguments": "x"}).startswith("\nReview x now, and {{ this }}.\n")


def test_l46_a_skill_that_calls_another_imports_its_program_where_there_is_one():
    body = "\nFirst /other, then `/third`, and see https://a.example/nope or a/b.\n"
    assert front_of(to_program(skill(body), other="./other.md").text)["imports"] == ["./other.md"]
    assert "imports" not in front_of(to_program(skill(body)).text)


@pytest.mark.parametrize(
    ("item", "schema"),
    [
        ("- n (integer, required): How many", {"type": "integer"}),
        ("- n (optional): How many, default 3", {"type": "string", "default": "3"}),
        ("- n (optional, integer): How many (default: 3)", {"type": "integer", "default": 3}),
        ("- `page_url`: Where", {"type": "string", "format": "uri"}),
        ("- n (optional, boolean): Whether, default true", {"type": "boolean", "default": True}),
        ("- n (required): One of them (a, b)", {"type": "string", "enum": ["a", "b"]}),
        ("- n (required): One of them (e.g. a, b)", {"type": "string"}),
    ],
)
def test_l46_parameters_have_the_type_that_their_item_says(item, schema):
    found = to_program(skill(f"\nParameters:\n\n{item}\n"))
    (given_schema,) = front_of(found.text)["input"]["properties"].values()
    assert given_schema == schema


def test_la30_what_no_server_is_known_for_is_to_be_done_by_hand():
    found = to_program(skill("\nDo it.\n", allowed_tools="WebFetch Bash(git:*)"))
    assert [each["name"] for each in front_of(found.text)["mcp_servers"]] == ["fetch"]
    assert any("`Bash(git:*)`" in item.message for item in found.report.items if item.level == "manual")


def test_x31_a_command_in_a_skill_is_text_and_pointed_at():
    found = to_program(skill("\nNow:\n\n!`touch /tmp/never`\n"))
    assert "!`touch /tmp/never`" in body_of(found.text)
    (item,) = [item for item in found.report.items if "no command is run" in item.message]
    assert (item.level, item.line) == ("manual", 8)


@settings(max_examples=examples(100))
@given(body=BODIES)
def test_x31_the_body_of_a_skill_is_in_the_rendered_program_byte_for_byte(body):
    """Without parameters; with them their list is gone and their mentions are filled in."""
    found = to_program(skill(body))
    names = front_of(found.text)["input"]["properties"]
    if set(names) == {"request"}:
        assert Template(body_of(found.text)).render({"request": "?"}).startswith(body)
    elif set(names) == {"arguments"}:
        assert Template(body_of(found.text)).render({"arguments": "$ARGUMENTS"}).startswith(body)
    else:
        assert names


def test_x31_an_edited_part_counts_and_the_rest_comes_back():
    program = to_program(skill("\nDo it.\n", license="MIT")).text.replace("description: Does", "description: Now does")
    back = convert(SourceText(program, "a.md"), "program", "skill", TargetContext("a", "a/SKILL.md"))
    assert back.text == skill("\nDo it.\n", license="MIT").replace("Does", "Now does")


def test_x31_a_program_as_a_skill_says_its_parameters_and_comes_back():
    program = (
        "---\nname: greet\ndescription: Greets.\ninput:\n  type: object\n  properties:\n    name:\n      type: string\n"
        "  required: [name]\noutput:\n  type: object\nmodel: gpt-4o\n---\n\nHello {{ .name }}.\n"
    )
    there = convert(SourceText(program, "greet.md"), "program", "skill", TargetContext("greet", "greet/SKILL.md"))
    assert "## Parameters\n\n- `name` (string, required)\n" in there.text
    assert convert(SourceText(there.text, "greet/SKILL.md"), "skill", "program", TargetContext("greet")).text == program


@settings(max_examples=examples(100))
@given(words=st.text(max_size=40))
def test_x31_no_carry_that_somebody_wrote_breaks_a_conversion(words):
    carry = '{"from": "x", "marks": {"section": 1}, "keep": {"input": 3, "roles": [1], "text/0": {"cut": "x"}}}'
    text = f"---\nname: a\ndescription: b\nmetadata:\n  prosa: '{carry}'\n---\n{words}"
    assert to_program(text).text


@pytest.mark.parametrize("key", ["text/a", "text/", f"text/{'1' * 5000}", "own/", "own/skill"])
def test_x31_parts_of_a_carry_that_are_none_are_left_out(key):
    carry = json.dumps({"from": "x", "keep": {key: "y"}, "added": [key], "says": {key: "0"}})
    found = to_program(f"---\nname: a\ndescription: b\nmetadata:\n  prosa: '{carry}'\n---\nHello.\n")
    assert "Hello." in found.text and not any(item.part == key for item in found.report.items)


@pytest.mark.parametrize("target", ["program", "agent", "chat", "ymj", "llm"])
def test_x31_a_skill_comes_back_to_the_byte(target):
    """Comments, quotes and the order of fields are its author's."""
    front = "# ours\nlicense: 'MIT'\nname:   a\nmetadata: {n: 1.10}\ndescription: >-\n  Does\n  this.\n"
    text = f"---\n{front}---\nDo {{{{ it }}}}.\n"
    there = convert(SourceText(text, "a/SKILL.md"), "skill", target, TargetContext("a", ROWS[target].path("a")))
    back = convert(SourceText(there.text, ROWS[target].path("a")), target, "skill", TargetContext("a", "a/SKILL.md"))
    assert back.text == text


MDA = "---\nname: pdf-tools\ndescription: Reads PDFs.\ndoc-id: 550e8400-e29b-41d4-a716-446655440000\n---\n\nDo it.\n"


@pytest.mark.parametrize("form", ["skill", "program"])
def test_x31_a_document_that_has_a_name_and_an_id_keeps_its_name(form):
    there = convert(SourceText(MDA, "a.mda"), "magi", form, TargetContext("a", ROWS[form].path("a")))
    assert front_of(there.text)["name"] == "pdf-tools"
    assert not [each for each in there.report.items if each.part == "name"]
    back = convert(SourceText(there.text, ROWS[form].path("a")), form, "magi", TargetContext("a", "a.mda"))
    assert back.text == MDA
    edited = there.text.replace("name: pdf-tools", "name: pdf-kit", 1)
    back = convert(SourceText(edited, ROWS[form].path("a")), form, "magi", TargetContext("a", "a.mda"))
    assert front_of(back.text)["name"] == "pdf-kit"
