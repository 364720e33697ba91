"""The tool layer (X15): tool calls of a reply in, results for the transcript out.

Arguments are parsed and validated here, results cut to the limit (X9), several calls run at once and come back in
order. What the model can react to is a result that says so; only what ends the run is an exception.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from prosa.data import JsonError, parse_json
from prosa.runtime.errors import first_error
from prosa.runtime.events import Listener, Scope, ToolAnswered, ToolCalled
from prosa.runtime.limits import Limits
from prosa.runtime.messages import ToolCall, ToolSpec
from prosa.runtime.ports import Clock, Tool, ToolResult
from prosa.schema import Schema, SchemaError


@dataclass(frozen=True, slots=True)
class Toolbox:
    """The tools of one program by wire name, in the order they are offered."""

    tools: Mapping[str, Tool]
    limits: Limits
    clock: Clock
    listener: Listener
    scope: Scope

    @property
    def specs(self) -> tuple[ToolSpec, ...]:
        """What the model is told."""
        return tuple(tool.spec for tool in self.tools.values())

    async def answer(self, calls: Sequence[ToolCall]) -> list[ToolResult]:
        """Runs the calls of one reply concurrently; results come in the order of the calls.

        Raises the first `RunError` that a tool raises, after the other calls have been cancelled.
        """
        slots = asyncio.Semaphore(self.limits.concurrency)
        try:
            async with asyncio.TaskGroup() as group:
                tasks = [group.create_task(self._within(slots, call)) for call in calls]
        except BaseExceptionGroup as group_error:
            raise first_error(group_error) from group_error
        return [task.result() for task in tasks]

    async def _within(self, slots: asyncio.Semaphore, call: ToolCall) -> ToolResult:
        async with slots:
            return await self._one(call)

    async def _one(self, call: ToolCall) -> ToolResult:
        tool = self.tools.get(call.name)
        kind = tool.kind if tool else "unknown"
        self.listener(ToolCalled(self.scope, call.name, kind, call.arguments, call.id))
        started = self.clock.monotonic()
        result = cut(await self._result(tool, call), self.limits.tool_result)
        seconds = self.clock.monotonic() - started
        size = len(result.content)
        self.listener(ToolAnswered(self.scope, call.name, kind, seconds, result.is_error, size, call.id))
        return result

    async def _result(self, tool: Tool | None, call: ToolCall) -> ToolResult:
        if tool is None:
            return _refused(f"there is no tool {call.name!r}; the tools are {', '.join(self.tools) or 'none'}")
        try:
            arguments = parse_json(call.arguments or "{}")
        except JsonError as error:
            return _refused(f"the arguments are not valid JSON: column {error.column}: {error.message}")
        if wrong := argument_problems(tool.spec.parameters, arguments):
            return _refused("the arguments do not satisfy the tool's schema:\n" + "\n".join(wrong))
        return await tool.call(arguments)


def argument_problems(parameters: Mapping[str, Any], arguments: Any) -> list[str]:
    """What is wrong with the arguments of a call, one sentence each.

    A tool whose own schema is not valid JSON Schema is called unchecked: its server judges.
    """
    if not isinstance(arguments, dict):
        return ["(root): expected an object"]
    try:
        problems = Schema(parameters).problems(arguments)
    except SchemaError:
        return []
    return [f"{problem.pointer or '(root)'}: {problem.message}" for problem in problems]


def cut(result: ToolResult, limit: int) -> ToolResult:
    """The result within ``limit`` UTF-8 bytes; the model is told when something is missing (X9)."""
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
