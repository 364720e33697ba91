"""What tests of the doors of agents share: a scripted model, a fake of Claude Code, a skill with a case."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from prosa.testing import ScriptedService
from tests.app.agents.fake_claude import install
from tests.app.evals.skilled import skill
from tests.cli.programs import prosa, user

PROMPT = "When is high water? Write out.txt."
WORK = [{"load": "tide-times"}, {"write": {"out.txt": "06:12 UTC"}}, {"content": "High water is at 06:12 UTC."}]
CASE = {"id": 1, "prompt": PROMPT, "assertions": [{"name": "wrote", "file": "out.txt", "equals": "06:12 UTC"}]}


@pytest.fixture
def service() -> Iterator[ScriptedService]:
    with ScriptedService(WORK, per_conversation=True) as made:
        yield made


@pytest.fixture
def environ(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, service: ScriptedService) -> dict[str, str]:
    monkeypatch.chdir(tmp_path)
    programs = install(tmp_path / "bin")
    monkeypatch.setenv("PATH", f"{programs}:/usr/bin:/bin")
    skill()
    return user(
        tmp_path,
        PATH=f"{programs}:/usr/bin:/bin",
        ANTHROPIC_API_KEY="scripted-key",
        ANTHROPIC_BASE_URL=service.base_url("messages"),
    )


AGENT = ("--agent", "claude:scripted-model")


def report_of(environ: dict[str, str], *flags: str, status: int | None = None) -> Any:
    code, at = prosa("test", "skills", *flags, "--format", "json", environ=environ)
    assert status is None or code == status, at.err
    return json.loads(at.out)
