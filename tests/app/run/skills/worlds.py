"""Folders of skills, and runs of them with scripted replies."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from prosa.app.options import Environment, Options
from prosa.app.run.jobs import run_program
from prosa.records.summary import RunResult
from prosa.runtime.program import Program
from prosa.settings import Settings
from prosa.testing import ScriptedProvider

BODY = "# Greeting\n\nGreet people in the way that references/styles.md describes.\n"


def write(path: Path, text: str | bytes) -> Path:
    """Writes a file and the folders around it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return path


def skill(
    folder: Path,
    name: str = "greeting",
    *,
    body: str = BODY,
    more: str = "",
    description: str = "Greets people. Use it when somebody is to be greeted.",
    files: Mapping[str, str | bytes] | None = None,
) -> Path:
    """Writes a skill into a folder of its name; gives that folder."""
    home = folder / name
    write(home / "SKILL.md", f"---\nname: {name}\ndescription: {description}\n{more}---\n\n{body}")
    for path, text in (files or {}).items():
        write(home / path, text)
    return home


def call(name: str, /, **arguments: Any) -> dict[str, Any]:
    """A reply that calls one tool."""
    return {"tool_calls": [{"name": name, "arguments": arguments}]}


class Ran:
    """A run with what was asked of the model."""

    def __init__(self, result: RunResult, provider: ScriptedProvider) -> None:
        self.result, self.requests = result, provider.requests

    @property
    def first(self) -> dict[str, str]:
        """The first request: the text of each role."""
        return {each.role: each.content for each in self.requests[0].messages}

    @property
    def tools(self) -> list[str]:
        """The names of the tools of the first request."""
        return [each.name for each in self.requests[0].tools]

    def answer(self, at: int = 1) -> str:
        """What the last tool call before a request gave."""
        return str(self.requests[at].messages[-1].content)


def run(program: Program, request: str, replies: Sequence[Any], **options: Any) -> Ran:
    """Runs a program of skills with scripted replies, as every door does."""
    provider = ScriptedProvider(list(replies))
    environment = Environment({}, Settings())
    result = asyncio.run(run_program(program, {"request": request}, Options(**options), environment, provider=provider))
    return Ran(result, provider)
