"""Every option that both doors take is one: its flag, its keyword and its words come from one record."""

from __future__ import annotations

import inspect
import io

import pytest

import prosa
from prosa.app import options
from prosa.app.options import Options, declared
from prosa.cli.commands import find
from prosa.cli.console import Console
from prosa.cli.main import parser_of

RECORDS = (
    options.ModelOptions,
    options.ServiceOptions,
    options.LimitOptions,
    options.ReadingOptions,
    options.RecordingKeywords,
)
CALLS = {
    "run": (prosa.arun, ()),
    "chat": (prosa.achat, ()),
    "batch": (prosa.abatch, (options.RecordingKeywords,)),
    "test": (prosa.arun_tests, (options.ModelOptions,)),
}
"""For each command its call, and the records that the two do not share."""


@pytest.mark.parametrize("command", CALLS)
def test_a_shared_option_is_a_flag_and_a_keyword_with_the_same_words(command: str):
    call, apart = CALLS[command]
    found = find(command)
    assert found is not None
    parser = parser_of(found, Console(io.StringIO(), io.StringIO(), io.StringIO(), {}))
    keywords = inspect.signature(call).parameters
    for record in RECORDS:
        for each in declared(record):
            assert each.option.flags is None or record in apart or all(map(parser.has_flag, each.flags)), each.name
            assert record in apart or f"- ``{each.name}``: " in (call.__doc__ or ""), each.name
            assert record in apart or keywords[each.name].annotation == each.type


@pytest.mark.parametrize("record", [*RECORDS[:4], options.CommandOptions])
def test_every_option_has_its_field(record: type):
    assert [
        each.name for each in declared(record) if (each.option.field or each.name) not in Options.__struct_fields__
    ] == []


def test_a_choice_offers_what_its_type_allows():
    (match,) = declared(options.Replay, "match")
    assert (match.choices, match.flags, match.is_switch) == (("exact", "messages", "path"), ("--match",), False)
    assert [each.type for each in declared(options.ServiceOptions, "api")] == ["Literal['chat', 'responses'] | None"]


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        ("max_iterations", 0, "max_iterations is at least 1, found 0"),
        ("max_iterations", -1, "max_iterations is at least 1, found -1"),
        ("max_tool_calls", 0, "max_tool_calls is at least 1, found 0"),
        ("max_output_tokens", 0, "max_output_tokens is at least 1, found 0"),
        ("max_tool_result", 0, "max_tool_result is at least 1, found 0"),
        ("retries", -1, "retries is at least 0, found -1"),
        ("timeout", 0, "timeout is a time in seconds above 0, found 0"),
        ("timeout", -0.5, "timeout is a time in seconds above 0, found -0.5"),
        ("python_timeout", float("nan"), "python_timeout is a time in seconds above 0, found nan"),
        ("python_memory", 0, "python_memory is at least 1, found 0"),
    ],
)
def test_x9_a_number_that_the_command_line_refuses_is_refused_in_python(name: str, value: float, said: str):
    """X9. Before anything is read."""
    for call in (prosa.run, prosa.chat, prosa.run_tests):
        with pytest.raises(ValueError, match=f"^{said}$"):
            call("none.md", **{name: value})  # type: ignore[arg-type]


def test_x9_the_smallest_numbers_are_taken():
    with pytest.raises(prosa.FileProblem):
        prosa.run("none.md", {}, max_iterations=1, retries=0, timeout=0.001, max_tool_result=1, max_output_tokens=None)
