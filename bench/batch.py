"""A batch beside the same runs without one: processor time of a row, the store alone, a look at many rows."""

from __future__ import annotations

import asyncio
import json
import resource
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from bench.corpus import write_program
from bench.measure import Row
from bench.model_calls import model_server, sharded
from prosa.adapters.providers import OpenAIProvider
from prosa.adapters.store import runs
from prosa.adapters.store.writer import writer_of
from prosa.app.batch.inputs import Inputs, RowMapping, Rows, open_rows, survey
from prosa.app.batch.prepare import BatchOptions, prepare
from prosa.app.batch.shared import begin_batch
from prosa.app.options import Environment, JournalOptions, Options, say_nothing
from prosa.app.run.jobs import driving
from prosa.app.run.load import load_program
from prosa.app.runs import Job
from prosa.app.runs.engine import run_list
from prosa.records.run import CallRecord, RunRecord
from prosa.runtime.messages import ModelReply, ModelRequest, Usage
from prosa.runtime.program import Program
from prosa.settings import Settings

ROWS, SEEN = 3_000, 200_000
MANY, LATENCY = 1_000, 0.1
MODEL = "nobody-charges-for-this"


class _Echo:
    """A provider that answers at once and alike: what is left is our own work."""

    async def complete(self, request: ModelRequest, on_text: object = None) -> ModelReply:
        del request, on_text
        return ModelReply(json.dumps({"words": 2}), (), Usage(100, 5), model_name=MODEL)

    async def aclose(self) -> None:
        """Do nothing."""


def rows() -> Iterator[Row]:
    """Yield the table."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        program = load_program(write_program(folder), Options(model=MODEL), Settings())
        bare, kept = _bare(program, folder), _kept(program, folder)
        yield Row("a row, processor time", kept[0], "ms", "the same runs without a batch", bare, "≤ 0.5 ms more")
        yield Row("rows a second, one process", kept[1], "1/s")
        yield Row("the store alone, four writes a row", _store(folder), "1/s", aim="≥ 1,200")
        yield from _many(program, folder)
        yield from _looked(program, folder)


def _many(program: Program, folder: Path) -> Iterator[Row]:
    """Yield rows whose calls go over HTTP, a thousand at once, beside the calls alone."""
    with model_server(LATENCY) as base_url:
        plain, plain_wall = asyncio.run(_plain(base_url))
        path = _written(folder, ROWS)
        options = Options(model=MODEL, journal=JournalOptions("batch", folder / "many.sqlite"))
        rows, chosen = Rows(open_rows(str(path)), str(path)), BatchOptions(at_once=MANY)
        prepared = prepare(program, rows, RowMapping(), chosen, options, _around(folder))
        started, wall = time.process_time(), time.perf_counter()
        end = asyncio.run(begin_batch(prepared, provider=OpenAIProvider(api_key=None, base_url=base_url)))
        assert end.ok, end
        taken, took = (time.process_time() - started) / ROWS * 1000, time.perf_counter() - wall
    what = f"{ROWS:,} rows, {MANY:,} at once, calls of {LATENCY * 1000:g} ms"
    yield Row(f"{what}, processor time of a row", taken, "ms", "plain sharded clients", plain, "≤ 3.3 ms, ≤ 2.5x")
    yield Row(what, took, "s", "plain sharded clients", plain_wall, "≤ 30 s")


async def _plain(base_url: str) -> tuple[float, float]:
    async with sharded(base_url) as ask:
        numbers = iter(range(ROWS))

        async def one() -> None:
            for _ in numbers:
                await ask()

        started, wall = time.process_time(), time.perf_counter()
        await asyncio.gather(*(one() for _ in range(MANY)))
        return (time.process_time() - started) / ROWS * 1000, time.perf_counter() - wall


def _around(folder: Path) -> Environment:
    return Environment({"HOME": str(folder)}, Settings())


def _bare(program: Program, folder: Path) -> float:
    """Milliseconds of processor time of a run in one driver, 32 at once."""

    async def work() -> float:
        async with driving(Options(model=MODEL), _around(folder), provider=_Echo()) as driver:
            await driver.run(Job("first", program, {"text": "two words"}))
            jobs = [Job(str(number), program, {"text": f"two words {number}"}) for number in range(ROWS)]
            started = time.process_time()
            await run_list(jobs, driver.outcome, at_once=32)
            return (time.process_time() - started) / ROWS * 1000

    return asyncio.run(work())


def _kept(program: Program, folder: Path) -> tuple[float, float]:
    """Return the same for a row of a batch, all looked at and kept; and rows a second."""
    path = _written(folder, ROWS)
    options = Options(model=MODEL, journal=JournalOptions("batch", folder / "store.sqlite"))
    rows = Rows(open_rows(str(path)), str(path))
    started, wall = time.process_time(), time.perf_counter()
    prepared = prepare(program, rows, RowMapping(), BatchOptions(), options, _around(folder))
    end = asyncio.run(begin_batch(prepared, provider=_Echo()))
    assert end.ok, end
    return (time.process_time() - started) / ROWS * 1000, ROWS / (time.perf_counter() - wall)


def _store(folder: Path) -> float:
    """Return rows a second that are started, asked, answered and ended in the store, 32 at once, without any loop."""
    writer = writer_of(folder / "alone.sqlite")

    async def row(number: int) -> None:
        run = RunRecord(
            f"b.{number}", "batch", "b", str(number), "p", "p.md", "[]", "m", "", "2026-01-01", number=number
        )
        call = CallRecord(run.id, "1", 1, "model", "p", "m", "d", "2026-01-01")
        await asyncio.wrap_future(writer.do(runs.begin(run, lambda: writer.holder)))
        writer.do(runs.ask(call))
        await asyncio.wrap_future(writer.do(runs.answer(call)))
        await asyncio.wrap_future(writer.do(runs.end(run, "done", ended="2026-01-01", seconds=0.0, forget=True)))

    async def work() -> float:
        numbers = iter(range(ROWS))

        async def one() -> None:
            for number in numbers:
                await row(number)

        started = time.perf_counter()
        await asyncio.gather(*(one() for _ in range(32)))
        return ROWS / (time.perf_counter() - started)

    try:
        return asyncio.run(work())
    finally:
        writer.release()


def _looked(program: Program, folder: Path) -> Iterator[Row]:
    """Yield a look at many rows, as it comes before the first call."""
    path = _written(folder, SEEN)
    started = time.process_time()
    found = survey(Inputs(open_rows(str(path)), program, RowMapping({}, "key"), say_nothing), lambda _: None)
    assert found.total == SEEN
    taken = (time.process_time() - started) / SEEN * 1_000_000
    yield Row("a look at a row before the first call, processor time", taken, "µs", aim="≤ 30 s for a million")
    if sys.platform == "linux":
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        yield Row("most memory of all of this, one process", peak, "MiB", aim="≤ 150 MiB")


def _written(folder: Path, count: int) -> Path:
    path = folder / f"rows-{count}.jsonl"
    with path.open("w", encoding="utf-8") as file:
        for number in range(count):
            file.write(f'{{"key": {number}, "text": "some words of a text {number}"}}\n')
    return path
