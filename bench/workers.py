"""One worker beside two on PostgreSQL: how long a batch takes whose calls take 100 ms, what a row costs, what waits for
locks, and after how long a killed worker's rows continue. The server is private, durable as it comes, on this
machine."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

from bench.measure import Row

ROWS, AT_ONCE, DELAY = 400, 4, 0.1


def rows() -> Iterator[Row]:
    """Yield the table; nothing where there is no PostgreSQL."""
    from tests.adapters.store import cluster

    if cluster.programs() is None:
        return
    for name in ("fsync", "synchronous_commit", "full_page_writes", "autovacuum"):
        cluster.OPTIONS.pop(name)
    server = cluster.Cluster()
    try:
        one, two = _ran(server.database(), 0), _ran(server.database(), 1)
        file = _in_a_file(server.database())
        yield Row("two workers, the time of a batch", two.seconds, "s", "one worker", one.seconds, "≤ 0.6 of one")
        yield Row("a row, processor time with start and HTTP", one.cpu, "ms", "the same in a file", file)
        yield Row("moments in which somebody waited for a lock", two.waits, "%")
        yield Row("after kill -9 its rows go on", _taken_over(server.database()), "s", aim="≤ 30 s")
    finally:
        server.remove()


class _Run:
    """What one batch took."""

    def __init__(self, seconds: float, cpu: float, waits: float) -> None:
        self.seconds, self.cpu, self.waits = seconds, cpu, waits


@contextmanager
def _place(url: str) -> Iterator[dict[str, str]]:
    """Return a folder with a program and rows, a model that takes its time, and the environment of a user."""
    from prosa.adapters.store.opening import open_store
    from prosa.records.run import StoreServer
    from tests.app.batch.labels import program
    from tests.cli.programs import ROOT, SOURCE, user
    from tests.model_server.behaviour import Behaviour
    from tests.model_server.server import ModelServer

    with tempfile.TemporaryDirectory() as name, ModelServer(record=False) as model:
        folder = Path(name)
        program(folder)
        model.checks = False
        model.answer = lambda _: Behaviour(content={"n": 1}, delay=DELAY)
        lines = [json.dumps({"text": f"row {number}"}) + "\n" for number in range(ROWS)]
        (folder / "rows.jsonl").write_text("".join(lines))
        open_store(StoreServer(url)).close()
        environ = user(folder, OPENAI_BASE_URL=model.base_url, OPENAI_API_KEY="k", PROSA_STORE=url)
        yield {**environ, "PYTHONPATH": f"{SOURCE}{os.pathsep}{ROOT}", "PWD": name}


def _begun(environ: dict[str, str], *words: str) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", "prosa", *words, "--concurrency", str(AT_ONCE)]
    quiet: dict[str, Any] = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    return subprocess.Popen(command, env=environ, cwd=environ["PWD"], **quiet)


def _batch(environ: dict[str, str]) -> subprocess.Popen[bytes]:
    words = "batch", "label.md", "--rows", "rows.jsonl", "--output", "out.jsonl", "--yes", "--no-progress"
    return _begun(environ, *words)


def _asked(url: str, text: str) -> Any:  # noqa: ANN401 - whatever the query gives
    import psycopg

    with psycopg.connect(url, autocommit=True) as connection:
        row = connection.execute(text).fetchone()
        return row[0] if row else None


def _ran(url: str, others: int) -> _Run:
    with _place(url) as environ, ExitStack() as stack:
        workers = [_begun(environ, "worker") for _ in range(others)]
        stack.callback(lambda: [each.kill() for each in workers])
        waits, over = [0, 0], threading.Event()
        watch = threading.Thread(target=_watch, args=(url, waits, over))
        watch.start()
        child = _batch(environ)
        _, status, used = os.wait4(child.pid, 0)
        over.set()
        watch.join()
        assert status == 0, "the batch failed"
        took = "SELECT EXTRACT(EPOCH FROM MAX(ended)::timestamptz - MIN(started)::timestamptz)::float8 FROM prosa.run"
        cpu = (used.ru_utime + used.ru_stime) / ROWS * 1000
        return _Run(float(_asked(url, took)), cpu, 100 * waits[0] / max(waits[1], 1))


def _in_a_file(url: str) -> float:
    """Milliseconds of processor time of a row of the same batch in a file of SQLite."""
    with _place(url) as environ:
        child = _batch({**environ, "PROSA_STORE": str(Path(environ["PWD"], "store.sqlite"))})
        _, _, used = os.wait4(child.pid, 0)
        return (used.ru_utime + used.ru_stime) / ROWS * 1000


def _watch(url: str, waits: list[int], over: threading.Event) -> None:
    """Check fifty times a second whether a connection waits for a lock."""
    import psycopg

    text = "SELECT COUNT(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock'"
    with psycopg.connect(url, autocommit=True) as connection:
        while not over.wait(0.02):
            row = connection.execute(text).fetchone()
            waits[0] += bool(row and row[0])
            waits[1] += 1


def _taken_over(url: str) -> float:
    """Return seconds from the end of a worker until one of its rows restarts, with the default takeover time."""
    with _place(url) as environ, ExitStack() as stack:
        worker = _begun(environ, "worker")
        child = _batch(environ)
        stack.callback(child.kill)
        held = "SELECT COUNT(DISTINCT holder) FROM prosa.run WHERE state = 'done'"
        while _asked(url, held) < 2:
            time.sleep(0.05)
        worker.send_signal(signal.SIGKILL)
        worker.wait()
        since = time.monotonic()
        while not _asked(url, "SELECT COUNT(*) FROM prosa.run WHERE attempts > 1"):
            time.sleep(0.05)
        return time.monotonic() - since
