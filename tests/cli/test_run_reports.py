"""What a run tells beside its result: summary, events, progress (L42–L44)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from prosa.cli.main import main
from tests.cli.desk import desk
from tests.cli.programs import (
    ANSWER,
    BROKEN,
    configured,
    events_in,
    nested,
    program,
    prosa,
    ran,
    script,
    summary_in,
    user,
)


# ---- the summary ----
def test_l43_the_summary_goes_to_stderr(count: Path):
    status, at = ran(count, "--summary")
    assert (status, json.loads(at.out)) == (0, {"words": 2})
    summary = json.loads(at.err)
    assert (summary["program"], summary["success"], summary["iterations"]) == ("count.md", True, 1)
    assert summary["tokens"] == {"input": 150, "output": 75, "total": 225, "cost": 0.001125}
    assert "error" not in summary and "agent_calls" not in summary


def test_l44_a_failed_run_has_a_summary(count: Path):
    status, at = ran(count, "--summary", "--max-iterations", "2", replies=({"content": "no"}, {"content": "no"}))
    assert status == 1
    summary = summary_in(at.err)
    assert (summary["success"], summary["iterations"], summary["errors"]) == (False, 2, 2)
    assert summary["error"].startswith("validation failed: ")
    assert at.err.index('"program"') < at.err.index("error: validation failed")


@pytest.mark.parametrize(
    ("argv", "words"),
    [
        (["gone.md"], "no such file"),
        (["broken.md"], "broken.md:4"),
        (["count.md", "times=x"], "times"),
        (["count.md", "--input", "{"], "not valid JSON"),
        (["count.md", "--events", "jsonl:/none/of/these"], "No such file"),
        (["count.md", "--api-key-env", "NO_SUCH"], "NO_SUCH"),
    ],
)
def test_l44_lw9_what_fails_before_the_run_has_a_summary_too(
    argv: list[str], words: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    program(tmp_path)
    (tmp_path / "broken.md").write_text(BROKEN)
    monkeypatch.chdir(tmp_path)
    status, at = prosa("run", *argv, "--summary", environ=user(tmp_path))
    assert status in (1, 2)
    summary = summary_in(at.err)
    assert (summary["program"], summary["success"], summary["iterations"]) == (argv[0], False, 0)
    assert words in summary["error"]


def test_a_result_that_cannot_be_delivered_is_a_failure_with_a_summary(
    count: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    def full(path: Path, text: str) -> None:
        raise OSError(28, "No space left on device", str(path))

    monkeypatch.setattr("prosa.app.text_files.write_output", full)
    status, at = ran(count, "--output", tmp_path / "r.json", "--summary")
    assert status == 1
    assert "No space left on device" in summary_in(at.err)["error"]
    assert f"--output {tmp_path / 'r.json'}: No space left" in at.err
    assert json.loads(at.out) == {"words": 2} and "printed instead" in at.err


# ---- events and progress ----
def well_formed(events: list[dict[str, Any]]) -> None:
    """Numbers without gaps, and for every program of the run one beginning and one end."""
    assert [each["seq"] for each in events] == list(range(1, len(events) + 1))
    ends = [each["scope"] for each in events if each["event"] in ("run-finished", "run-failed")]
    begins = [each["scope"] for each in events if each["event"] == "run-started"]
    assert sorted(ends) == sorted(set(ends))
    assert sorted(begins) == sorted(ends) == list(range(1, len(ends) + 1))


def test_events_are_gap_free_and_every_program_of_the_run_ends_once(tmp_path: Path):
    path, replies = nested(tmp_path)
    log = tmp_path / "events.jsonl"
    status, at = ran(path, "--events", f"jsonl:{log}", replies=replies)
    assert (status, at.err) == (0, "")
    lines = log.read_text().splitlines()
    events = [json.loads(line) for line in lines]
    well_formed(events)
    assert (events[0]["event"], events[-1]["event"]) == ("run-started", "run-finished")
    assert events[-1]["output"] == {"words": 2}
    inner = [each for each in events if each["program"] == "inner" and each["event"] == "run-started"]
    assert [(each["depth"], each["parent"]) for each in inner] == [(1, 1), (1, 1)]
    called = [each["call"] for each in events if each["event"] == "tool-called"]
    answered = [each["call"] for each in events if each["event"] == "tool-answered"]
    assert sorted(called) == sorted(answered) == ["one", "two"]


def test_events_on_stderr_are_whole_lines_of_json(count: Path):
    status, at = ran(count, "--events", "jsonl")
    assert status == 0
    well_formed([json.loads(line) for line in at.err.splitlines()])


@pytest.mark.parametrize("argv", [["--max-iterations", "1"], ["times=99"]])
def test_a_failed_run_ends_its_events_with_one_failure(argv: list[str], count: Path):
    status, at = ran(count, "--events", "jsonl", *argv, replies=({"content": "no"},))
    assert status == 1
    events = events_in(at.err)
    well_formed(events)
    assert events[-1]["event"] == "run-failed"


def test_a_run_that_never_began_ends_its_events_too(tmp_path: Path):
    log = tmp_path / "events.jsonl"
    status, _ = prosa("run", tmp_path / "gone.md", "--events", f"jsonl:{log}", environ=user(tmp_path))
    assert status == 2
    (event,) = [json.loads(line) for line in log.read_text().splitlines()]
    assert (event["seq"], event["event"], event["program"]) == (1, "run-failed", "gone")


def test_notices_are_events_too(count: Path, tmp_path: Path):
    log = tmp_path / "events.jsonl"
    argv = ["--base-url", "http://127.0.0.1:1", "--retries", "0", "--events", f"jsonl:{log}"]
    prosa("run", count, *argv, environ=user(tmp_path, OPENAI_API_KEY="sk-mine"))
    noticed = [each for each in events_in(log.read_text()) if each["event"] == "noticed"]
    assert [each["message"].split(";")[0] for each in noticed] == [
        "note: OPENAI_API_KEY is not sent to http://127.0.0.1:1"
    ]
    assert "sk-mine" not in log.read_text()


def test_notices_do_not_stand_between_the_lines_of_a_log_on_stderr(count: Path, tmp_path: Path):
    (tmp_path / "prosa.toml").write_text("modle = 'x'\n")
    status, at = ran(count, "--events", "jsonl")
    assert status == 0
    events = [json.loads(line) for line in at.err.splitlines()]
    assert [each["event"] for each in events[:2]] == ["noticed", "run-started"]
    well_formed(events)


def test_half_a_surrogate_pair_from_a_model_does_not_break_the_log(count: Path, tmp_path: Path):
    log = tmp_path / "events.jsonl"
    status, at = ran(count, "--events", f"jsonl:{log}", "--max-iterations", "1", replies=({"content": "\ud800"},))
    assert status == 1
    assert "internal error" not in at.err
    answered = next(each for each in events_in(log.read_text()) if each["event"] == "model-answered")
    assert answered["content"] == "\ud800"


def test_a_full_disk_costs_the_log_and_not_the_run(count: Path):
    status, at = ran(count, "--events", "jsonl:/dev/full")
    assert (status, json.loads(at.out)) == (0, {"words": 2})
    assert "warning: the event log ends here: No space left on device" in at.err


def test_debug_tells_every_step_on_stderr(tmp_path: Path):
    path, replies = nested(tmp_path)
    status, at = ran(path, "--debug", replies=replies)
    assert (status, json.loads(at.out)) == (0, {"words": 2})
    assert 'count: calling inner {"text":"a"}' in at.err
    assert "  inner: iteration 1: asking the model" in at.err
    assert "count: finished after" in at.err


def test_progress_is_for_terminals(count: Path, tmp_path: Path):
    at = desk("", user(tmp_path, TERM="xterm"), terminal=True)
    assert main(["run", str(count), "--model", script(tmp_path)], at.console) == 0
    assert "\r\x1b[K" in at.err and at.err.endswith("\r\x1b[K")
    assert "\x1b" not in at.out
    quiet = desk("", user(tmp_path, TERM="xterm"), terminal=True)
    assert main(["run", str(count), "--model", script(tmp_path), "--no-progress"], quiet.console) == 0
    assert quiet.err == ""


def test_la1_a_warning_about_the_program_is_for_the_person_who_watches(tmp_path: Path):
    text = "---\nname: bare\ninput: {type: object}\noutput: {type: object}\n---\nAnswer.\n"
    path = program(tmp_path, name="bare", text=text)
    replies = ({"content": {}},)
    watched = desk("", user(tmp_path, TERM="xterm"), terminal=True)
    assert main(["run", str(path), "--model", script(tmp_path, *replies)], watched.console) == 0
    assert "warning" in watched.err and "[missing-description]" in watched.err
    status, at = ran(path, "--summary", replies=replies)
    assert status == 0
    assert json.loads(at.err)["success"] is True


def test_la27_an_unknown_price_is_null_and_said_to_the_person_who_watches(count: Path, tmp_path: Path):
    argv = ["run", count, "--model", script(tmp_path, {**ANSWER, "model": "tiny:8b"}), "--summary", "--no-progress"]
    program(tmp_path, more="model: mine\n")
    status, at = prosa(*argv, environ=user(tmp_path))
    assert (status, json.loads(at.err)["tokens"]["cost"]) == (0, None)
    status, at = prosa(*argv, environ=user(tmp_path, TERM="xterm"), terminal=True)
    assert status == 0
    assert at.err.startswith(
        "note: no price of mine is known, so the cost is null; `prices` in your settings sets it\n"
    )
    assert summary_in(at.err)["tokens"]["cost"] is None


def test_la27_the_users_prices_are_used(count: Path, tmp_path: Path):
    place = configured(tmp_path, '[prices."gpt-4o"]\ninput = 100\noutput = 200\n')
    status, at = ran(count, "--summary", PROSA_CONFIG_DIR=place)
    assert (status, json.loads(at.err)["tokens"]["cost"]) == (0, 0.03)
