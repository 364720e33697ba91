"""What recording and playing take above the run itself: the same program of one call scripted, recorded and played in
turn. Processor time alone, as others work on the machine too.
"""

from __future__ import annotations

import asyncio
import statistics
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from bench.corpus import ANSWER, write_program
from bench.measure import Row

RUNS = 100
ROUNDS = 5


def rows() -> Iterator[Row]:
    """Yield the table."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        times: dict[str, list[float]] = {"scripted": [], "recorded": [], "played": []}
        for _ in range(ROUNDS):
            for how, found in times.items():
                found.append(asyncio.run(_all(folder, how)))
        middle = {how: statistics.median(found) for how, found in times.items()}
    for how, aim in (("played", "≤ 3 ms more"), ("recorded", "")):
        yield Row(f"run of one call, {how}, processor", middle[how], "ms", "scripted", middle["scripted"], aim)


async def _all(folder: Path, how: str) -> float:
    """Milliseconds of one of many runs with different inputs."""
    from prosa.app.options import Environment, Options, Record, RecordingOptions, Replay
    from prosa.app.run.jobs import run_program
    from prosa.app.run.load import load_program
    from prosa.settings import Settings
    from prosa.testing import ScriptedProvider

    program = load_program(write_program(folder), Options(), Settings())
    tapes = folder / "tapes"
    recording = {"recorded": RecordingOptions(Record(tapes)), "played": RecordingOptions(replay=Replay(tapes))}.get(how)
    started = time.process_time()
    for number in range(RUNS):
        provider = None if how == "played" else ScriptedProvider([{"content": ANSWER}])
        given, options = {"text": f"word {number}"}, Options(recording=recording)
        await run_program(program, given, options, Environment({}, Settings()), provider=provider)
    return (time.process_time() - started) / RUNS * 1000
