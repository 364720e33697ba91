"""Programs, models and stores for the tests of the journal. Everything here is a fake and says so."""

from __future__ import annotations

import asyncio
import json
import os
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

from prosa.app.options import Environment, JournalOptions, Options
from prosa.app.run.jobs import run_program
from prosa.records.summary import RunResult
from prosa.runtime.messages import ModelReply, ModelRequest, ToolCall, Usage
from prosa.runtime.program import Program
from prosa.settings import Settings
from tests.runtime.worlds import load, text_of

CALLS = 6


def nested(folder: Path) -> Program:
    """A program whose model calls an import several times at once, with equal arguments; the import does the same."""
    (folder / "deep.md").write_text(text_of("deep", more="limits: {iterations: 3}\n"), encoding="utf-8")
    (folder / "helper.md").write_text(text_of("helper", more="imports: [./deep.md]\n"), encoding="utf-8")
    return load(folder, text_of(more="imports: [./helper.md]\n"))


class Model:
    """A model whose answer follows from what it is asked alone, so that a run has one right output: it calls what it is
    offered, and its number is made of the results. ``log`` hears of each call before it is answered; ``turns`` says how
    many turns of the event loop the next one takes."""

    def __init__(self, log: Callable[[ModelRequest], None] | None = None, turns: Iterator[int] | None = None) -> None:
        self.log = log
        self.turns = turns
        self.asked: list[ModelRequest] = []

    async def complete(self, request: ModelRequest, on_text: Any = None) -> ModelReply:
        self.asked.append(request)
        if self.log is not None:
            self.log(request)
        for _ in range(next(self.turns) if self.turns else 0):
            await asyncio.sleep(0)
        usage = Usage(len(request.messages) * 100, 7)
        names = [tool.name for tool in request.tools if tool.name != "python"]
        said = [message.content for message in request.messages if message.role == "tool"]
        if names and not said:
            calls = tuple(ToolCall(f"c{n}", names[0], json.dumps({"text": f"part {n // 2}"})) for n in range(CALLS))
            return ModelReply("", calls, usage, finish="tool_calls")
        number = sum(json.loads(each)["n"] for each in said) if said else len(request.messages[-1].content) % 97
        return ModelReply(json.dumps({"n": number}), (), usage, model_name="fake-1")

    async def aclose(self) -> None:
        pass


def environment(folder: Path, notes: list[str] | None = None, **settings: Any) -> Environment:
    """Somebody with a home of their own; ``notes`` hears what is said."""
    said = notes if notes is not None else []
    return Environment({"HOME": str(folder), "PATH": os.environ["PATH"]}, Settings(**settings), said.append)


def store_of(folder: Path) -> Path:
    """Where that home has its store."""
    return folder / ".local" / "share" / "prosa" / "store.sqlite"


def ran(
    program: Program,
    folder: Path,
    model: Any,
    *,
    given: Any = None,
    notes: list[str] | None = None,
    options: Options | None = None,
    settings: dict[str, Any] | None = None,
    **journal: Any,
) -> RunResult:
    """Runs a program with a journal in the store of that home."""
    chosen = options or Options()
    chosen = Options(**{name: getattr(chosen, name) for name in chosen.__struct_fields__ if name != "journal"})
    from msgspec.structs import replace

    chosen = replace(chosen, journal=JournalOptions(journal.pop("door", "run"), **journal))
    around = environment(folder, notes, **(settings or {}))
    value = {"text": "it"} if given is None else given
    return asyncio.run(run_program(program, value, chosen, around, provider=model))


def rows(folder: Path, question: str, *values: Any) -> list[dict[str, Any]]:
    """What a store answers."""
    with closing(sqlite3.connect(store_of(folder))) as connection:
        connection.row_factory = sqlite3.Row
        return [dict(row) for row in connection.execute(question, values)]
