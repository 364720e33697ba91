"""Programs with sites, run against scripted replies through the composition root."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from prosa.app.options import Environment, Options, SiteRights
from prosa.app.run.jobs import run_program
from prosa.app.run.load import load_program
from prosa.render.events import as_json_line
from prosa.runtime.messages import Message, ModelRequest
from prosa.runtime.program import Program
from prosa.settings import Settings
from prosa.testing import FakeClock, ScriptedProvider

TEXT = """\
---
name: {name}
description: Asks the harbour.
input: {{type: object}}
output: {{type: object}}
mdh: {sites}
{more}---
Ask.
"""
DONE = {"content": {}}


def text_of(*sites: str, name: str = "ask", more: str = "") -> str:
    """A program with sites."""
    return TEXT.format(name=name, sites=json.dumps(list(sites)), more=more)


def loaded(folder: Path, *sites: str, more: str = "") -> Program:
    """That program, without the python tool, which takes long to start."""
    from msgspec.structs import replace

    path = folder / "ask.md"
    path.write_text(text_of(*sites, more=more), encoding="utf-8")
    return replace(load_program(path, Options(), Settings()), python=False)


def calls(*named: tuple[str, Any]) -> dict[str, Any]:
    """A reply that calls tools."""
    return {"tool_calls": [{"name": name, "arguments": arguments} for name, arguments in named]}


def visit(to: str) -> dict[str, Any]:
    """A reply that goes to a page."""
    return calls(("visit", {"to": to}))


@dataclass
class Ran:
    """What a run left behind: its error, what the model was asked, every event."""

    error: Exception | None
    requests: list[ModelRequest]
    events: list[Any] = field(default_factory=list)
    tools_called: int = 0

    def names(self, at: int) -> list[str]:
        """The tools that were offered with a model call, from 0."""
        return [tool.name for tool in self.requests[at].tools]

    def tool(self, at: int, name: str) -> Any:
        """One of them."""
        return next(tool for tool in self.requests[at].tools if tool.name == name)

    @property
    def results(self) -> list[str]:
        """What the tools gave, in order."""
        found: list[Message] = max((request.messages for request in self.requests), key=len, default=())  # type: ignore[assignment]
        return [message.content for message in found if message.role == "tool"]

    @property
    def everything(self) -> str:
        """All that was sent to the model, all events, and the error, as text."""
        now = FakeClock().now()
        lines = [as_json_line(event, seq=at, time=now) for at, event in enumerate(self.events, start=1)]
        return "\n".join([*map(repr, self.requests), *lines, str(self.error), repr(self.error)])


def run(
    program: Program,
    *replies: dict[str, Any],
    typed: bool | tuple[str, ...] = True,
    confirm: Callable[[str], Awaitable[bool]] | None = None,
    settings: Settings | None = None,
    environ: dict[str, str] | None = None,
    **rights: Any,
) -> Ran:
    """Runs it; an error is recorded. ``typed`` says that the user typed the URLs of its sites, or which."""
    from prosa.app.run.jobs import Progress

    provider, events = ScriptedProvider([*replies, DONE]), []
    named = typed if isinstance(typed, tuple) else program.sites if typed else ()
    allowed = SiteRights(named=named, **rights)
    around = Environment(environ or {}, settings or Settings(), confirm=confirm)
    progress = Progress()
    choices = Options(site_rights=allowed)
    work = run_program(program, {}, choices, around, listener=events.append, provider=provider, progress=progress)
    try:
        asyncio.run(work)
        error = None
    except Exception as caught:
        error = caught
    return Ran(error, provider.requests, events, progress.tallies[program.name].tools_called)
