"""The lines of `--events jsonl`: `docs/runs.md` says what they are, and they are."""

from __future__ import annotations

import json
import typing
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path

import pytest

from prosa.records.batch import BatchProgress
from prosa.render.batch import progress_json
from prosa.render.events import Numbering, as_json_line, as_line, name_of
from prosa.runtime import events
from prosa.runtime.events import (
    AttemptFailed,
    Event,
    ModelAnswered,
    RunFailed,
    RunFinished,
    RunStarted,
    Scope,
    ToolCalled,
)
from prosa.runtime.messages import Usage

PAGE = Path(__file__).parents[2] / "docs" / "runs.md"
NOW = datetime(2026, 1, 2, 3, 4, 5, 678_900, tzinfo=UTC)
CLASSES: tuple[type[Event], ...] = typing.get_args(Event)


def row(of: type[Event]) -> tuple[str, tuple[str, ...]]:
    """The name of an event and its own keys."""
    return name_of(of(*of.__struct_fields__)), tuple(
        name for name in of.__struct_fields__ if name not in ("scope", "path")
    )


def test_the_page_lists_every_event_and_key():
    of_runs = PAGE.read_text(encoding="utf-8").partition("\n## Events\n")[2].partition("\n### Events of a batch\n")[0]
    lines = [line.split(" | ") for line in of_runs.splitlines() if line.startswith("| `")]
    table = [
        (cells[0].strip("| `"), tuple(key.strip("` ") for key in cells[1].split(",")))
        for cells in lines
        if len(cells) == 3
    ]
    assert table == [row(each) for each in CLASSES]


def test_the_page_lists_the_keys_of_the_progress_of_a_batch():
    (line,) = (line for line in PAGE.read_text(encoding="utf-8").splitlines() if line.startswith("| `batch-progress`"))
    keys = [key.strip("` ") for key in line.split(" | ")[1].split(",")]
    assert keys == list(progress_json(BatchProgress()))


def test_a_line_begins_with_the_keys_that_all_have():
    line = as_json_line(ToolCalled(Scope("inner", 1, 3, 1), "python", "python", "{}", "c1", "1.0/2.0"), seq=7, time=NOW)
    assert json.loads(line) == {
        "seq": 7,
        "time": "2026-01-02T03:04:05.678Z",
        "event": "tool-called",
        "program": "inner",
        "depth": 1,
        "scope": 3,
        "parent": 1,
        "path": "1.0/2.0",
        "tool": "python",
        "kind": "python",
        "arguments": "{}",
        "call": "c1",
    }
    assert list(json.loads(line))[:8] == ["seq", "time", "event", "program", "depth", "scope", "parent", "path"]


def test_the_first_program_has_no_parent():
    assert "parent" not in json.loads(as_json_line(RunStarted(Scope("p"), "m"), seq=1, time=NOW))


@pytest.mark.parametrize(("calls", "words"), [(0, "an answer"), (1, "1 tool call"), (2, "2 tool calls")])
def test_a_person_reads_how_many_tools_were_asked_for(calls: int, words: str):
    event = ModelAnswered(Scope("p"), 1, Usage(100, 20), "m", "", calls)
    assert as_line(event) == f"p: iteration 1: {words}, 120 tokens"


def test_a_line_stays_a_line_whatever_it_carries():
    line = as_json_line(RunFinished(Scope("p"), {"a": "x\ny\u2028z"}, 0.5), seq=1, time=NOW)
    assert line.count("\n") == 0
    assert json.loads(line)["output"] == {"a": "x\ny\u2028z"}


def test_numbers_have_no_gaps():
    numbers = Numbering()
    found = [json.loads(numbers.line(RunFailed(Scope("p"), "e", 0.0), NOW))["seq"] for _ in range(3)]
    assert found == [1, 2, 3]


@pytest.mark.parametrize("of", CLASSES, ids=lambda each: each.__name__)
def test_every_event_has_a_line_for_people_or_is_for_programs_alone(of: type[Event]):
    values = {"seconds": 1.0, "wait": 1.0, "usage": Usage(), "tools": (), "problems": ("a\x1b[31m\nb",), "iteration": 1}
    event = of(Scope("p", 1), **{name: values.get(name, "x") for name in row(of)[1]})
    line = as_line(event)
    assert line is None or (line.startswith("  p: ") and line.isprintable())
    assert (line is None) == (of is events.TextArrived)


def test_la7_a_reason_is_told_whole_and_arguments_are_not():
    """LA7. Outside a terminal these lines are all that says why somebody waits."""
    why = f"the model service at http://{'long.' * 30}example/v1 cannot be found: its name does not resolve"
    assert as_line(AttemptFailed(Scope("p"), 1, 0.5, why)) == f"p: attempt 1 failed, next in 0.5 s: {why}"
    assert as_line(RunFailed(Scope("p"), why, 0.5)).endswith(why)
    assert len(as_line(RunFailed(Scope("p"), "x" * 100_000, 0.5))) < 1_100
    assert len(as_line(ToolCalled(Scope("p"), "python", "python", "y" * 1_000, "c1"))) < 150


def test_times_are_told_in_utc():
    there = datetime(2026, 1, 2, 5, 4, 5, tzinfo=timezone(timedelta(hours=2)))
    line = as_json_line(RunStarted(Scope("p"), "m"), seq=1, time=there.astimezone(UTC))
    assert json.loads(line)["time"] == "2026-01-02T03:04:05.000Z"
