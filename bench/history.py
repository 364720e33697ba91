"""The journal and the history: what they add to a call and to a run, and how long a list of many runs takes."""

from __future__ import annotations

import asyncio
import os
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from bench.corpus import write_program
from bench.measure import Row, calls, interleaved, python
from prosa.adapters.providers.scripted import ScriptedProvider
from prosa.app.options import Environment, JournalOptions, Options
from prosa.app.run.jobs import driving
from prosa.app.run.load import load_program
from prosa.app.runs import Job
from prosa.runtime.program import Program
from prosa.settings import Settings

RUNS, STORED, ITERATIONS = 200, 100_000, 9


def rows() -> Iterator[Row]:
    """Yield the table."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        program = load_program(write_program(folder), Options(), Settings())
        good = {"content": {"words": 2}}
        one, several = [good], [*[{"content": "no JSON"}] * (ITERATIONS - 1), good]
        bare, kept = (_run(program, folder, one, journal=journal) for journal in (False, True))
        yield Row("a run of one call, processor time", kept, "ms", "without a journal", bare, "≤ 2 ms more")
        long_bare, long_kept = (_run(program, folder, several, journal=journal) for journal in (False, True))
        call, call_bare = ((long - short) / (ITERATIONS - 1) for long, short in ((long_kept, kept), (long_bare, bare)))
        yield Row("one call more, processor time", call, "ms", "without a journal", call_bare, "≤ 0.3 ms more")
        yield from _lists(folder)


def _run(program: Program, folder: Path, replies: list[dict[str, object]], *, journal: bool) -> float:
    """Milliseconds of processor time of a run in an open store."""

    async def work() -> float:
        around = Environment({"HOME": str(folder)}, Settings())
        options = Options(journal=JournalOptions("python", folder / "runs.sqlite") if journal else None)
        async with driving(options, around, provider=ScriptedProvider(replies * (RUNS + 1))) as driver:
            await driver.run(Job("first", program, {"text": "two words"}))
            started = time.process_time()
            for number in range(RUNS):
                await driver.run(Job(str(number), program, {"text": "two words"}))
            return (time.process_time() - started) / RUNS * 1000

    return asyncio.run(work())


def _lists(folder: Path) -> Iterator[Row]:
    from prosa.app.journal.history import listed
    from prosa.records.run import RunFilter
    from tests.app.journal.test_history import many

    store = folder / "many.sqlite"
    many(store, STORED)
    taken = calls(lambda: listed(store, RunFilter(failed=True, limit=50))) / 1000
    yield Row(f"{STORED:,} runs, those that failed, in a process", taken, "ms", aim="≤ 100 ms")
    command = [*python("-m", "prosa"), "runs", "--failed", "--store", str(store)]
    found = interleaved({"bare": python("-c", "pass"), "runs": command}, dict(os.environ), 5)
    yield Row("the same, a whole process", found["runs"].wall, "ms", "python -c pass", found["bare"].wall)
