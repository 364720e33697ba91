"""The model in the box: how long it takes to start, until its first word, and what Prosa takes beside the engine.

Needs the engine (`requirements/dev.lock`) and the weights (`prosa models pull smollm2`). On a busy machine only the
processor time compares.
"""

from __future__ import annotations

import asyncio
import os
import statistics
import time
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

from bench.measure import Row, process, python
from prosa.adapters.embedded.engine import Engine, plan_of
from prosa.adapters.embedded.weights import model_of
from prosa.app.run.embedded import EmbeddedProvider, models_folder
from prosa.runtime.messages import Message, ModelRequest, OutputFormat

CALLS = 20
PROGRAM = """\
---
name: letter
description: Extract the name of the person and the number of euros.
input: {type: object, properties: {letter: {type: string}}, required: [letter]}
output:
  type: object
  properties: {name: {type: string, maxLength: 30}, euros: {type: integer}}
  required: [name, euros]
  additionalProperties: false
---
Extract the name of the person and the number of euros.

{{ .letter }}
"""
SCHEMA = {
    "type": "object",
    "properties": {"name": {"type": "string", "maxLength": 30}, "euros": {"type": "integer"}},
    "required": ["name", "euros"],
    "additionalProperties": False,
}
TICK = os.sysconf("SC_CLK_TCK")


def rows() -> Iterator[Row]:
    """Yield the table."""
    model = model_of("smollm2", models_folder(os.environ))
    engine = Engine(model, plan_of(model), os.environ)
    started = time.perf_counter()
    asyncio.run(EmbeddedProvider(engine, str, completion=False).start())
    yield Row("the engine ready", (time.perf_counter() - started) * 1000, "ms", aim="≤ 1,000 ms")
    child = engine.pid or 0
    yield Row("memory of the engine, before a call", _memory(child), "MiB", aim="≤ 400 MiB")
    yield from asyncio.run(_calls(engine, child))
    yield Row("memory of the engine, after these calls", _memory(child), "MiB")
    engine.end()
    yield from _whole_runs()


async def _calls(engine: Engine, child: int) -> list[Row]:
    provider = EmbeddedProvider(engine, str, completion=False)
    first: list[float] = []
    walls: list[float] = []
    await _ask(provider, 0, first)
    ours, theirs = time.process_time(), _used(child)
    for number in range(1, CALLS + 1):
        started = time.perf_counter()
        await _ask(provider, number, first)
        walls.append((time.perf_counter() - started) * 1000)
    ours, theirs = (time.process_time() - ours) / CALLS * 1000, (_used(child) - theirs) / CALLS * 1000
    await provider.aclose()
    return [
        Row("a call until the first text", statistics.median(first[1:]), "ms"),
        Row("a call of 16 tokens, held by a schema", statistics.median(walls), "ms"),
        Row("processor time of a call, Prosa", ours, "ms", "the engine", theirs, "≤ 0.1 of the engine"),
    ]


async def _ask(provider: EmbeddedProvider, number: int, first: list[float]) -> None:
    started = time.perf_counter()
    heard: list[float] = []
    text = f"Extract the name of the person and the number of euros.\n\nI am Ada and I paid {number} euros."
    output = OutputFormat("output", SCHEMA, strict=False)
    request = ModelRequest("smollm2", (Message("user", text),), output=output, schema=SCHEMA)

    def hears(text: str) -> None:
        heard.append(time.perf_counter() if text else 0.0)

    await provider.complete(request, hears)
    first.append((heard[0] - started) * 1000)


def _whole_runs() -> Iterator[Row]:
    """Yield a command from its start to its end, beside the same with a scripted reply."""
    with TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "letter.md").write_text(PROGRAM, encoding="utf-8")
        (folder / "replies.jsonl").write_text('{"content": {"name": "Ada", "euros": 12}}\n')
        around = {**os.environ, "MARKDOWNLANG_AGREE": "Trans rights are human rights", "HOME": name}
        around["PROSA_DATA_DIR"] = str(models_folder(os.environ).parent)
        words = ("-m", "prosa", "run", "letter.md", "letter=I am Ada and I paid 12 euros.", "--model")
        both = [
            [process(python(*words, each), around, folder=folder) for _ in range(3)]
            for each in ("embedded", "scripted:replies.jsonl")
        ]
    wall, scripted = (statistics.median(each.wall for each in ran) for ran in both)
    used, played = (statistics.median(each.used for each in ran) for ran in both)
    yield Row("`prosa run`, engine started and asked, wall", wall, "ms", "a scripted reply", scripted)
    yield Row("`prosa run`, engine started and asked, processor", used, "ms", "a scripted reply", played)


def _used(pid: int) -> float:
    """Return seconds of processors that a process has used."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / TICK


def _memory(pid: int) -> float:
    """MiB that a process has in memory."""
    status = Path(f"/proc/{pid}/status").read_text()
    return next(int(line.split()[1]) / 1024 for line in status.splitlines() if line.startswith("VmRSS"))
