"""What takes minutes: memory after many calls, and a hundred parents that are killed. Part of `make test-deep`."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import time
from pathlib import Path

from prosa.adapters.embedded.engine import engine_of, plan_of
from prosa.adapters.embedded.weights import model_in
from prosa.app.run.embedded import EmbeddedProvider
from prosa.runtime.messages import Message, ModelRequest
from tests.adapters.embedded.presence import weights
from tests.adapters.embedded.runs import engines_below, finished, is_there, letter, ran, started

MOST_BYTES = 500_000_000


def test_x35_memory_stays_bounded_over_five_hundred_calls():
    model = model_in(weights())
    engine = engine_of(model, plan_of(model), os.environ)
    provider = EmbeddedProvider(engine, str, completion=False)

    async def ask() -> None:
        for number in range(500):
            text = f"Letter {number}: " + f"word{number} " * (number % 60)
            await provider.complete(ModelRequest("m", (Message("user", text),), max_output=2))

    asyncio.run(ask())
    status = Path(f"/proc/{engine.pid}/status").read_text()
    (resident,) = [int(line.split()[1]) * 1024 for line in status.splitlines() if line.startswith("VmRSS")]
    assert resident <= MOST_BYTES


def test_x35_no_engine_outlives_a_hundred_parents_that_are_killed(tmp_path: Path, environ: dict[str, str]):
    path, seen = letter(tmp_path), []
    for number in range(100):
        process = started("run", path, "text=I am Ada.", "-m", "embedded", environ=environ)
        until = time.monotonic() + 60
        while not (found := engines_below(process.pid)) and process.poll() is None and time.monotonic() < until:
            time.sleep(0.005)
        time.sleep(number * 0.01)  # at every moment of a start and of an answer
        process.send_signal(signal.SIGKILL)
        process.communicate()
        seen += found
    time.sleep(2)
    assert len(seen) >= 90
    assert [each for each in seen if is_there(each)] == []


def test_x35_the_whole_tour_fits_its_columns(tmp_path: Path, environ: dict[str, str]):
    """What stays scripted says so."""
    status, out, err = finished("demo", environ={**environ, "COLUMNS": "80"})
    assert (status, json.loads(out)["title"]) == (0, "Version 2.4.0"), err
    assert "sign-flip test" in err and "12 of 12 rows done" in err and "SCRIPTED" in err
    assert [line for line in err.splitlines() if len(line) > 80] == []


def test_x35_of_thirty_letters_every_answer_is_valid_and_most_are_right(tmp_path: Path, environ: dict[str, str]):
    """The letters were written after everything else, and read by the model once: 24 were right then."""
    path, right = letter(tmp_path), 0
    lines = (Path(__file__).parent / "letters.jsonl").read_text(encoding="utf-8").splitlines()
    for each in map(json.loads, lines):
        result = ran(path, each["text"], environ)
        assert result.summary.iterations == 1
        right += result.output == {"name": each["name"], "euros": each["euros"]}
    assert len(lines) == 30
    assert right >= 22
