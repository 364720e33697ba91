"""`prosa agents --probe` with a fake of Claude Code in the box: it shows plumbing, and nothing about an agent (X36)."""

from __future__ import annotations

import asyncio
import json

import pytest
from msgspec.structs import replace

from prosa.adapters.agents.box import Isolation
from prosa.app.agents import probe
from prosa.app.agents.known import agents_here
from prosa.testing import ScriptedService
from tests.app.agents.doors import environ, service
from tests.cli.programs import prosa

__all__ = ["environ", "service"]


def test_x36_a_probe_sees_every_step_of_a_working_agent(environ: dict[str, str], service: ScriptedService):
    code, at = prosa("agents", "claude", "--probe", environ=environ)
    assert code == 0, at.out
    assert "claude: ok" in at.out and "✗" not in at.out and "nothing about a skill" in at.out
    assert service.requests == []  # it has a service of its own: no key of the user's is used


def test_x36_a_probe_names_what_a_broken_agent_does_not_do(environ: dict[str, str], monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(probe, "STORY", ({"content": "I will not."},))
    code, at = prosa("agents", "claude", "--probe", "--format", "json", environ=environ)
    (row,) = json.loads(at.out)
    steps = {each["what"].partition(":")[0]: each["ok"] for each in row["probe"]["steps"]}
    assert code == 1 and not row["probe"]["ok"]
    assert steps["it starts, and asks its model over messages"] and steps["it lists the skill to the model"]
    assert not steps["it loads the skill before it changes a file"] and not steps["it writes a file in its workspace"]


def test_x36_without_a_box_a_probe_starts_nothing(environ: dict[str, str]):
    (here,) = agents_here(("claude",), environ)
    alone = replace(here, isolation=Isolation("none", "bubblewrap is not installed"))
    seen = asyncio.run(probe.probe_agent(alone, environ))
    assert (
        not seen.ok and "was not started" in seen.steps[0].what and "bubblewrap is not installed" in seen.steps[0].what
    )
