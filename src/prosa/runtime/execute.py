"""The lifecycle of a run (L15): accept the input, render, gather the tools, loop, close everything.

In: a program, its input and the world. Out: the validated output. Imported programs run here too, one level deeper,
within the same wall clock; their servers stay up until the run that the user started ends.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from typing import Any

from prosa.runtime.errors import InputRefused, LimitExceeded, RunError, TemplateRefused
from prosa.runtime.events import RunFailed, RunFinished, RunStarted, Scope, ToolsOffered
from prosa.runtime.gather import gather_tools
from prosa.runtime.loop import Task, run_loop
from prosa.runtime.output import OutputContract
from prosa.runtime.program import Program
from prosa.runtime.server_pool import ServerPool
from prosa.runtime.tools import Toolbox
from prosa.runtime.world import World
from prosa.schema import Schema, fill_defaults
from prosa.template import TemplateError


async def execute(program: Program, given: Any, world: World) -> Any:
    """Runs a program and returns its output. Raises `RunError`; nothing that was started is left running."""
    async with AsyncExitStack() as stack:
        run = Run(world, ServerPool(world.servers, stack))
        return await run.program(program, given, depth=0)


@dataclass(frozen=True, slots=True)
class Run:
    """One run that a user started, with all programs below it."""

    world: World
    pool: ServerPool

    async def program(self, program: Program, given: Any, *, depth: int) -> Any:
        """Runs one program of the run and tells its beginning and its one end."""
        scope = Scope(program.name, depth)
        clock, listener = self.world.clock, self.world.listener
        started = clock.monotonic()
        listener(RunStarted(scope, program.model_name))
        try:
            async with _deadline(program):
                output = await self._output(program, given, scope)
        except BaseException as error:
            listener(RunFailed(scope, _words(error), clock.monotonic() - started))
            raise
        listener(RunFinished(scope, output, clock.monotonic() - started))
        return output

    async def _output(self, program: Program, given: Any, scope: Scope) -> Any:
        data = accept_input(program, given)
        task = await self._task(program, render_body(program, data), scope)
        return await run_loop(task, self.world)

    async def _task(self, program: Program, body: str, scope: Scope) -> Task:
        async def call(imported: Program, arguments: Any) -> Any:
            return await self.program(imported, arguments, depth=scope.depth + 1)

        tools = await gather_tools(program, self.world, self.pool, call)
        self.world.listener(ToolsOffered(scope, tuple(tools)))
        toolbox = Toolbox(tools, program.limits, self.world.clock, self.world.listener, scope)
        return Task(program, body, OutputContract.of(program.output_schema), toolbox, scope)


@asynccontextmanager
async def _deadline(program: Program) -> AsyncIterator[None]:
    """The program's wall clock (X9). A cancellation from outside stays a cancellation."""
    seconds = program.limits.wall_clock
    try:
        async with asyncio.timeout(seconds) as deadline:
            yield
    except TimeoutError as error:
        if not deadline.expired():
            raise
        reason = f"{program.name} took longer than its wall clock limit of {seconds:g} s"
        raise LimitExceeded(reason, hint="raise it with --timeout") from error


def accept_input(program: Program, given: Any) -> Any:
    """The input with the schema's defaults filled in (X13). Raises `InputRefused` (L12)."""
    data = fill_defaults(program.input_schema, given)
    problems = Schema(program.input_schema).problems(data)
    if not problems:
        return data
    first = problems[0]
    more = f" (and {len(problems) - 1} more)" if len(problems) > 1 else ""
    raise InputRefused(
        f"the input of {program.name} is not valid: {first.pointer or '(root)'}: {first.message}{more}",
        [(each.pointer, each.keyword, each.message) for each in problems],
        hint=f"run: prosa run {program.file} --help" if program.file else "",
    )


def render_body(program: Program, data: Any) -> str:
    """The text of the user message. Raises `TemplateRefused` with the place in the file."""
    schema = program.input_schema if isinstance(program.input_schema, Mapping) else None
    try:
        return program.template.render(data, schema=schema)
    except TemplateError as error:
        where = f"{program.file or program.name}:{program.body_line + error.line - 1}:{error.column}"
        raise TemplateRefused(f"{where}: {error.message}") from error


def _words(error: BaseException) -> str:
    if isinstance(error, RunError):
        return error.message
    if isinstance(error, asyncio.CancelledError | KeyboardInterrupt):
        return "interrupted"
    return f"{type(error).__name__}: {error}"
