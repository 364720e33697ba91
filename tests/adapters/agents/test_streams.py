"""What agents print: lines that are cut, of another version, or no stream at all are said and never raise."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from prosa.adapters.agents.streams import FORMS, STEP_CHARACTERS, StreamReader, read_stream

STREAMS = Path(__file__).parent / "streams"
LINES: dict[str, list[dict[str, Any]]] = {
    form: [json.loads(line) for line in (STREAMS / f"{form}.jsonl").read_text().splitlines()] for form in FORMS
}


def lines(form: str) -> list[str]:
    """The lines of an attempt with one failed command, as the agent prints them."""
    return [json.dumps(each) for each in LINES[form]]


@pytest.mark.parametrize("form", FORMS)
def test_steps_text_and_tokens_are_read(form: str) -> None:
    stream = read_stream(form, lines(form))
    assert [(each.kind, each.is_error) for each in stream.steps] == [("call", False), ("result", True), ("say", False)]
    assert stream.steps[0].arguments == {"command": "ls"}
    assert stream.steps[1].text == "no"
    assert (stream.text, stream.ended, stream.problem, stream.unreadable) == ("Done.", True, "", "")
    usage = stream.reported.usage if stream.reported is not None else None
    if form != "copilot":
        assert usage is not None
        assert (usage.input_tokens, usage.output_tokens, usage.cached_input_tokens) == (15, 3, 5)


TOOLS = {
    "claude": ("Skill", "Write", "Bash", "Bash"),
    "codex": ("shell", "shell", "shell", "shell"),
    "copilot": ("skill", "create", "bash", "bash"),
    "gemini": ("activate_skill", "write_file", "run_shell_command", "run_shell_command"),
    "opencode": ("skill", "write", "bash", "bash"),
    "pi": ("read", "write", "bash", "bash"),
    "qwen": ("skill", "write_file", "run_shell_command", "run_shell_command"),
}
SILENT = {"gemini", "qwen"}
"""Agents whose stream calls a command that ended with a status a success."""


@pytest.mark.parametrize("form", FORMS)
def test_the_events_of_a_whole_attempt_are_read(form: str) -> None:
    """The events are those that the agent printed, with a scripted model, for: load the skill, write a file, a command
    that fails, one that does not. Texts and ids are ours."""
    stream = read_stream(form, (STREAMS / "long" / f"{form}.jsonl").read_text().splitlines())
    calls = [each for each in stream.steps if each.kind == "call"]
    results = [each for each in stream.steps if each.kind == "result"]
    assert tuple(each.tool for each in calls) == tuple(each.tool for each in results) == TOOLS[form]
    assert [each.call for each in calls] == [each.call for each in results]
    assert [each.is_error for each in results] == [False, False, form not in SILENT, False]
    assert [each.text for each in stream.steps if each.kind == "say"] == ["I count.", "High water is at 06:12 UTC."]
    assert (stream.text, stream.ended, stream.problem, stream.unreadable) == (
        "High water is at 06:12 UTC.",
        True,
        "",
        "",
    )
    assert stream.reported is not None
    usage = stream.reported.usage
    assert usage is None if form == "copilot" else usage is not None and usage.total_tokens == 5 * 1230
    assert stream.skills == (("tide-times",) if form in ("claude", "copilot") else None)


@pytest.mark.parametrize("form", FORMS)
def test_a_whole_attempt_that_is_cut_anywhere_has_no_end(form: str) -> None:
    whole = (STREAMS / "long" / f"{form}.jsonl").read_text().splitlines()
    assert not any(read_stream(form, whole[:count]).ended for count in range(len(whole)))


@pytest.mark.parametrize("form", FORMS)
def test_a_stream_that_is_cut_has_no_end(form: str) -> None:
    whole = lines(form)
    stream = read_stream(form, [*whole[:-1], whole[-1][:20]])
    assert not stream.ended
    assert "cannot be read" in stream.unreadable
    assert not read_stream(form, whole[:-1]).ended


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(
    ("printed", "said"),
    [
        ([], "printed nothing"),
        (["", "  "], "printed nothing"),
        (["Please log in first."], "Please log in first."),
        (['{"kind": "v9/start"}', '{"kind": "v9/end"}'], "not"),
        (["[1, 2]", "null", "{", "[" * 100_000], "expected form"),
    ],
)
def test_what_is_no_stream_is_said(form: str, printed: list[str], said: str) -> None:
    stream = read_stream(form, printed)
    assert said in stream.unreadable or "expected form" in stream.unreadable
    assert not stream.ended


@pytest.mark.parametrize("form", FORMS)
def test_a_line_between_that_a_library_printed_does_no_harm(form: str) -> None:
    whole = lines(form)
    stream = read_stream(form, [whole[0], "Warning: \x1b[31mold runtime\x1b[0m", *whole[1:]])
    assert stream.unreadable == ""
    assert stream.text == "Done."


def test_long_texts_are_cut_with_their_size_and_digest() -> None:
    reader = StreamReader("codex")
    long = "x" * (STEP_CHARACTERS + 1)
    reader.feed(json.dumps({"type": "item.completed", "item": {"id": "a", "type": "agent_message", "text": long}}))
    step = reader.stream().steps[0]
    assert (len(step.text), step.size, len(step.digest)) == (STEP_CHARACTERS, STEP_CHARACTERS + 1, 64)
    assert reader.stream().text == long


def test_an_agent_that_tried_again_has_no_problem() -> None:
    failed = {
        "role": "assistant",
        "content": [{"type": "text", "text": "ha"}],
        "stopReason": "error",
        "errorMessage": "500",
    }
    good = LINES["pi"][3]["message"]
    printed = [{"type": "message_end", "message": failed}, {"type": "agent_end"}]
    again = [{"type": "auto_retry_start"}, {"type": "message_end", "message": good}, {"type": "agent_end"}]
    assert read_stream("pi", [json.dumps(each) for each in printed]).problem == "500"
    stream = read_stream("pi", [json.dumps(each) for each in printed + again])
    assert (stream.problem, stream.text) == ("", "Done.")


def test_a_refusal_is_quoted_in_the_words_of_the_service() -> None:
    body = json.dumps({"error": {"message": "the cap is reached"}})
    stream = read_stream("codex", [json.dumps({"type": "turn.failed", "error": {"message": body}})])
    assert (stream.ended, stream.problem) == (True, "the cap is reached")


def test_refused_permissions_are_named() -> None:
    end = {**LINES["claude"][-1], "permission_denials": [{"tool_name": "Write"}, {"tool_name": "Write"}]}
    assert read_stream("claude", [*lines("claude")[:-1], json.dumps(end)]).denied == ("Write",)


def test_the_steps_of_a_subagent_stand_apart() -> None:
    inner = {**LINES["claude"][3], "parent_tool_use_id": "task"}
    stream = read_stream("claude", [lines("claude")[0], json.dumps(inner)])
    assert stream.steps[0].conversation == 1
    assert stream.text == ""


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)


@given(st.data())
def test_no_line_raises(data: st.DataObject) -> None:
    form = data.draw(st.sampled_from(sorted(FORMS)))
    event = dict(data.draw(st.sampled_from(LINES[form])))
    place = data.draw(st.sampled_from(sorted(event)))
    broken = data.draw(_JSON)
    if isinstance(event[place], dict) and event[place] and data.draw(st.booleans()):
        event[place] = {**event[place], data.draw(st.sampled_from(sorted(event[place]))): broken}
    elif place != "type":
        event[place] = broken
    reader = StreamReader(form)
    reader.feed(json.dumps(event))
    assert reader.stream().lines == 1
