"""A batch beside the same runs without one, and beside the calls alone: processor time of a row, the store alone, a
look at many rows; growth with the rows where that is asked for (`--large`)."""

from __future__ import annotations

import asyncio
import gc
import json
import os
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, ProcessPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path

from bench.corpus import write_program
from bench.indexing import LARGE_VARIABLE
from bench.measure import Row, own_memory
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
from prosa.cli.process import COLLECT_AFTER
from prosa.records.run import CallRecord, RunRecord, StorePlace, StoreServer
from prosa.runtime.messages import ModelReply, ModelRequest, Usage
from prosa.runtime.ports import Provider
from prosa.runtime.program import Program
from prosa.settings import Settings

FEW, ROWS, GROWN, SEEN = 100, 3_000, 30_000, 200_000
AT_ONCE, MANY, LATENCY = 32, 1_000, 0.1
ASKED = {AT_ONCE: 1_500, MANY: ROWS}
"""Rows over HTTP, by how many of them at once: few at once wait longer for their calls."""
TURNS = 3
PLAIN = "plain sharded clients"
MODEL = "nobody-charges-for-this"


@dataclass(frozen=True, slots=True)
class _Taken:
    """What a batch took: milliseconds of processor time of a row, seconds by the clock."""

    cpu: float
    wall: float


class _Echo:
    """A provider that answers at once and alike: what is left is our own work."""

    async def complete(self, request: ModelRequest, on_text: object = None) -> ModelReply:
        del request, on_text
        return ModelReply(json.dumps({"words": 2}), (), Usage(100, 5), model_name=MODEL)

    async def aclose(self) -> None:
        """Do nothing."""


def rows() -> Iterator[Row]:
    """Yield the table. Garbage is collected as seldom as in the command, for the baselines too."""
    gc.set_threshold(COLLECT_AFTER, 50, 50)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        program = load_program(write_program(folder), Options(model=MODEL), Settings())
        bare, kept = _bare(program, folder), _batch(program, folder, folder / "store.sqlite", _Echo(), ROWS)
        yield Row("a row, processor time", kept.cpu, "ms", "the same runs without a batch", bare, "≤ 0.5 ms more")
        yield Row("rows a second, one process", ROWS / kept.wall, "1/s")
        yield Row("the store alone, four writes a row", _store(folder), "1/s", aim="≥ 1,200")
        if os.environ.get(LARGE_VARIABLE):
            yield from _growth(program, folder)
        for at_once in (AT_ONCE, MANY):
            yield from _many(program, folder, at_once)
        yield from _looked(program, folder)


def _growth(program: Program, folder: Path) -> Iterator[Row]:
    """Yield ten times the rows beside the rows, by their processor time and the peak of the process."""
    with _database() as database:
        places = {"SQLite": lambda count: folder / f"growth-{count}.sqlite"}
        places |= {"PostgreSQL": lambda _: database()} if database else {}
        for name, place in places.items():
            _batch(program, folder, place(FEW), _Echo(), FEW)  # loads what a batch needs
            found = [(_batch(program, folder, place(count), _Echo(), count), own_memory()) for count in (ROWS, GROWN)]
            (few, before), (many, after) = found
            what = f"{GROWN:,} rows on {name}, processor time"
            yield Row(what, many.cpu * GROWN / 1000, "s", f"{ROWS:,} rows", few.cpu * ROWS / 1000, "≤ 11x")
            yield Row(f"{GROWN:,} rows on {name}, most memory", after, "MiB", f"after {ROWS:,} rows", before)


