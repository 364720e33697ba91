"""X29. Several workers at one batch: one that is killed, one that is frozen, a budget and a pace for all, and what each
of them says that it cannot run. The model is a fake."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import psycopg
import pytest

from prosa.adapters.store.opening import open_store
from prosa.records.run import StoreServer
from tests import warm
from tests.adapters.store.cluster import Cluster, programs
from tests.app.batch.labels import program
from tests.cli.programs import ROOT, SOURCE, prosa, user
from tests.depth import examples
from tests.model_server.behaviour import Behaviour
from tests.model_server.connection import Request
from tests.model_server.fixture import model_server
from tests.model_server.server import ModelServer

__all__ = ["model_server"]

LONGEST = 120
ROWS, MORE_ROWS = examples(60, share=2), examples(100, share=2)
SLOWER = 60 / ROWS
"""Fewer rows take as long as many: each worker has its part of them."""
KEY = "sk-a-key-that-is-nowhere"


class Counting:
    """Answers with the length of the text, over HTTP, after a moment."""

    def __init__(self, delay: float = 0.05) -> None:
        self.asked: Counter[str] = Counter()
        self.delay = delay * SLOWER

    def __call__(self, request: Request) -> Behaviour:
        body: Any = request.body
        text = body["messages"][-1]["content"].strip()
        self.asked[text] += 1
        return Behaviour(content={"n": len(text)}, delay=self.delay)


class Fleet:
    """Commands of one user, in one folder, with one store."""

    def __init__(self, folder: Path, url: str, model: ModelServer) -> None:
        self.folder, self.url = folder, url
        program(folder)
        open_store(StoreServer(url)).close()
        self.environ = user(folder, OPENAI_BASE_URL=model.base_url, OPENAI_API_KEY=KEY, PROSA_STORE=url)
        self.children: list[subprocess.Popen[str]] = []
        self._asking = psycopg.connect(url, autocommit=True)

    def rows(self, count: int) -> list[str]:
        (self.folder / "rows.jsonl").write_text(
            "".join(json.dumps({"text": "x" * (n + 1)}) + "\n" for n in range(count))
        )
        rows = ["--rows", "rows.jsonl", "--output", "out.jsonl", "--no-progress", "--yes"]
        return ["batch", "label.md", *rows]

    def begin(self, *words: str, folder: Path | None = None, **environ: str) -> subprocess.Popen[str]:
        """A command in a process of its own."""
        child = warm.popen(
            [sys.executable, "-m", "tests.adapters.store.hasty", *words],
            env={**self.environ, **environ, "PYTHONPATH": f"{SOURCE}{os.pathsep}{ROOT}"},
            cwd=folder or self.folder,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
        self.children.append(child)
        return child

    def worker(self, *words: str, **about: Any) -> subprocess.Popen[str]:
        """A worker that has begun to take rows."""
        return self.begin("worker", "--concurrency", "4", *words, **about)

    def outputs(self) -> list[int]:
        return [json.loads(each)["output"]["n"] for each in (self.folder / "out.jsonl").read_text().splitlines()]

    def asked(self, text: str) -> Any:
        """What a query of the store gives."""
        if self._asking.closed:
            self._asking = psycopg.connect(self.url, autocommit=True)
        return self._asking.execute(text).fetchall()

    def close(self) -> None:
        self._asking.close()
        for child in self.children:
            if child.poll() is None:
                child.send_signal(signal.SIGCONT)
                child.kill()
            child.communicate()


@pytest.fixture
def fleet(tmp_path: Path, url: str, model_server: ModelServer) -> Iterator[Fleet]:
    found = Fleet(tmp_path, url, model_server)
    yield found
    found.close()


def ended(child: subprocess.Popen[str]) -> tuple[int, str]:
    _, said = child.communicate(timeout=LONGEST)
    assert "Traceback" not in said, said
    return child.returncode, said


def until(happened: Callable[[], Any]) -> None:
    end = time.monotonic() + LONGEST
    while not happened():
        assert time.monotonic() < end
        time.sleep(0.05)


def at_work(fleet: Fleet) -> list[int]:
    """How many rows each holder of a lease has ended."""
    return [n for (n,) in fleet.asked("SELECT COUNT(*) FROM prosa.run WHERE state = 'done' GROUP BY holder")]


def test_x29_workers_end_a_batch_whose_beginner_is_gone(fleet: Fleet, model_server: ModelServer):
    """X29, A16: each row once; no key is in the store, and nothing in it is a pickle."""
    model_server.answer = model = Counting()
    words = fleet.rows(ROWS)
    beginner = fleet.begin(*words, "--concurrency", "2")
    until(lambda: len(model.asked) > 2)
    beginner.kill()
    workers = [fleet.worker(), fleet.worker("--batch", "label", "--until-empty")]
    until(lambda: fleet.asked("SELECT state FROM prosa.batch") == [("done",)])
    assert len(at_work(fleet)) > 1
    workers[0].send_signal(signal.SIGTERM)
    for each in workers:
        status, said = ended(each)
        assert status == 0 and "label-" in said and ": at work" in said
    status, _ = prosa("batch", "label", "--export", str(fleet.folder / "out.jsonl"), environ=fleet.environ)
    assert status == 0 and fleet.outputs() == list(range(1, ROWS + 1))
    assert sum(model.asked.values()) <= ROWS + 2
    words = [programs() / "pg_dump", fleet.url]
    dump = warm.run(words, capture_output=True, text=True, check=True).stdout
    assert "rows." in dump and KEY not in dump and "gASV" not in dump and "OPENAI" not in dump
    assert fleet.asked("SELECT COUNT(*) FROM prosa.item") == [(0,)]


def test_x29_a_killed_worker_loses_nothing_and_only_calls_in_flight_are_made_again(
    fleet: Fleet, model_server: ModelServer
):
    """X29, A2."""
    model_server.answer = model = Counting()
    rows = examples(80, share=2)
    worker = fleet.worker()
    beginner = fleet.begin(*fleet.rows(rows), "--concurrency", "4")
    until(lambda: len(at_work(fleet)) == 2 and min(at_work(fleet)) > 3)
    worker.kill()
    status, said = ended(beginner)
    assert status == 0, said
    assert fleet.outputs() == list(range(1, rows + 1))
    assert rows <= sum(model.asked.values()) <= rows + 4
    assert fleet.asked("SELECT COUNT(*) FROM prosa.run WHERE state = 'done'") == [(rows,)]


def test_x29_a_frozen_worker_writes_nothing_after_its_lease_was_given_away(fleet: Fleet, model_server: ModelServer):
    """X29, A3: it is stopped, another one ends its rows, and what it wakes up with is refused."""
    model_server.answer = model = Counting(0.1)
    worker = fleet.worker()
    beginner = fleet.begin(*fleet.rows(ROWS), "--concurrency", "4")
    until(lambda: len(at_work(fleet)) == 2)
    worker.send_signal(signal.SIGSTOP)
    status, said = ended(beginner)
    assert status == 0, said
    kept = "SELECT number, output, attempts, holder FROM prosa.run ORDER BY number"
    before = fleet.asked(kept)
    assert [number for number, *_ in before] == list(range(1, ROWS + 1)) and fleet.outputs() == list(range(1, ROWS + 1))
    calls = sum(model.asked.values())
    assert calls <= ROWS + 4
    worker.send_signal(signal.SIGCONT)
    seen = "SELECT 1 FROM pg_stat_activity WHERE query LIKE '%options IS NOT NULL%' AND pid <> pg_backend_pid()"
    until(lambda: fleet.asked(seen))  # it lives, and looks for batches
    worker.send_signal(signal.SIGTERM)
    assert ended(worker)[0] == 0
    assert fleet.asked(kept) == before
    assert sum(model.asked.values()) <= calls + 4  # what stood before its sending when it was stopped is sent


def test_x26_a_budget_is_that_of_all_workers_together(fleet: Fleet, model_server: ModelServer):
    """X26, A5: what the service counted is within it, and the batch says why it stopped."""
    config = fleet.folder / "settings"
    config.mkdir()
    (config / "settings.toml").write_text('prices."gpt-4o".input = 10\nprices."gpt-4o".output = 100\n')
    fleet.environ["PROSA_CONFIG_DIR"] = str(config)
    from prosa.app.trust import accept_agreement

    accept_agreement(fleet.environ, 0)
    model = Counting(0.02)

    def costly(request: Request) -> Behaviour:
        found = model(request)
        return Behaviour(content=found.content, delay=found.delay, usage={"input_tokens": 100, "output_tokens": 100})

    model_server.answer = costly
    worker = fleet.worker()
    words = [*fleet.rows(MORE_ROWS), "--max-output-tokens", "100", "--max-cost", "0.4", "--concurrency", "4"]
    status, said = ended(fleet.begin(*words))
    assert status == 1 and "the budget of $0.4" in said, said
    price = 100 * 10e-6 + 100 * 100e-6
    assert 0 < sum(model.asked.values()) * price <= 0.4
    assert fleet.asked("SELECT state FROM prosa.batch") == [("stopped",)]
    status, said = ended(fleet.begin(*fleet.rows(MORE_ROWS), "--max-output-tokens", "100", "--max-cost", "9"))
    assert status == 0, said
    assert fleet.outputs() == list(range(1, MORE_ROWS + 1))
    worker.send_signal(signal.SIGTERM)
    assert ended(worker)[0] == 0


def test_x29_calls_a_minute_are_those_of_all_workers_together(fleet: Fleet, model_server: ModelServer):
    """X29, A9: both ask, and together not more often than one may."""
    model_server.answer = model = Counting(0.01)
    workers = [fleet.worker(), fleet.worker()]
    beginner = fleet.begin(*fleet.rows(40), "--rpm", "20")
    until(lambda: sum(model.asked.values()) >= 20)
    waits = "SELECT COUNT(*) FROM prosa.pace"
    until(lambda: fleet.asked("SELECT COUNT(*) FROM prosa.run WHERE state = 'done'") == [(20,)])
    assert fleet.asked(waits) == [(20,)] and sum(model.asked.values()) == 20
    for each in (beginner, *workers):
        assert each.poll() is None
        each.kill()
    assert sum(model.asked.values()) == 20


def test_x7_a_worker_says_which_batches_it_does_not_run(fleet: Fleet, model_server: ModelServer, tmp_path: Path):
    """X7, A10: another version, no program, no agreement, tool servers that nobody trusts here."""
    model_server.answer = Counting()
    words = fleet.rows(3)
    beginner = fleet.begin(*words)
    assert ended(beginner)[0] == 0
    fleet.asked("UPDATE prosa.batch SET state = 'open' RETURNING id")
    fleet.asked("INSERT INTO prosa.item SELECT id, 99, '99', '{}' FROM prosa.batch RETURNING 1")
    other, empty = tmp_path / "other", tmp_path / "empty"
    for each in (other, empty):
        each.mkdir()
    (other / "label.md").write_text((tmp_path / "label.md").read_text() + "Again.\n")
    stranger = {"HOME": str(empty), "PROSA_CONFIG_DIR": str(empty), "MARKDOWNLANG_AGREE": ""}
    told = {
        "label.md is another version than that of the batch: label.md changed": {"folder": other},
        f"there is no program label.md below {empty}": {"folder": empty},
        "agreement has not been accepted": stranger,
    }
    for words, about in told.items():
        worker = fleet.worker(**about)
        line = ""
        while "label-" not in line:
            assert worker.stderr is not None
            line = worker.stderr.readline()
            assert line, f"nothing was said of {words}"
        assert "not run here" in line and words in line
        worker.kill()


def test_x29_a_batch_is_cancelled_shown_and_tried_again_from_elsewhere(fleet: Fleet, model_server: ModelServer):
    """X29: status, cancel and failures are matters of the store, wherever the program is."""
    model_server.answer = model = Counting(0.2)
    beginner = fleet.begin(*fleet.rows(200), "--concurrency", "2")
    until(lambda: len(model.asked) > 3)
    status, at = prosa("batch", "label", "--status", environ=fleet.environ)
    assert status == 0 and "at work" in at.out, at.out
    status, at = prosa("batch", "label", "--cancel", environ=fleet.environ)
    assert status == 0 and "cancelled" in at.err
    status, said = ended(beginner)
    assert status == 1 and "stopped: cancelled" in said
    asked = sum(model.asked.values())
    assert fleet.asked("SELECT COUNT(*) FROM prosa.queue") == [(0,)]
    assert fleet.asked("SELECT COUNT(*) FROM prosa.run WHERE state = 'done'") == [(asked,)]


def test_x29_postgresql_goes_and_comes_back_in_the_middle(cluster: Cluster, fleet: Fleet, model_server: ModelServer):
    """X29, A13: calls stop, nothing is acknowledged meanwhile, nothing is lost."""
    model_server.answer = model = Counting(0.1)
    worker = fleet.worker()
    beginner = fleet.begin(*fleet.rows(ROWS), "--concurrency", "4")
    until(lambda: len(at_work(fleet)) == 2)
    cluster.stop()
    cluster.start()
    status, said = ended(beginner)
    assert status == 0, said
    assert fleet.outputs() == list(range(1, ROWS + 1))
    assert sum(model.asked.values()) <= ROWS + 8
    worker.send_signal(signal.SIGTERM)
    assert ended(worker)[0] == 0


def priced(fleet: Fleet, model_server: ModelServer, usage: dict[str, int], delay: float = 0.05) -> Counting:
    """A model that costs 10 and 100 dollars for a million tokens, and counts so many for each call."""
    config = fleet.folder / "settings"
    config.mkdir()
    (config / "settings.toml").write_text('prices."gpt-4o".input = 10\nprices."gpt-4o".output = 100\n')
    fleet.environ["PROSA_CONFIG_DIR"] = str(config)
    from prosa.app.trust import accept_agreement

    accept_agreement(fleet.environ, 0)
    model = Counting(delay)

    def answer(request: Request) -> Behaviour:
        found = model(request)
        return Behaviour(content=found.content, delay=found.delay, usage=usage)

    model_server.answer = answer
    return model


@pytest.mark.parametrize("killed", [False, True], ids=["all live", "one is killed"])
def test_x26_a_small_cap_is_used_to_its_end_by_all_workers(fleet: Fleet, model_server: ModelServer, killed: bool):
    """X26, X29. Worst cases that others hold come back: cheap rows are all done, whatever one call may cost at most."""
    model = priced(fleet, model_server, {"input_tokens": 10, "output_tokens": 1})
    workers = [fleet.worker(), fleet.worker()]
    cap = 0.4 / SLOWER
    words = [*fleet.rows(ROWS), "--max-output-tokens", "100", "--max-cost", str(cap), "--concurrency", "4"]
    beginner = fleet.begin(*words)
    if killed:
        until(lambda: len(at_work(fleet)) == 3)
        workers[0].kill()
    status, said = ended(beginner)
    assert status == 0, said
    assert fleet.outputs() == list(range(1, ROWS + 1))
    assert ROWS <= sum(model.asked.values()) <= ROWS + 4
    [(granted,)] = fleet.asked("SELECT granted FROM prosa.batch")
    assert granted <= cap * 10**9


def test_x26_a_cap_that_is_too_small_is_spent_but_for_less_than_one_call(fleet: Fleet, model_server: ModelServer):
    """X26, X29. Nothing that a worker drew and did not use is lost to the others."""
    model = priced(fleet, model_server, {"input_tokens": 100, "output_tokens": 100}, 0.02)
    worker = fleet.worker()
    words = [*fleet.rows(max(ROWS, 45)), "--max-output-tokens", "100", "--max-cost", "0.4", "--concurrency", "4"]
    status, said = ended(fleet.begin(*words))
    assert status == 1 and "the budget of $0.4" in said, said
    worst = float(said.partition("it may cost $")[2].split()[0])
    price = 100 * 10e-6 + 100 * 100e-6
    assert 0.4 - worst < sum(model.asked.values()) * price <= 0.4
    worker.send_signal(signal.SIGTERM)
    assert ended(worker)[0] == 0
