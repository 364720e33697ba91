"""Programs and worlds for the tests of the runtime. Everything here is a fake and says so."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import Path
from typing import Any

from prosa.app.options import Options
from prosa.app.run.load import load_program
from prosa.records.summary import Summary, Tally
from prosa.runtime.errors import ToolServerError
from prosa.runtime.execute import execute
from prosa.runtime.journal import UNRECORDED, Journal
from prosa.runtime.ports import SandboxResult, ServerConfig, ServerTool, ToolResult
from prosa.runtime.program import Program
from prosa.runtime.world import World
from prosa.settings import Settings
from prosa.testing import FakeClock, ScriptedProvider

PLAIN = """\
---
name: {name}
description: {description}
input:
  type: object
  properties:
    text: {{ type: string }}
output:
  type: object
  properties:
    n: {{ type: integer }}
  required: [n]
  additionalProperties: false
{more}---
Say a number for {{{{ .text }}}}.
"""


def text_of(name: str = "number", description: str = "Gives a number.", more: str = "") -> str:
    """A small program; ``more`` is further front matter."""
    return PLAIN.format(name=name, description=description, more=more)


def load(folder: Path, text: str | None = None, *, name: str = "main.md", **choices: Any) -> Program:
    """Writes a program and loads it as `prosa run` does."""
    path = folder / name
    path.write_text(text if text is not None else text_of(), encoding="utf-8")
    return load_program(path, Options(**choices), Settings())


@dataclass
class FakeSandbox:
    """Answers every run with the same result and remembers what it was asked."""

    result: SandboxResult = field(default_factory=lambda: SandboxResult("ok\n", "", None))
    runs: list[tuple[str, float, int]] = field(default_factory=list)
    folders: list[str | None] = field(default_factory=list)

    async def run(self, code: str, *, timeout: float, memory: int, folder: str | None = None) -> SandboxResult:
        self.runs.append((code, timeout, memory))
        self.folders.append(folder)
        return self.result

    async def aclose(self) -> None:
        pass


@dataclass
class FakeServers:
    """MCP servers that only exist in memory; ``log`` tells when they started and stopped."""

    tools: Sequence[ServerTool] = ()
    log: list[str] = field(default_factory=list)
    calls: list[tuple[str, str, dict[str, Any]]] = field(default_factory=list)
    broken: str = ""
    is_lost: bool = False

    @asynccontextmanager
    async def connect(self, servers: Sequence[ServerConfig], *, cwd: str) -> Any:
        names = ",".join(server.name for server in servers)
        if self.broken in {server.name for server in servers}:
            raise ToolServerError(f"the MCP server {self.broken} did not start")
        self.log.append(f"start {names}")
        try:
            yield self
        finally:
            self.log.append(f"stop {names}")

    async def call(self, server: str, tool: str, arguments: Mapping[str, Any]) -> ToolResult:
        self.calls.append((server, tool, dict(arguments)))
        return ToolResult(f"{tool} done")


@dataclass(frozen=True)
class FixedPrices:
    """One price for one model."""

    model_name: str = "gpt-4o"

    def cost(self, model_name: str, usage: Any, service: str | None = None) -> Decimal | None:
        if model_name != self.model_name:
            return None
        return (Decimal("2.5") * usage.input_tokens + 10 * usage.output_tokens) / 1_000_000


@dataclass
class Ran:
    """What a run under test left behind."""

    output: Any
    error: BaseException | None
    provider: ScriptedProvider
    events: list[Any]
    summary: Summary

    @property
    def requests(self) -> list[Any]:
        return self.provider.requests


def run(
    program: Program,
    given: Any,
    replies: list[Any],
    *,
    sandbox: FakeSandbox | None = None,
    servers: FakeServers | None = None,
    clock: FakeClock | None = None,
    prices: FixedPrices | None = None,
    allow_cut: bool = False,
    journal: Journal = UNRECORDED,
) -> Ran:
    """Runs a program against scripted replies; an error is recorded, not raised."""
    provider, events, clock = ScriptedProvider(replies), [], clock or FakeClock()
    tally = Tally(program, clock, prices)

    def listener(event: Any) -> None:
        events.append(event)
        tally(event)

    world = World(
        provider=provider,
        clock=clock,
        servers=servers or FakeServers(),
        sandbox=sandbox,
        listener=listener,
        allow_cut=allow_cut,
        journal=journal,
    )
    try:
        output, error = asyncio.run(execute(program, given, world)), None
    except Exception as caught:
        output, error = None, caught
    return Ran(output, error, provider, events, tally.summary(str(error) if error else None))


def call(name: str, arguments: Any, number: str | None = None) -> dict[str, Any]:
    """A scripted tool call."""
    return {"name": name, "arguments": arguments} | ({"id": number} if number else {})