def _many(program: Program, folder: Path, at_once: int) -> Iterator[Row]:
    """Yield rows whose calls go over HTTP, so many at once, in a file and on a server, by turns with the calls
    alone."""
    turns: dict[str, list[_Taken]] = {}
    count = ASKED[at_once]
    with model_server(LATENCY) as base_url, _database() as database, _elsewhere() as other:
        for turn in range(TURNS):
            turns.setdefault(PLAIN, []).append(other.submit(_baseline, base_url, count, at_once).result())
            places = {"SQLite": folder / f"many-{at_once}-{turn}.sqlite"} | (
                {"PostgreSQL": database()} if database else {}
            )
            for name, place in places.items():
                provider = OpenAIProvider(api_key=None, base_url=base_url)
                turns.setdefault(name, []).append(_batch(program, folder, place, provider, count, at_once))
    plain = turns.pop(PLAIN)
    for name, taken in turns.items():
        what = f"{count:,} rows on {name}, {at_once:,} at once, calls of {LATENCY * 1000:g} ms"
        pairs = sorted(zip(taken, plain, strict=True), key=lambda pair: pair[0].cpu / pair[1].cpu)
        one, other = pairs[len(pairs) // 2]  # of one turn: their ratio is the median one
        yield Row(f"{what}, processor time of a row", one.cpu, "ms", PLAIN, other.cpu, "≤ 3.3 ms, ≤ 2.5x")
        yield Row(what, one.wall, "s", PLAIN, other.wall, "≤ 30 s" if at_once == MANY else "")


@contextmanager
def _database() -> Iterator[Callable[[], StoreServer] | None]:
    """Return what makes a store on a private server that is durable; None where there is no PostgreSQL."""
    from prosa.adapters.store.opening import open_store
    from tests.adapters.store import cluster

    if cluster.programs() is None:
        print("PostgreSQL is not installed: its rows are left out", file=sys.stderr)
        yield None
        return
    for name in ("fsync", "synchronous_commit", "full_page_writes", "autovacuum"):
        cluster.OPTIONS.pop(name, None)
    server = cluster.Cluster()

    def database() -> StoreServer:
        place = StoreServer(server.database())
        open_store(place).close()
        return place

    try:
        yield database
    finally:
        server.remove()


@contextmanager
def _elsewhere() -> Iterator[Executor]:
    """Return a process for the baseline, so that its memory is not counted as that of a batch."""
    with ProcessPoolExecutor(1, get_context("spawn"), gc.set_threshold, (COLLECT_AFTER, 50, 50)) as pool:
        yield pool


def _baseline(base_url: str, count: int, at_once: int) -> _Taken:
    return asyncio.run(_plain(base_url, count, at_once))


async def _plain(base_url: str, count: int, at_once: int) -> _Taken:
    async with sharded(base_url) as ask:
        numbers = iter(range(count))

        async def one() -> None:
            for _ in numbers:
                await ask()

        started, wall = time.process_time(), time.perf_counter()
        await asyncio.gather(*(one() for _ in range(at_once)))
        return _Taken((time.process_time() - started) / count * 1000, time.perf_counter() - wall)


def _batch(
    program: Program, folder: Path, place: StorePlace, provider: Provider, count: int, at_once: int = AT_ONCE
) -> _Taken:
    """Run rows that are all looked at and kept."""
    path = _written(folder, count)
    options = Options(model=MODEL, journal=JournalOptions("batch", place))
    rows = Rows(open_rows(str(path)), str(path))
    started, wall = time.process_time(), time.perf_counter()
    prepared = prepare(program, rows, RowMapping(), BatchOptions(at_once=at_once), options, _around(folder))
    end = asyncio.run(begin_batch(prepared, provider=provider))
    assert end.ok, end
    return _Taken((time.process_time() - started) / count * 1000, time.perf_counter() - wall)


def _around(folder: Path) -> Environment:
    return Environment({"HOME": str(folder)}, Settings())


def _bare(program: Program, folder: Path) -> float:
    """Milliseconds of processor time of a run in one driver, 32 at once."""

    async def work() -> float:
        async with driving(Options(model=MODEL), _around(folder), provider=_Echo()) as driver:
            await driver.run(Job("first", program, {"text": "two words"}))
            jobs = [Job(str(number), program, {"text": f"two words {number}"}) for number in range(ROWS)]
            started = time.process_time()
            await run_list(jobs, driver.outcome, at_once=AT_ONCE)
            return (time.process_time() - started) / ROWS * 1000

    return asyncio.run(work())


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
        await asyncio.gather(*(one() for _ in range(AT_ONCE)))
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
        yield Row("most memory of all of this, one process", own_memory(), "MiB", aim="≤ 150 MiB")


def _written(folder: Path, count: int) -> Path:
    path = folder / f"rows-{count}.jsonl"
    with path.open("w", encoding="utf-8") as file:
        for number in range(count):
            file.write(f'{{"key": {number}, "text": "some words of a text {number}"}}\n')
    return path
