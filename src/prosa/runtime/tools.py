"""The tool layer (X15): tool calls of a reply in, results for the transcript out.

Arguments are parsed and validated here, results cut to the limit (X9), several calls run at once and come back in
order. Failures that the model can react to are results; only those that end the run are exceptions.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Protocol, cast

from msgspec import Struct

from prosa.data import JsonError, Value, parse_json
from prosa.runtime.errors import first_error
from prosa.runtime.events import Listener, Scope, ToolAnswered, ToolCalled, ToolsOffered
from prosa.runtime.journal import UNRECORDED, Journal, ToolStep, Waits
from prosa.runtime.limits import Limits
from prosa.runtime.messages import ToolCall, ToolSpec
from prosa.runtime.ports import Clock, Tool, ToolResult
from prosa.schema import Schema, SchemaError


class Changing(Protocol):
    """Tools that appear and disappear while a program runs: queried before every model call."""

    def tools(self) -> Sequence[Tool]:
        """Those there are now, none named like a fixed one."""
        ...

    def gone(self, name: str) -> str:
        """Return why a tool that was once there is not, and the way back to it; empty for one that never was."""
        ...


class Unchanging(Struct, frozen=True):
    """No tools that come and go."""

    def tools(self) -> Sequence[Tool]:
        """Return none."""
        return ()

    def gone(self, name: str) -> str:
        """Nothing was ever there."""
        del name
        return ""


class Toolbox(Struct, frozen=True):
    """The tools of one program by wire name, in the order they are offered, those of ``changing`` last.

    The calls of one reply are answered by the tools that the model was offered for it.
    """

    tools: Mapping[str, Tool]
    limits: Limits
    clock: Clock
    listener: Listener
    scope: Scope
    changing: Changing = Unchanging()
    journal: Journal = UNRECORDED

    @property
    def offered(self) -> Mapping[str, Tool]:
        """The tools there are now."""
        return {**self.tools, **{tool.spec.name: tool for tool in self.changing.tools()}}

    @property
    def specs(self) -> tuple[ToolSpec, ...]:
        """Return the specifications for the model."""
        return tuple(tool.spec for tool in self.offered.values())

    async def answer(self, calls: Sequence[ToolCall], path: str) -> list[ToolResult]:
        """Run the calls of one reply concurrently; results come in the order of the calls. ``path`` is that of the
        model call that requested them. A call beyond the limit of one reply is not made, and its result says so (X9).

        Raises the first `RunError` that a tool raises, after the other calls have been cancelled, and `Waits` if one
        has no answer yet, after the others have ended.
        """
        slots, offered, most = asyncio.Semaphore(self.limits.concurrency), self.offered, self.limits.tool_calls
        waiting: list[Waits] = []
        try:
            async with asyncio.TaskGroup() as group:
                tasks = [
                    group.create_task(self._within(slots, call, offered, f"{path}.{index}", waiting))
                    for index, call in enumerate(calls[:most])
                ]
        except BaseExceptionGroup as group_error:
            raise first_error(group_error) from group_error
        if waiting:
            raise waiting[0]
        if (names := tuple(self.offered)) != tuple(offered):
            self.listener(ToolsOffered(self.scope, names))
        beyond = _refused(f"not made: a reply has at most {most} tool calls; ask again in the next one")
        return [*(task.result() for task in tasks), *[beyond] * len(calls[most:])]

    async def _within(
        self,
        slots: asyncio.Semaphore,
        call: ToolCall,
        offered: Mapping[str, Tool],
        path: str,
        waiting: list[Waits],
    ) -> ToolResult:
        async with slots:
            try:
                return await self._one(call, offered, path)
            except Waits as waits:
                waiting.append(waits)
                return _refused("no answer yet")

    async def _one(self, call: ToolCall, offered: Mapping[str, Tool], path: str) -> ToolResult:
        tool = offered.get(call.name)
        kind = tool.kind if tool else "unknown"
        self.listener(ToolCalled(self.scope, call.name, kind, call.arguments, call.id, path))
        started = self.clock.monotonic()
        result = cut(await self._result(tool, call, offered, path), self.limits.tool_result)
        seconds = self.clock.monotonic() - started
        size = len(result.content)
        self.listener(ToolAnswered(self.scope, call.name, kind, seconds, result.is_error, size, call.id, path))
        return result

    async def _result(self, tool: Tool | None, call: ToolCall, offered: Mapping[str, Tool], path: str) -> ToolResult:
        if tool is None:
            gone = self.changing.gone(call.name)
            return _refused(gone or f"there is no tool {call.name!r}; the tools are {', '.join(offered) or 'none'}")
        try:
            arguments = parse_json(call.arguments or "{}")
        except JsonError as error:
            return _refused(f"the arguments are not valid JSON: column {error.column}: {error.message}")
        if wrong := argument_problems(tool.spec.parameters, arguments):
            return _refused("the arguments do not satisfy the tool's schema:\n" + "\n".join(wrong))
        values = cast("dict[str, Value]", arguments)
        step = ToolStep(path, call.name, tool.kind, values, self.scope, tool.repeatable, tool.moves)
        return await self.journal.result(step, partial(tool.call, values, path))


def argument_problems(parameters: Mapping[str, Value], arguments: Value) -> list[str]:
    """Return the problems of the arguments of a call, one sentence each.

    A tool with an invalid JSON Schema is called unchecked: its server validates.
    """
    if not isinstance(arguments, dict):
        return ["(root): expected an object"]
    try:
        problems = Schema(parameters).problems(arguments)
    except SchemaError:
        return []
    return [f"{problem.pointer or '(root)'}: {problem.message}" for problem in problems]


def cut(result: ToolResult, limit: int) -> ToolResult:
    """Return the result within ``limit`` UTF-8 bytes, with a note for the model if it was cut (X9)."""
    if len(result.content) * 4 <= limit:
        return result
    encoded = result.content.encode("utf-8", "replace")
    if len(encoded) <= limit:
        return result
    kept = encoded[:limit].decode("utf-8", "ignore")
    note = f"\n[cut: the result had {len(encoded)} bytes, only the first {limit} are shown]"
    return ToolResult(kept + note, result.is_error)


def _refused(reason: str) -> ToolResult:
    return ToolResult(f"error: {reason}", is_error=True)
