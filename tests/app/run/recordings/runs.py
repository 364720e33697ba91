"""Programs, and runs of them that are recorded and played."""

from __future__ import annotations

import asyncio
import json
import random
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from prosa.app.options import Environment, Options, Record, Replay
from prosa.app.options import RecordingOptions as Tape
from prosa.app.run.jobs import run_program
from prosa.app.run.load import load_program
from prosa.records.summary import RunResult
from prosa.runtime.messages import ModelReply, ModelRequest
from prosa.settings import Settings
from prosa.testing import ScriptedProvider
from tests.cli.desk import Desk
from tests.cli.programs import prosa, user

NUMBER = "{type: object, properties: {n: {type: integer}}, required: [n], additionalProperties: false}"
TEXT = """\
---
name: {name}
description: Says a number.
input: {{type: object, properties: {{text: {{type: string}}}}}}
output: {number}
{more}---
Say a number for {{{{ .text }}}}.
"""


def program(folder: Path, name: str = "say", more: str = "") -> Path:
    """Writes a program."""
    path = folder / f"{name}.md"
    path.write_text(TEXT.format(name=name, number=NUMBER, more=more), encoding="utf-8")
    return path


def asks(*calls: tuple[str, Any], **more: Any) -> dict[str, Any]:
    """A reply that calls tools."""
    listed = [{"name": name, "arguments": given, "id": f"c{at}"} for at, (name, given) in enumerate(calls)]
    return {"tool_calls": listed, "usage": {"input_tokens": 10, "output_tokens": 2}, **more}


def says(number: int, **more: Any) -> dict[str, Any]:
    """An answer."""
    return {"content": {"n": number}, "usage": {"input_tokens": 20, "output_tokens": 3}, "model": "gpt-4o-2024", **more}


def outer(folder: Path) -> tuple[Path, list[dict[str, Any]]]:
    """A program that calls another one twice at once with the same input, and gets different answers."""
    program(folder, "inner")
    given = {"text": "a"}
    replies = [
        asks(("inner", given), ("inner", given), program="outer"),
        says(1, program="inner"),
        says(2, program="inner"),
        says(3, program="outer"),
    ]
    return program(folder, "outer", "imports: [./inner.md]\n"), replies


def ran(
    path: Path,
    given: Any,
    replies: Sequence[Mapping[str, Any]] = (),
    *,
    record: Record | None = None,
    replay: Replay | None = None,
    notices: list[str] | None = None,
    provider: Any = None,
    events: list[Any] | None = None,
    **chosen: Any,
) -> RunResult:
    """Runs a program. Without replies a model that is asked has nothing to say."""
    options = Options(recording=Tape(record, replay), **chosen)
    program_ = load_program(path, options, Settings())
    environment = Environment({}, Settings(), (notices if notices is not None else []).append)
    heard = (events if events is not None else []).append
    who = provider or (ScriptedProvider(list(replies)) if replies else None)
    return asyncio.run(run_program(program_, given, options, environment, listener=heard, provider=who))


def told(result: RunResult) -> dict[str, Any]:
    """The output and the summary, without what differs each time."""
    summary = result.summary.as_dict()
    for name in ("start_time", "end_time", "duration"):
        del summary[name]
    for name in ("total_duration", "average_duration"):
        summary.get("agent_calls", {}).pop(name, None)
    return {"output": result.output, "summary": summary, "messages": result.messages}


def command(path: Path, *argv: Any, **environ: str) -> tuple[int, Desk]:
    """`prosa run` by somebody who has no key."""
    return prosa("run", path, *argv, environ=user(path.parent, **environ))


def script(folder: Path, *replies: Mapping[str, Any]) -> str:
    """A scripted model."""
    (folder / "replies.jsonl").write_text("".join(json.dumps(each) + "\n" for each in replies))
    return f"scripted:{folder / 'replies.jsonl'}"


def only(folder: Path) -> Path:
    """The one recording of a folder."""
    (found,) = folder.glob("*.ymj")
    return found


class Shuffled:
    """A provider whose answers come in any order: each call lets the others go first for a while."""

    def __init__(self, provider: ScriptedProvider, seed: int) -> None:
        self.provider, self.random = provider, random.Random(seed)

    async def complete(self, request: ModelRequest, on_text: Any = None) -> ModelReply:
        for _ in range(self.random.randrange(12)):
            await asyncio.sleep(0)
        return await self.provider.complete(request, on_text)

    async def aclose(self) -> None:
        pass
