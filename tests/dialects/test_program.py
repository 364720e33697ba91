"""Reading a program: every field with its place, every mistake at once, never an exception."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from prosa.dialects.markdownlang.as_dialect import facts
from prosa.dialects.markdownlang.model import ProgramModel
from prosa.dialects.markdownlang.read import read
from prosa.source import SourceText
from tests.depth import examples
from tests.work import is_linear

FULL = """\
---
name: report
description: Writes a report
input:
  type: object
  properties:
    topic: {type: string}
    depth: {type: integer, default: 2}
output: {type: object, properties: {text: {type: string}}, required: [text]}
imports:
  - ./search.md
  - "../tools/check.md"
mcp_servers:
  - name: files
    command: npx
    args: ["-y", server, 1.10]
    env: {TOKEN: "${TOKEN}", PORT: 0080}
  - name: web
    url: https://example.org/mcp
    transport: sse
    disabled: true
model: small-model
python: {timeout: 45s, memory: 64MB}
limits: {iterations: 20, timeout: 2m, retries: 0, tool_result: 16KB, concurrency: 2}
---
# Report

Write about {{ .topic }}, {{ range .depth }}deeper{{ end }}, {{ .topic | upper }}.
"""


def model_of(text: str, path: str = "folder/report.md") -> ProgramModel:
    return read(SourceText(text, path))[0]


def test_an_item_of_the_wrong_type_hides_no_other():
    """What is right of a list is read, so that its imports are followed and its servers judged."""
    text = "---\nname: a\nimports: [./b.md, [c]]\nmcp_servers: [x, {name: y, comand: z}]\noutput: {}\n---\nHi\n"
    model, problems = read(SourceText(text, "a.md"))
    assert [each.text for each in model.imports] == ["./b.md"]
    assert [each.name for each in model.mcp_servers] == ["y"]
    assert [each.rule for each in problems].count("wrong-type") == 2
    assert any("comand" in each.message for each in problems)


def rules_of(text: str) -> list[str]:
    return [problem.rule for problem in read(SourceText(text, "p.md"))[1]]


def test_l1_l2_l3_l4_l5_l8_all_fields_are_read():
    """L1, L2, L3, L4, L5, L8."""
    model, problems = read(SourceText(FULL, "folder/report.md"))
    assert problems == ()
    assert (model.name, model.description, model.model_name) == ("report", "Writes a report", "small-model")
    assert model.input.value["properties"]["depth"] == {"type": "integer", "default": 2}
    assert model.output.value["required"] == ["text"]
    assert model.body.startswith("# Report\n")
    assert FULL[model.body_offset :] == model.body
    assert model.file_name == "report.md"
    assert not model.derived_description


def test_l6_imports_have_spans():
    """L6."""
    model = model_of(FULL)
    assert [(each.text, each.span.of(FULL)) for each in model.imports] == [
        ("./search.md", "./search.md"),
        ("../tools/check.md", '"../tools/check.md"'),
    ]


def test_l7_l18_la9_la10_servers():
    """L7, L18, LA9, LA10. A number in `args` or `env` is its text (X1)."""
    files, web = model_of(FULL).mcp_servers
    assert (files.name, files.command, files.args) == ("files", "npx", ("-y", "server", "1.10"))
    assert files.env == {"TOKEN": "${TOKEN}", "PORT": "0080"}
    assert (files.url, files.transport, files.disabled) == (None, "auto", False)
    assert (web.url, web.transport, web.disabled, web.command) == ("https://example.org/mcp", "sse", True, None)
    assert web.url_span.of(FULL) == "https://example.org/mcp"
    assert files.name_span.of(FULL) == "files"


def test_l7_l21_the_tools_of_a_server_are_named():
    """What is left out is None: the server knows it."""
    text = FULL.replace(
        "    disabled: true\n",
        "    tools:\n"
        "      - {name: get, description: Gets., parameters: {type: object, required: [url]}, read-only: true}\n"
        "      - name: put\n",
    )
    files, web = model_of(text).mcp_servers
    assert files.tools is None
    get, put = web.tools
    assert (get.name, get.description, get.read_only) == ("get", "Gets.", True)
    assert get.parameters == {"type": "object", "required": ["url"]}
    assert (put.name, put.description, put.parameters, put.read_only) == ("put", None, None, None)
    assert facts(model_of(text))["mcp_servers"][1]["tools"][1] == {"name": "put"}
    assert problems_of(text) == []


@pytest.mark.parametrize(
    ("tools", "rule", "words"),
    [
        ("[get]", "wrong-type", "an item of `tools` must be a mapping, not a string"),
        ("get", "wrong-type", "`tools` must be a list of mappings, not a string"),
        ("[{description: x}]", "missing-field", "`tools.name` is missing: a tool of an MCP server needs a string"),
        ("[{name: a, params: {}}]", "unknown-field", "`params` is not a field of a tool of an MCP server"),
        ("[{name: a}, {name: a}]", "wrong-form", "`tools` names `a` twice"),
        ("[{name: a, parameters: x}]", "wrong-type", "`tools.parameters` must be a mapping, not a string"),
        ("[{name: a, parameters: {type: array}}]", "wrong-form", "the `type` of `tools.parameters` is `object`"),
        ("[{name: a, parameters: {properties: {b: {type: strin}}}}]", "bad-schema", "strin"),
        ("[{name: a, read_only: maybe}]", "wrong-type", "`tools.read_only` must be true or false"),
    ],
)
def test_l7_l21_what_is_wrong_with_a_named_tool_is_told_at_its_place(tools: str, rule: str, words: str):
    text = FULL.replace("    disabled: true\n", f"    tools: {tools}\n")
    ((found, message),) = problems_of(text)
    assert found == rule
    assert words in message


def problems_of(text: str) -> list[tuple[str, str]]:
    _, problems = read(SourceText(text, "report.md"))
    return [(each.rule, each.message) for each in problems]


def test_la7_la19_x9_limits():
    """LA7, LA19, X9."""
    limits = model_of(FULL).limits
    assert (limits.python_timeout, limits.python_memory) == (45.0, 64 << 20)
    assert (limits.iterations, limits.wall_clock, limits.retries) == (20, 120.0, 0)
    assert (limits.tool_result, limits.concurrency) == (16 << 10, 2)


def test_x9_a_document_cannot_raise_a_limit_above_its_ceiling():
    """X9. The ceiling is used and the cut is reported."""
    asked = "limits: {iterations: 999, timeout: 1h, concurrency: 99}"
    text = f"---\nname: a\npython: {{timeout: 1h, memory: 9GB}}\n{asked}\n---\n"
    limits = model_of(text).limits
    assert (limits.python_timeout, limits.python_memory, limits.iterations) == (300.0, 512 << 20, 50)
    assert (limits.wall_clock, limits.concurrency) == (600.0, 8)
    assert rules_of(text).count("limit-above-ceiling") == 5


def test_x1_a_string_field_takes_the_source_text():
    """X1."""
    model = model_of("---\nname: 1.10\ndescription: 2026-11-20\nmodel: 0x10\n---\n")
    assert (model.name, model.description, model.model_name) == ("1.10", "2026-11-20", "0x10")


@pytest.mark.parametrize(
    ("body", "description"),
    [
        ("# The Heading\n\nText.", "The Heading"),
        ("Text before.\n\n# The Heading", "The Heading"),
        ("One\nparagraph of *text*.\n\nAnother.", "One paragraph of *text*."),
        ("# Greet {{ .name }} now", "Greet now"),
        ("# {{ .name }}\n\nGreet them.", "Greet them."),
        ("```\n# no\n```", "report"),
        ("", "report"),
        ("{{ if }}", "{{ if }}"),
    ],
)
def test_la1_a_missing_description_is_derived(body: str, description: str):
    """LA1. First heading, else first paragraph, else the name."""
    model = model_of(f"---\nname: report\n---\n{body}")
    assert (model.description, model.derived_description) == (description, True)


def test_a_long_first_paragraph_is_cut():
    assert len(model_of(f"---\nname: a\n---\n{'word ' * 500}").description) == 300


def test_the_file_name_stands_in_for_a_missing_name():
    assert model_of("---\ninput: {}\n---\n", "sub/my-program.md").name == "my-program"


def test_a_program_with_three_mistakes_reports_all_three():
    text = "---\nname: [a]\ndescription: b\ninput: {type: strnig}\noutput: {type: object}\n---\n{{ if .x }}"
    assert sorted(rules_of(text)) == ["bad-schema", "template-syntax", "wrong-type"]


@pytest.mark.parametrize(
    ("body", "line", "column"),
    [("{{ if .x }}\nmore", 7, 1), ("fine\n\n  {{ shout .x }}", 9, 6), ("{{ (.a.b }}", 7, 1), ("é {{ 'ab' }}", 7, 3)],
)
def test_a_template_error_has_its_line_in_the_file(body: str, line: int, column: int):
    """The line is counted from the top of the file and the place lies inside the action."""
    text = f"---\nname: a\ndescription: b\ninput: {{type: object}}\noutput: {{type: object}}\n---\n{body}"
    source = SourceText(text, "p.md")
    (problem,) = read(source)[1]
    place = source.position(problem.span.start)
    assert problem.rule == "template-syntax"
    assert place.line >= line and (place.line, place.column) >= (line, column)
    assert problem.span.end <= len(text)


def test_a_bad_schema_has_its_line():
    """L9: a schema that cannot be used is refused when the program is read."""
    schema = "input:\n  type: object\n  properties:\n    n: {minimum: few}\n"
    text = f"---\nname: a\ndescription: b\n{schema}output: {{type: object}}\n---\n"
    source = SourceText(text, "p.md")
    problem = next(each for each in read(source)[1] if each.rule == "bad-schema")
    assert source.position(problem.span.start) == (7, 18)
    assert problem.span.of(text) == "few"


def test_lw11_front_matter_begins_at_the_first_line_and_ends_at_an_exact_fence():
    """LW11, X1."""
    block = "---\nname: a\nnotes: |\n  text\n  ---\n  more\n---\nbody\n---\n"
    assert model_of(block).body == "body\n---\n"
    assert rules_of("\n" + block) == ["missing-front-matter"]


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_x1_x2_a_byte_order_mark_and_every_line_end(end: str):
    """X1, X2."""
    model = model_of("\ufeff" + FULL.replace("\n", end))
    assert (model.name, len(model.mcp_servers), model.imports[0].text) == ("report", 2, "./search.md")
    assert model.body.startswith(f"# Report{end}")


def test_the_facts_of_show():
    shown = facts(model_of(FULL))
    keys = ["name", "description", "model", "input", "output", "imports", "mcp_servers", "variables"]
    assert list(shown)[:9] == ["dialect", *keys]
    assert shown["variables"] == ["topic", "depth"]
    assert shown["imports"] == ["./search.md", "../tools/check.md"]
    assert shown["mcp_servers"][1] == {
        "name": "web",
        "url": "https://example.org/mcp",
        "transport": "sse",
        "disabled": True,
    }


@pytest.mark.parametrize(
    "text", ["", "---\n---\n", "---\n- a\n---\n", "text", "---\nname:\n---\n", "\ufeff", "---\n\x00\n---\n"]
)
def test_variables_and_facts_exist_for_any_text(text: str):
    assert facts(model_of(text))["imports"] == []


HOSTILE = st.lists(
    st.sampled_from(
        [
            "name: a\n",
            "input: {type: object}\n",
            "input:\n",
            "output: [1]\n",
            "imports: [a.md, {b: c}]\n",
            "imports: *x\n",
            "mcp_servers:\n",
            "  - name: a\n",
            "    url: 1\n",
            "    env: {A: [}\n",
            "python: {timeout: 1e9}\n",
            "limits: 5\n",
            "---\n",
            "{{ .x }}",
            "{{ if",
            "}}",
            "<<: {}\n",
            "? [a]\n: b\n",
            "\x00",
            "\ud800",
            "\t",
            "é: 漢\n",
            "!!str a: b\n",
        ]
    ),
    max_size=14,
).map(lambda parts: "---\n" + "".join(parts) + "\n---\nbody {{ .a }}\n")


@settings(max_examples=examples(150), deadline=None)
@given(st.one_of(HOSTILE, st.text(max_size=80)))
def test_no_text_stops_the_reader_and_spans_lie_inside(text: str):
    model, problems = read(SourceText(text, "p.md"))
    assert all(0 <= problem.span.start <= problem.span.end <= len(text) for problem in problems)
    assert all(span.end <= len(text) for span in model.spans.values())
    assert facts(model)["name"] == model.name


def test_time_is_linear_in_the_number_of_unknown_fields():
    def work(count: int) -> None:
        text = "---\n" + "".join(f"field{number}: {number}\n" for number in range(count)) + "---\n"
        read(SourceText(text, "p.md"))

    assert is_linear(work, 1_000, 12_000)


@pytest.mark.parametrize(
    ("written", "ok"), [("4", False), ("4.1", False), ("true", False), ('"4"', False), ("o3", True)]
)
def test_b12_a_number_is_no_model(written: str, ok: bool):
    """L2, X1."""
    model, problems = read(SourceText(FULL.replace("model: small-model", f"model: {written}"), "a.md"))
    assert [each.rule for each in problems] == ([] if ok else ["wrong-form"])
    assert (model.model_name == written) is ok
