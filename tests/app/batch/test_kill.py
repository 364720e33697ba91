"""X29. A batch that is killed at any moment: the same command goes on, repeats only what was in flight, and its results
are those of one that was never killed."""

from __future__ import annotations

import asyncio
import gc
import json
import os
import random
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from prosa import abatch, batch
from tests import warm
from tests.app.batch.labels import Letters, home, program, texts
from tests.cli.programs import prosa, user
from tests.model_server.behaviour import Behaviour
from tests.model_server.connection import Request
from tests.model_server.fixture import model_server
from tests.model_server.server import ModelServer

__all__ = ["model_server"]

ROWS = 60
LONGEST = 120


class Counting:
    """Answers with the length of the text, over HTTP. It kills the process that asks for ``poison``, and any other when
    it was asked so often."""

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.victim, self.after, self.poison = 0, 0, ""
        self.ready = threading.Event()
        self.ready.set()
        self.chance = random.Random(29)

    def __call__(self, request: Request) -> Behaviour:
        body: Any = request.body
        assert self.ready.wait(LONGEST)
        text = body["messages"][-1]["content"].strip()
        self.asked.append(text)
        if self.victim and (len(self.asked) == self.after or text == self.poison):
            os.kill(self.victim, signal.SIGKILL)
        return Behaviour(content={"n": len(text)}, delay=self.chance.random() * 0.02)

    def kill(self, words: list[str], environ: dict[str, str]) -> None:
        """Begins the command, which is killed before it has an answer to what kills it."""
        self.ready.clear()
        child = begun(words, environ)
        self.victim = child.pid
        self.ready.set()
        assert child.wait(LONGEST) == -signal.SIGKILL
        child.stderr.close()
        self.victim = 0


def command(folder: Path) -> list[str]:
    program(folder)
    (folder / "rows.jsonl").write_text("".join(json.dumps({"text": "x" * (n + 1)}) + "\n" for n in range(ROWS)))
    rows = ["--rows", str(folder / "rows.jsonl"), "--output", str(folder / "out.jsonl")]
    return ["batch", str(folder / "label.md"), *rows, "--concurrency", "6", "--no-progress"]


def begun(words: list[str], environ: dict[str, str]) -> subprocess.Popen[bytes]:
    return warm.popen(
        [sys.executable, "-m", "prosa", *words],
        env={**environ, "PYTHONPATH": os.environ["PYTHONPATH"]},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
    )


def outputs(folder: Path) -> list[int]:
    return [json.loads(each)["output"]["n"] for each in (folder / "out.jsonl").read_text().splitlines()]


def test_x29_what_was_killed_goes_on_and_repeats_only_calls_in_flight(tmp_path: Path, model_server: ModelServer):
    """X29."""
    environ = user(tmp_path, OPENAI_BASE_URL=model_server.base_url, OPENAI_API_KEY="k")
    words = command(tmp_path)
    model_server.answer = model = Counting()
    for after in (9, 30):
        model.after = after
        model.kill(words, environ)
        assert not (tmp_path / "out.jsonl").exists()
    status, at = prosa(*words, environ=environ)
    assert status == 0, at.err
    assert outputs(tmp_path) == list(range(1, ROWS + 1))
    assert ROWS <= len(model.asked) <= ROWS + 2 * 6  # six rows at once
    assert f"{ROWS} of {ROWS} rows done" in at.err


def test_x29_a_row_that_ends_its_process_three_times_is_set_aside(tmp_path: Path, model_server: ModelServer):
    """X29: those beside it are done."""
    environ = user(tmp_path, OPENAI_BASE_URL=model_server.base_url, OPENAI_API_KEY="k")
    words = command(tmp_path)
    model_server.answer = model = Counting()
    model.poison = "x" * 8
    for _ in range(3):
        model.kill(words, environ)
    model.poison = ""
    before = model.asked.count("x" * 8)
    status, _ = prosa(*words, environ=environ)
    assert status == 1 and model.asked.count("x" * 8) == before == 3
    (failure,) = (json.loads(each) for each in (tmp_path / "out.failures.jsonl").read_text().splitlines())
    assert (failure["row"], failure["kind"]) == (8, "crashed") and "3 times" in failure["error"]
    assert outputs(tmp_path) == [n for n in range(1, ROWS + 1) if n != 8]
    assert prosa("batch", "label", "--retry-failed", "--output", str(tmp_path / "out.jsonl"), environ=environ)[0] == 0
    assert outputs(tmp_path) == list(range(1, ROWS + 1))


