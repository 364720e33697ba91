"""The commands that use agents, with a fake of Claude Code in the box and a scripted model: plumbing alone (X36)."""

from __future__ import annotations

import json
from pathlib import Path

from prosa.testing import ScriptedService
from tests.app.agents.doors import AGENT, CASE, PROMPT, environ, report_of, service
from tests.app.evals.skilled import evals, triggers
from tests.cli.programs import prosa

__all__ = ["environ", "service"]


def test_x36_a_skill_is_tried_in_a_boxed_agent_with_and_without_it(environ: dict[str, str], service: ScriptedService):
    evals(Path("skills/tide-times"), CASE)
    found = report_of(environ, *AGENT, "--no-cache")
    with_it, without = found["suites"]
    attempt = with_it["cases"][0]["attempts"][0]
    assert attempt["outcome"] == "passed", attempt
    assert attempt["agent"]["listed"] == attempt["agent"]["loaded"] == ["tide-times"]
    assert attempt["agent"]["changed"] == ["out.txt"] and attempt["tokens"] > 0
    other = without["cases"][0]["attempts"][0]
    assert other["agent"]["listed"] == [] and other["agent"]["loaded"] == []
    assert all(request.headers.get("host", "").startswith("127.0.0.1") for request in service.requests)


def test_x36_a_recording_is_regraded_without_the_agent(environ: dict[str, str], tmp_path: Path):
    evals(Path("skills/tide-times"), CASE)
    first = report_of(environ, *AGENT, "--record", "tapes")
    (tmp_path / "bin" / "claude").unlink()
    again = report_of({**environ, "ANTHROPIC_API_KEY": ""}, *AGENT, "--replay", "tapes")
    outcomes = [[one["outcome"] for one in suite["cases"][0]["attempts"]] for suite in first["suites"]]
    assert outcomes == [[one["outcome"] for one in suite["cases"][0]["attempts"]] for suite in again["suites"]]
    assert not any("scripted-key" in path.read_text() for path in Path("tapes").rglob("*.json"))


def test_x36_triggers_end_at_the_first_load(environ: dict[str, str], service: ScriptedService):
    triggers(Path("skills/tide-times"), {"query": PROMPT, "should_trigger": True})
    found = report_of(environ, *AGENT, "--no-cache", status=0)
    attempt = found["suites"][0]["cases"][0]["attempts"][0]
    assert attempt["outcome"] == "passed" and attempt["agent"]["end"] == "loaded"
    assert len(service.requests) == 1


def test_x36_one_attempt_is_shown_and_kept(environ: dict[str, str]):
    code, at = prosa(
        "run", "skills/tide-times", PROMPT, *AGENT, "--workspace-out", "kept", "--summary", environ=environ
    )
    assert (code, at.out) == (0, "High water is at 06:12 UTC.\n"), at.err
    assert "added out.txt (9 bytes)" in at.err and "skills listed: tide-times; loaded: tide-times" in at.err
    assert [path.read_text() for path in Path("kept").rglob("out.txt")] == ["06:12 UTC"]
    code, history = prosa("runs", "--format", "json", environ=environ)
    assert "tide-times" in history.out and code == 0
    (one,) = json.loads(history.out)["runs"]
    assert one["scripted"] is False
    code, shown = prosa("runs", one["id"], environ=environ)
    assert code == 0 and "High water is at 06:12 UTC." in shown.out, shown.err
