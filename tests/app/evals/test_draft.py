"""`prosa new evals`: drafts of cases and requests for a skill, from it and from the skills beside it."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from prosa.app.evals.draft import draft_evals
from prosa.app.options import Environment, Options
from prosa.cli.main import main
from prosa.runtime.messages import ModelReply, ModelRequest
from prosa.settings import Settings
from tests.app.evals.skilled import case, evals, skill
from tests.cli.desk import desk
from tests.cli.programs import user


def skills() -> Path:
    folder = skill()
    skill("ferry-fares", "Add up.", "Tells what a crossing with the ferry costs. Use it for prices.")
    (folder / "evals").rmdir()
    return folder


def read(path: Path) -> Any:
    return json.loads(path.read_text())


class Drafts:
    """A fake that writes drafts."""

    def __init__(self) -> None:
        self.asked = list[str]()

    async def complete(self, request: ModelRequest, on_text: object = None) -> ModelReply:
        self.asked.append("\n".join(each.content for each in request.messages))
        case = {"prompt": "High water?", "expected_output": "A time.", "assertions": ["The answer has a time"]}
        requests = [
            {"query": "When is high water?", "should_trigger": True, "expected_skill": "tide-times"},
            {"query": "What does it cost?", "should_trigger": False, "expected_skill": "ferry-fares"},
            {"query": "Sing.", "should_trigger": False, "expected_skill": "no-such-skill"},
        ]
        return ModelReply(json.dumps({"cases": [case, case | {"prompt": "Low water?"}], "requests": requests}))

    async def aclose(self) -> None:
        pass


def test_x41_without_a_model_there_is_a_skeleton_with_the_neighbours(here: Path):
    folder = skills()
    it = desk(environ=user(here))
    assert main(["new", "evals", str(folder)], it.console) == 0, it.err
    cases, requests = read(folder / "evals/evals.json"), read(folder / "evals/trigger-eval.json")
    assert [each["draft"] for each in (*cases["evals"], *requests)] == [True] * (len(cases["evals"]) + len(requests))
    assert [(each["should_trigger"], each.get("expected_skill")) for each in requests] == [
        (True, None),
        (False, "ferry-fares"),
        (False, None),
    ]
    assert "a crossing with the ferry costs" in requests[1]["query"]
    assert "evals/evals.json" in it.err and "vacuous" in it.err  # the audit of the drafts
    check = desk(environ=user(here))
    assert main(["check", "skills"], check.console) == 0, check.out


def test_x41_a_model_drafts_from_the_skill_and_its_neighbours(here: Path):
    folder, model = skills(), Drafts()
    environment = Environment(user(here), Settings())
    files = asyncio.run(draft_evals(folder, Options(), environment, asks=True, provider=model))
    (asked,) = model.asked
    assert "Begin with AHOY." in asked and "what a crossing with the ferry costs" in asked
    cases = json.loads(files[folder / "evals/evals.json"])
    assert [(each["id"], each["draft"]) for each in cases["evals"]] == [(1, True), (2, True)]
    requests = json.loads(files[folder / "evals/trigger-eval.json"])
    assert [each.get("expected_skill") for each in requests] == [None, "ferry-fares", None]


def test_x41_files_that_are_there_stay(here: Path):
    folder = skills()
    (folder / "evals").mkdir()
    mine = evals(folder, case()).read_text()
    it = desk(environ=user(here))
    assert main(["new", "evals", f"{folder}/SKILL.md"], it.console) == 0
    assert (folder / "evals" / "evals.json").read_text() == mine
    assert (folder / "evals" / "trigger-eval.json").is_file()
    assert main(["new", "evals", str(folder)], it.console) == 1
    assert "nothing was written" in it.err


@pytest.mark.parametrize(("words", "status"), [([], 2), (["gone"], 2), (["skills/tide-times", "--dry-run"], 0)])
def test_x41_nothing_is_written_otherwise(words: list[str], status: int, here: Path):
    folder = skills()
    it = desk(environ=user(here))
    assert main(["new", "evals", *words], it.console) == status, it.err
    assert not (folder / "evals").exists()
