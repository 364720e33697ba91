"""X25. A process that is killed at any moment loses nothing that was answered, and what goes on repeats only what was
in flight."""

from __future__ import annotations

import json
import os
import random
import signal
import sqlite3
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests import warm
from tests.app.journal.runs import Model, nested, ran, rows
from tests.cli.programs import ROOT, SOURCE, prosa, user
from tests.depth import examples
from tests.model_server.behaviour import Behaviour
from tests.model_server.connection import Request
from tests.model_server.fixture import model_server
from tests.model_server.server import ModelServer

__all__ = ["model_server"]


class Dying:
    """The process that forks those which die."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        environ = {**os.environ, "PYTHONPATH": f"{SOURCE}{os.pathsep}{ROOT}"}
        command = [sys.executable, "-m", "tests.app.journal.dying", str(folder)]
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
        self.process = warm.popen(command, env=environ, cwd=ROOT, text=True, **pipes)  # type: ignore[call-overload]
        assert self.process.stdout.readline() == "ready\n"
        self.homes = 0

    def run(self, *, seed: int, at: int = 0, when: str | None = None) -> tuple[Path, int]:
        """The home that a child leaves behind, and the signal that ended it."""
        self.homes += 1
        home = self.folder / f"home{self.homes}"
        line = json.dumps({"home": str(home), "seed": seed, "at": at, "when": when})
        self.process.stdin.write(f"{line}\n")
        self.process.stdin.flush()
        return home, int(self.process.stdout.readline())


@pytest.fixture(scope="module")
def dying(tmp_path_factory):
    found = Dying(tmp_path_factory.mktemp("dying"))
    yield found
    found.process.stdin.close()
    found.process.wait(120)


KILLED = examples(20, share=2)
"""Runs that are killed, wherever they were."""


def asked(home: Path) -> int:
    return len((home / "asked").read_text().splitlines())


def test_x25_killed_at_any_write_a_run_goes_on_as_if_it_had_not_been(dying: Dying, tmp_path: Path):
    """Before and after commits all over the run, with other delays each time."""
    program = nested(tmp_path)
    home, ended = dying.run(seed=0)
    assert ended == 0
    commits, calls = int((home / "commits").read_text()), asked(home)
    ((output,),) = [tuple(row.values()) for row in rows(home, "SELECT output FROM run")]
    chance = random.Random(25)
    repeated = killed = 0
    for seed in range(200):
        if killed == KILLED:
            break
        at, when = chance.randint(1, commits), chance.choice(("before", "after"))
        home, ended = dying.run(seed=seed, at=at, when=when)
        if not ended:
            reached = int((home / "commits").read_text())
            assert reached < at  # more answers waited together this time
            commits = max(reached, commits // 2)
            continue
        assert ended == signal.SIGKILL
        killed += 1
        found = runs_in(home)
        known = rows(home, "SELECT path FROM call WHERE kind = 'model' AND state = 'answered'") if found else []
        if not found:
            assert at <= 2  # the tables, and the run with its first call
            assert ran(program, home, Model()).output == json.loads(output)
            continue
        assert found[0]["state"] in ("open", "done")
        model = Model()
        result = ran(program, home, model, resume=found[0]["id"])
        assert result.output == json.loads(output)
        assert len(model.asked) == calls - len(known)
        repeated += asked(home) - len(known)
    assert killed == KILLED
    assert repeated > 0  # some calls were in flight


def runs_in(home: Path) -> list[dict[str, Any]]:
    """The runs of a store that may have been killed before it had tables."""
    try:
        return rows(home, "SELECT id, state FROM run")
    except sqlite3.OperationalError:
        return []


class Answering:
    """The model of `Model`, over HTTP, with random delays. It kills a process when it was asked so often."""

    def __init__(self, seed: int) -> None:
        self.chance = random.Random(seed)
        self.asked, self.victim, self.after = 0, 0, 0

    def __call__(self, request: Request) -> Behaviour:
        self.asked += 1
        if self.asked == self.after:
            os.kill(self.victim, signal.SIGKILL)
        body: Any = request.body
        delay = self.chance.random() * 0.05
        names = [each["function"]["name"] for each in body.get("tools", ()) if each["function"]["name"] != "python"]
        said = [each["content"] for each in body["messages"] if each["role"] == "tool"]
        if names and not said:
            calls = tuple({"name": names[0], "arguments": {"text": f"part {n // 2}"}} for n in range(6))
            return Behaviour(tool_calls=calls, delay=delay)
        number = sum(json.loads(each)["n"] for each in said) if said else len(body["messages"][-1]["content"]) % 97
        return Behaviour(content={"n": number}, delay=delay)


@pytest.mark.parametrize("after", [2, 9, 23, 40])
def test_x25_a_command_that_is_killed_goes_on_by_its_id(tmp_path: Path, model_server: ModelServer, after: int):
    """`kill -9` in the middle of concurrent calls; `prosa run --resume ID` needs neither file nor input."""
    nested(tmp_path)
    environ = user(tmp_path, OPENAI_BASE_URL=model_server.base_url, OPENAI_API_KEY="k")
    command = ["run", str(tmp_path / "main.md"), "text=it", "--no-progress"]
    model_server.answer = whole = Answering(after)
    status, at = prosa(*command, environ=environ)
    assert status == 0
    model_server.answer = dying = Answering(after)
    child = warm.popen(
        [sys.executable, "-m", "prosa", *command],
        env={**environ, "PYTHONPATH": str(SOURCE)},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    dying.victim, dying.after = child.pid, after
    assert child.wait(60) == -signal.SIGKILL
    (run,) = rows(tmp_path / "home", "SELECT * FROM run WHERE state = 'open'")
    known = rows(
        tmp_path / "home", "SELECT * FROM call WHERE run = ? AND kind = 'model' AND state = 'answered'", run["id"]
    )
    status, listed = prosa("runs", "--failed", "--format", "json", environ=environ)
    assert [each["state"] for each in json.loads(listed.out)["runs"]] == ["interrupted"]
    model_server.answer = again = Answering(after + 1)
    status, gone_on = prosa("run", "--resume", run["id"][:8], environ=environ)
    assert (status, gone_on.out) == (0, at.out)
    assert again.asked == whole.asked - len(known)
    assert dying.asked - len(known) <= 36


def test_x25_a_run_that_still_goes_on_is_left_to_its_process(tmp_path: Path, model_server: ModelServer):
    """Two processes on one store: the second one may not take the run, and may run on its own."""
    nested(tmp_path)
    environ = user(tmp_path, OPENAI_BASE_URL=model_server.base_url, OPENAI_API_KEY="k")
    command = ["run", str(tmp_path / "main.md"), "text=it", "--no-progress"]
    said: list[str] = []

    class Asking(Answering):
        def __call__(self, request: Request) -> Behaviour:
            if self.asked == 3:
                (run,) = rows(tmp_path / "home", "SELECT id FROM run")
                other = [sys.executable, "-m", "prosa", "run", "--resume", run["id"]]
                about = {"env": {**environ, "PYTHONPATH": str(SOURCE)}, "capture_output": True, "text": True}
                done = warm.run(other, check=False, **about)
                said.append(f"{done.returncode} {done.stderr}")
            return super().__call__(request)

    model_server.answer = Asking(1)
    child = warm.run(
        [sys.executable, "-m", "prosa", *command],
        env={**environ, "PYTHONPATH": str(SOURCE)},
        capture_output=True,
        check=False,
    )
    assert child.returncode == 0
    assert len(said) == 1 and "is still active in another process" in said[0] and said[0].startswith("1 ")
    assert [row["state"] for row in rows(tmp_path / "home", "SELECT state FROM run")] == ["done"]
