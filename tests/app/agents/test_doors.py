"""The commands that use agents, as far as none runs (X36)."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from prosa.adapters.agents import box
from prosa.testing import ScriptedService
from tests.app.agents.doors import AGENT, CASE, environ, service
from tests.app.evals.skilled import evals
from tests.cli.programs import prosa

__all__ = ["environ", "service"]


def test_x36_the_plan_asks_nothing(environ: dict[str, str], service: ScriptedService):
    evals(Path("skills/tide-times"), CASE)
    code, at = prosa("test", "skills", *AGENT, "--plan", "--format", "json", "--repeat", "3", environ=environ)
    plan = json.loads(at.out)
    assert code == 0 and plan["attempts"] == 6 and plan["calls"] == [6, 240] and plan["tokens"][0] > 6 * 30_000
    assert list(plan)[:5] == ["attempts", "calls", "tokens", "cost", "asks"] and service.requests == []
    assert "is about 33,800 tokens" in prosa("test", "skills", *AGENT, "--plan", environ=environ)[1].out


@pytest.mark.parametrize(
    ("flags", "words"),
    [
        (("--agent", "clade"), "did you mean claude?"),
        (("--agent", "codex:m"), "codex is not installed"),
        (("--agent", "claude:m", "--agent-home", "user"), "--trust-agent"),
        (("--agent", "claude:m", "--agent-home", "user", "--trust-agent", "--max-cost", "1"), "--max-cost cannot hold"),
        (("--agent", "claude:"), "names no agent"),
    ],
)
def test_x36_what_cannot_run_is_refused_before_it_starts(environ: dict[str, str], flags: tuple[str, ...], words: str):
    evals(Path("skills/tide-times"), CASE)
    code, at = prosa("test", "skills", *flags, "--yes", environ=environ)
    assert code == 2 and words in at.err


def test_x36_without_a_box_nothing_starts(
    environ: dict[str, str], service: ScriptedService, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(box, "isolation", lambda: box.Isolation("none", "bubblewrap is not installed"))
    evals(Path("skills/tide-times"), CASE)
    code, at = prosa("test", "skills", *AGENT, environ=environ)
    assert code == 2 and "cannot be isolated" in at.err and "--trust-agent" in at.err and service.requests == []


def test_x36_a_version_that_was_not_tried_is_used_with_a_warning(environ: dict[str, str], tmp_path: Path):
    program = tmp_path / "bin" / "claude"
    program.write_text(program.read_text().replace("2.1.197", "2.0.3"))
    words = "warning: claude 2.0.3: tried with 2.1.197; results may be wrong: prosa agents claude --probe"
    assert words in prosa("agents", "claude", environ=environ)[1].out
    evals(Path("skills/tide-times"), CASE)
    own = {**environ, "ANTHROPIC_MODEL": "m", "IS_SANDBOX": "1"}
    code, at = prosa("test", "skills", "--agent", "claude", "--agent-home", "user", "--trust-agent", environ=own)
    assert code == 0 and words in at.err


def test_x36_with_the_users_own_login_the_report_says_what_was_not_seen(
    environ: dict[str, str], service: ScriptedService
):
    evals(Path("skills/tide-times"), CASE)
    own = {**environ, "ANTHROPIC_MODEL": "m", "IS_SANDBOX": "1"}
    flags = ("--agent", "claude", "--agent-home", "user", "--trust-agent", "--no-cache")
    code, at = prosa("test", "skills", *flags, environ=own)
    said = " ".join(at.out.split())
    assert len(service.requests) == 5 and "whether a skill was offered is not known" in said, at.err
    assert "money was not limited" in said and "the agent was not isolated" in said
    assert code == 0 and "no model was called now" not in said


def test_x36_agents_are_listed_with_what_was_tried(environ: dict[str, str]):
    code, at = prosa("agents", "--format", "json", environ=environ)
    rows = {each["name"]: each for each in json.loads(at.out)}
    assert code == 0 and list(rows["claude"])[:7] == [
        *("name", "version", "tried", "supported", "skills", "context", "isolation")
    ]
    assert rows["claude"]["version"] == "2.1.197" and rows["codex"]["version"] is None
    assert "npm install -g @openai/codex" in rows["codex"]["note"]
    code, at = prosa("agents", "claude", "codex", "--probe", environ=environ)
    assert (code, at.out) == (2, "") and "codex is not installed: npm install -g @openai/codex" in at.err
    assert "  installed: no (npm install -g @openai/codex)" in prosa("agents", "codex", environ=environ)[1].out
    text = prosa("agents", "claude", environ=environ)[1].out
    assert "context files: CLAUDE.md" in text and "tried with: 2.1.197" in text
