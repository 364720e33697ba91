"""`make prove`: asks within a budget, records, and quotes in the README what the recording gives.

The service behind these tests plays a script. Figures of these tests say nothing about a model or a skill.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, TypeAlias

import pytest

from prosa.testing import ScriptedService, ServiceRequest
from tests import warm
from tests.house.tree import ROOT
from tools import prove

PRICED = '[prices."gpt-4o"]\ninput = 2.5\noutput = 10.0\n'
MARKED = f"# Prosa\n\n{prove.BEGIN}\nold\n{prove.END}\n\nThe rest.\n"


def reply(request: ServiceRequest) -> Any:
    wanted = json.dumps(request.body.get("response_format") or "")
    if "sentiment" in wanted:
        return {"content": {"sentiment": "positive"}}
    if wanted != '""':
        return {"content": {"passed": True, "reason": "as the script says"}}
    return "The boat is late, by how many minutes?"


@pytest.fixture
def environ(tmp_path: Path) -> Iterator[Mapping[str, str]]:
    home = tmp_path / "home"
    (home / ".config" / "prosa").mkdir(parents=True)
    (home / ".config" / "prosa" / "settings.toml").write_text(PRICED)
    with ScriptedService(reply) as service:
        yield {
            **{name: value for name, value in os.environ.items() if not name.startswith("XDG_")},
            "HOME": str(home),
            "MARKDOWNLANG_AGREE": "Trans women are women",
            "OPENAI_API_KEY": str(service.key),
            "OPENAI_BASE_URL": service.base_url("chat"),
        }


Run: TypeAlias = Callable[..., tuple[int, str]]


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Run:
    """Calls it in an environment; returns the status and what the terminal shows. Its commands are processes."""

    def called(environ: Mapping[str, str], *arguments: str) -> tuple[int, str]:
        capfd.readouterr()
        with monkeypatch.context() as patched:
            for name in os.environ.keys() - environ.keys():
                patched.delenv(name)
            for name, value in environ.items():
                patched.setenv(name, value)
            patched.setattr(prove.subprocess, "run", warm.run)
            status = prove.main(arguments)
        return status, capfd.readouterr().err

    return called


def test_it_records_within_its_budget_and_quotes_what_the_recording_gives(
    tmp_path: Path, environ: Mapping[str, str], run: Run
):
    readme, proof = tmp_path / "README.md", tmp_path / "proof"
    readme.write_text(MARKED)
    where = ("--proof", str(proof), "--readme", str(readme))
    status, said = run(environ, "--model", "gpt-4o", "--agent", "none", *where)
    assert status == 0, said
    assert "$0.1" in said and "spent; recorded in" in said
    text = readme.read_text()
    assert text.startswith(f"# Prosa\n\n{prove.BEGIN}\n\n```text\n$ prosa test plain.test.md --against examples.md")
    assert "plain.test.md: gpt-4o against examples.md: +0.00 [+0.00, +0.00]: cannot tell\n  p = 1" in text
    assert "$ prosa test delay-notice --model gpt-4o --repeat 3\nlift of delay-notice: " in text
    assert text.endswith(f"```\n\n{prove.END}\n\nThe rest.\n")
    # Replayed by another person, without key and service, it is the same block.
    readme.write_text(MARKED)
    without = {name: value for name, value in environ.items() if not name.startswith("OPENAI")}
    status, said = run(without, "--quote", *where)
    assert status == 0, said
    assert readme.read_text() == text


def test_it_asks_nobody_again_within_the_budget_that_was_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """A suite in an agent is above the threshold of confirmation, and this runs without a terminal too."""
    commands: list[list[str]] = []

    def asked(command: list[str], *_: object) -> tuple[int, str]:
        commands.append(list(command))
        return 0, '{"total": {"cost": 1.5, "grading": 0.5}}'

    monkeypatch.setattr(prove, "prosa", asked)
    assert prove.prove("gpt-4o", ("codex:gpt-4o",), 20.0, tmp_path) == 0
    limits = [each for each in commands if "--record" in each]
    assert [each[each.index("--max-cost") + 1] for each in limits] == ["20.0000", "18.0000", "16.0000"]
    assert all("--yes" in each for each in limits)


def test_a_budget_that_is_spent_stops_it(tmp_path: Path, environ: Mapping[str, str], run: Run):
    readme, proof = tmp_path / "README.md", tmp_path / "proof"
    readme.write_text(MARKED)
    where = ("--proof", str(proof), "--readme", str(readme))
    _, said = run(environ, "--model", "gpt-4o", "--agent", "none", "--max-cost", "0.02", *where)
    assert "not measured" in said
    done = json.loads((proof / "proof.json").read_text())["suites"] if (proof / "proof.json").exists() else []
    assert len(done) <= 2


def test_the_readme_quotes_what_is_recorded_and_until_then_the_plan():
    """No figure of the README's block is written by hand: it is a replay, or a plan, which asks nothing."""
    text = (ROOT / "README.md").read_text("utf-8")
    assert prove.quoted(text, prove.PROOF) == text
    assert prove.recorded(prove.PROOF) or (f"$ {prove.PLAN}\n" in text and "together\n  16 attempts" in text)


def test_without_a_model_it_says_what_to_name():
    asked = subprocess.run([sys.executable, "-m", "tools.prove"], cwd=ROOT, capture_output=True, text=True, check=False)
    assert asked.returncode == 2 and "make prove MODEL=gpt-4o" in asked.stderr


def test_an_agent_is_tried_where_it_is_installed_and_can_have_the_model(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    for name in ("claude", "codex"):
        (tmp_path / name).write_text("#!/bin/sh\n")
        (tmp_path / name).chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert prove.chosen("", "anthropic/claude-sonnet-4-5") == ("claude:claude-sonnet-4-5",)
    assert prove.chosen("", "gpt-4o") == ("codex:gpt-4o",)
    assert prove.chosen("", "local") == () == prove.chosen("none", "gpt-4o")
    assert prove.chosen("pi:gpt-4o", "gpt-4o") == ("pi:gpt-4o",)
    monkeypatch.setenv("PATH", "")
    assert prove.chosen("", "gpt-4o") == ()
