"""The decided points that rules carry out, one small program each."""

from __future__ import annotations

from pathlib import Path

import pytest

from prosa.diagnostics import Severity
from prosa.rules.programs import CheckedProgram, check_program
from tests.rules.literate import MemoryFiles

HEAD = "---\nname: main\ndescription: x\ninput: {type: object}\noutput: {type: object}\n"


def checked(more: str, body: str = "", **others: str) -> CheckedProgram:
    texts = {f"/project/{name}.md": text for name, text in others.items()}
    return check_program(
        Path("/project/main.md"), MemoryFiles({"/project/main.md": f"{HEAD}{more}\n---\n{body}", **texts})
    )


def found(more: str, body: str = "", **others: str) -> list[str]:
    return [each.rule for each in checked(more, body, **others).diagnostics if each.path == "/project/main.md"]


def named(name: str) -> str:
    return HEAD.replace("main", name) + "---\n"


def test_la10_a_server_has_a_command_or_a_url_and_args_are_optional():
    """LA10, L7, L18."""
    assert found("mcp_servers: [{name: a, command: run}]") == []
    assert found("mcp_servers: [{name: a, url: 'https://example.org/mcp'}]") == []
    assert found("mcp_servers: [{name: a, command: run, url: 'https://example.org/mcp'}]") == [
        "server-with-two-transports"
    ]
    assert found("mcp_servers: [{name: a}]") == ["server-without-transport"]
    assert found("mcp_servers: [{name: a, url: 'file:///mcp'}]") == ["server-url-scheme"]


def test_la17_l24_python_interpreter_needs_neither():
    """LA17, L24."""
    assert found("mcp_servers: [{name: python-interpreter}]") == []


def test_la12_two_tools_of_one_name_are_a_load_error():
    """LA12. Two imports, names that become the same, and the built-in tool."""
    twice = checked("imports: [a.md, b.md]", a=named("count words"), b=named("count_words"))
    assert [each.rule for each in twice.stopping("run")] == ["tool-name-collision"]
    assert found("imports: [a.md]", a=named("python")) == ["tool-name-collision"]
    assert found("imports: [a.md]", a=named("Python")) == []


def test_a_tool_name_that_a_formatter_ate_is_found_with_its_fix():
    """LA13."""
    (each,) = checked("", "Use mcp**files**read_text now.").diagnostics
    assert each.rule == "mangled-tool-name"
    assert each.fix is not None
    assert [edit.replacement for edit in each.fix.edits] == ["mcp__files__read_text"]
    assert each.source.slice(each.fix.edits[0].span) == "mcp**files**read_text"


def test_la14_l28_reserved_names_are_said_to_be_reserved():
    """LA14, L28."""
    (each,) = checked("imports: [stdlib:json]").diagnostics
    assert each.rule == "reserved-import"
    assert "reserved" in each.message


def test_la15_l29_a_cycle_is_an_error_with_its_path():
    """LA15, L6, L29."""
    (each,) = checked("imports: [a.md]", a=named("a").replace("---\n", "---\nimports: [main.md]\n", 1)).stopping("run")
    assert each.message == "import cycle: main.md → a.md → main.md"
    assert each.source.slice(each.span) == "a.md"


@pytest.mark.parametrize(
    ("line", "instead"),
    [
        ("base_url: https://example.org", "--base-url"),
        ("api-key: secret", "OPENAI_API_KEY"),
        ("api: responses", "--api"),
        ("tools: [shell]", "mcp_servers"),
        ("permissions: all", "user"),
    ],
)
def test_x7_a_document_cannot_choose_what_the_user_decides(line: str, instead: str):
    """X7. The line is refused, with what to do instead; a secret in it is not repeated."""
    (each,) = checked(line).stopping("run")
    assert each.rule == "setting-of-the-user"
    assert instead in each.notes[0]
    assert "secret" not in each.message


def test_x7_a_document_may_choose_the_name_of_a_model():
    """X7, L8."""
    assert found("model: some-model") == []


def test_x9_sixteen_imports_in_a_chain_and_no_more():
    """X9."""
    chain = {
        f"s{step}": named(f"s{step}").replace("---\n", f"---\nimports: [s{step + 1}.md]\n", 1) for step in range(1, 17)
    }
    assert not checked("imports: [s2.md]", **chain, s17=named("s17")).errors
    assert [each.rule for each in checked("imports: [s1.md]", **chain, s17=named("s17")).errors] == ["import-too-deep"]


def test_x13_an_undeclared_name_is_an_error_of_a_check_with_the_name_that_was_meant():
    """X13."""
    text = HEAD.replace("input: {type: object}", "input: {type: object, properties: {topic: {type: string}}}")
    files = MemoryFiles({"/project/p.md": f"{text}---\n{{{{ .topci }}}}"})
    (each,) = check_program(Path("/project/p.md"), files).diagnostics
    assert (each.rule, each.severity, each.source.slice(each.span)) == ("undeclared-name", Severity.ERROR, ".topci")
    assert each.notes == ("did you mean `topic`?",)


def test_l9_schemas_are_refused_or_warned_about_when_they_are_read():
    """L9, LA2."""
    text = HEAD.replace("input: {type: object}", "input: {}").replace("output: {type: object", "output: {type: thing")
    files = MemoryFiles({"/project/p.md": f"{text}---\n"})
    diagnostics = check_program(Path("/project/p.md"), files).diagnostics
    assert [(each.rule, each.severity) for each in diagnostics] == [
        ("schema-without-type", Severity.WARNING),
        ("bad-schema", Severity.ERROR),
    ]


def test_lw13_every_message_names_what_was_found_and_stands_alone():
    """LW13. No headline is vague or ends in a period."""
    everything = checked(
        "imports: [none.md, x.py, stdlib:y]\npython: 5\nimput: 1\n"
        "mcp_servers: [{name: a}, {name: a, command: b, url: c}]",
        "{{ .x }} {{ end }}",
    )
    assert len(everything.diagnostics) >= 9
    for each in everything.diagnostics:
        assert len(each.message) > 15
        assert not each.message.endswith(".")