def test_x29_a_second_process_is_refused_while_the_first_lives(tmp_path: Path, model_server: ModelServer):
    """X29: one process at a time has the batches of a store."""
    environ = user(tmp_path, OPENAI_BASE_URL=model_server.base_url, OPENAI_API_KEY="k")
    words = command(tmp_path)
    model_server.answer = lambda _: Behaviour(content={"n": 1}, delay=0.5)
    child = begun(words, environ)
    try:
        until(lambda: len(model_server.requests) > 0)
        status, at = prosa(*words, environ=environ)
        assert status == 1 and "runs in another process" in at.err and "Traceback" not in at.err
        status, at = prosa("batch", "label", "--cancel", environ=environ)
        assert status == 2 and "runs in another process" in at.err
    finally:
        child.kill()
        child.wait(LONGEST)
        child.stderr.close()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_x29_a_signal_lets_rows_under_way_end(tmp_path: Path, model_server: ModelServer, number: int):
    """X29: nothing that was asked is asked again, and the way on is told."""
    environ = user(tmp_path, OPENAI_BASE_URL=model_server.base_url, OPENAI_API_KEY="k")
    words = command(tmp_path)
    model_server.answer = model = Counting()
    model.after = 0
    slow = Behaviour(content={"n": 1}, delay=0.3)
    model_server.answer = lambda request: model(request) and slow
    child = begun(words, environ)
    until(lambda: len(model.asked) > 6)
    child.send_signal(number)
    _, said = child.communicate(timeout=LONGEST)
    assert child.returncode == 130 and b"\nstopped\n  to continue:" in said and b"Traceback" not in said
    asked = len(model.asked)
    with closing(sqlite3.connect(tmp_path / "home/.local/share/prosa/store.sqlite")) as connection:
        states = dict(connection.execute("SELECT state, COUNT(*) FROM run GROUP BY state").fetchall())
    assert states == {"done": asked}
    model_server.answer = model
    assert prosa(*words, environ=environ)[0] == 0
    assert len(model.asked) == ROWS


def test_x29_a_batch_whose_coroutine_is_dropped_goes_on_later(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """X29: an event loop that was stopped for good leaves rows under way, which did not end their process."""
    complaints: list[Any] = []
    monkeypatch.setattr(sys, "unraisablehook", complaints.append)

    class Waiting(Letters):
        async def complete(self, request: Any, on_text: Any = None) -> Any:
            if len(self.asked) == 5:
                loop.stop()
                await asyncio.Event().wait()
            return await super().complete(request, on_text)

    for _ in range(4):  # more often than a row may end its process
        loop = asyncio.new_event_loop()
        found = abatch(program(tmp_path), texts(60), provider=Waiting(), environ=home(tmp_path), concurrency=4)
        loop.set_exception_handler(lambda *_: None)  # it says that tasks were pending
        task = loop.create_task(found)
        loop.run_forever()
        loop.close()
        found.close()
        del task, found
        gc.collect()
    assert not complaints
    model = Letters()
    last = batch(program(tmp_path), texts(60), provider=model, environ=home(tmp_path))
    assert last.ok and not last.summary.failures
    assert 60 - 4 * 5 <= sum(model.asked.values()) <= 60 - 4 * 5 + 4 * 3  # what was answered, and in flight beside it


def until(happened: Any) -> None:
    end = time.monotonic() + LONGEST
    while not happened():
        assert time.monotonic() < end
        time.sleep(0.01)


DYING = """
import os, sys
from pathlib import Path
import prosa
from prosa.runtime import execute
from tests.app.batch.labels import Letters, home, texts

render = execute.render_body


def dying(program, data):
    if data.get("text") == "xxx":
        os._exit(9)  # as where a library in C ends the process
    return render(program, data)


execute.render_body = dying
folder = Path(sys.argv[1])
found = prosa.batch(folder / "label.md", texts(6), provider=Letters(), concurrency=4, environ=home(folder))
print(found.summary.done, dict(found.summary.failed))
"""


def test_x29_a_row_that_ends_its_process_before_its_first_call_is_set_aside(tmp_path: Path):
    """X29: its start is in the store once the batch has been begun by a process that did not end well."""
    program(tmp_path)
    words = [sys.executable, "-c", DYING, str(tmp_path)]
    ends = [subprocess.run(words, capture_output=True, text=True, timeout=LONGEST) for _ in range(5)]
    assert [each.returncode for each in ends] == [9, 9, 9, 9, 0], ends[-1].stderr
    assert ends[-1].stdout.strip() == "5 {'crashed': 1}"
