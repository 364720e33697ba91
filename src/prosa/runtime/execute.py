"""The lifecycle of a run (L15): accept the input, render, gather the tools, loop, close everything.

In: a program, its input and the world. Out: the validated output. Imported programs run here too, one level deeper,
within the same wall clock; their servers stay up until the run that the user started ends. Pages of sites are left
when the program that visited them ends.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Iterator
from contextlib import AsyncExitStack
from itertools import count
from typing import TYPE_CHECKING

from msgspec import Struct, field
from msgspec.structs import replace

from prosa.data import Value
from prosa.runtime.accept import accept_input, render_body
from prosa.runtime.errors import LimitExceeded, RunError, first_error
from prosa.runtime.events import Noticed, RunFailed, RunFinished, RunStarted, Scope, ToolsOffered
from prosa.runtime.gather import gather_tools, open_sites
from prosa.runtime.journal import Waits
from prosa.runtime.loop import Done, Task, run_loop
from prosa.runtime.output import contract_of
from prosa.runtime.pacing import counting
from prosa.runtime.parameters import require_allowed
from prosa.runtime.program import Program
from prosa.runtime.python_tool import PREFERRED_PYTHON
from prosa.runtime.server_pool import ServerPool
from prosa.runtime.tools import Toolbox
from prosa.runtime.world import World

if TYPE_CHECKING:
    from types import TracebackType

    from prosa.runtime.mail import Mail
    from prosa.runtime.mail_tools import Tickets


async def execute(program: Program, input_value: Value, world: World, *, numbers: Iterator[int] | None = None) -> Value:
    """Run a program and return its output. Raises `RunError`; nothing is left running.

    ``numbers`` number the programs of the run; runs that are reported together share them.
    """
    async with ExitStack() as stack:
        run = Run(world, ServerPool(world.servers, stack), numbers or count(1))
        return await run.program(program, input_value)


class Run(Struct, frozen=True):
    """One run that a user started, with all programs below it."""

    world: World
    pool: ServerPool
    numbers: Iterator[int] = field(default_factory=lambda: count(1))

    async def program(self, program: Program, input_value: Value, caller: Scope | None = None, path: str = "") -> Value:
        """Run one program of the run, for the call of ``caller`` at ``path``, and report its start and its end."""
        scope = self._scope(program, caller, path)
        clock, listener = self.world.clock, self.world.listener
        started = clock.monotonic()
        listener(RunStarted(scope, program.model_name))
        try:
            done = await _within_time(program, self._output(program, input_value, scope))
        except BaseException as error:
            listener(RunFailed(scope, _words(error), clock.monotonic() - started))
            raise
        listener(RunFinished(scope, done.value, clock.monotonic() - started, done.cut))
        return done.value

    def _scope(self, program: Program, caller: Scope | None, path: str) -> Scope:
        number = next(self.numbers)
        if caller is None:
            return Scope(program.name, 0, number)
        return Scope(program.name, caller.depth + 1, number, caller.number, f"{path}/")

    async def _output(self, program: Program, input_value: Value, scope: Scope) -> Done:
        require_allowed(program.parameters)
        data = accept_input(program, input_value)
        body = "" if program.conversation else render_body(program, data)
        async with ExitStack() as stack:
            if program.mailbox is None or self.world.mail is None:
                return await run_loop(await self._task(program, body, scope, stack), self.world)
            return await self._with_mail(program, body, scope, stack, self.world.mail)

    async def _with_mail(self, program: Program, body: str, scope: Scope, stack: AsyncExitStack, mail: Mail) -> Done:
        """Run a program with a mailbox until its background calls have ended too (L47). Messages that it received but
        did not handle are returned."""
        from prosa.runtime.mail_tools import Tickets

        try:
            async with asyncio.TaskGroup() as group:
                task = await self._task(program, body, scope, stack, Tickets(program, mail, group))
                return await run_loop(task, self.world)
        except BaseException as error:
            cause = first_error(error) if isinstance(error, BaseExceptionGroup) else error
            if scope.depth and isinstance(cause, RunError):
                await mail.give_back(scope.path, cause.message)
            if cause is error:
                raise
            raise cause from error

    async def _task(
        self, program: Program, body: str, scope: Scope, stack: AsyncExitStack, tickets: Tickets | None = None
    ) -> Task:
        async def call(imported: Program, arguments: Value, path: str) -> Value:
            return await self.program(imported, arguments, scope, path)

        def notice(message: str) -> None:
            self.world.listener(Noticed(scope, f"{program.name}: {message}"))

        tools = await gather_tools(program, self.world, self.pool, call, notice, tickets)
        changing = await open_sites(program, self.world, tools, stack, scope.path)
        world = self.world
        toolbox = Toolbox(tools, program.limits, world.clock, world.listener, scope, changing, world.journal)
        self.world.listener(ToolsOffered(scope, tuple(toolbox.offered)))
        if self.world.sandbox is None and program.preferred == PREFERRED_PYTHON:
            program = replace(program, preferred="")  # withheld tools are not recommended (LA18)
        return Task(program, body, contract_of(program), toolbox, scope)


class ExitStack(AsyncExitStack):
    """An exit stack for asynchronous closing. A dropped coroutine, for example after its event loop was stopped, leaves
    everything open, since it is no longer awaited."""

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None, /
    ) -> bool | None:
        """Close what was opened, the last first."""
        if isinstance(error, GeneratorExit):
            self.pop_all()
            return False
        return await super().__aexit__(kind, error, trace)


async def _within_time(program: Program, work: Awaitable[Done]) -> Done:
    """Return what ``work`` gives within the program's wall clock (X9). A cancellation from outside stays a
    cancellation."""
    seconds = program.limits.wall_clock
    try:
        async with asyncio.timeout(seconds) as deadline:
            with counting(deadline):
                return await work
    except TimeoutError as error:
        if not deadline.expired():
            raise
        reason = f"{program.name} took longer than its wall clock limit of {seconds:g} s"
        raise LimitExceeded(reason, hint="raise it with --timeout") from error


def _words(error: BaseException) -> str:
    if isinstance(error, RunError):
        return error.message
    if isinstance(error, Waits):
        return "no answer yet: the run restarts when it arrives"
    if isinstance(error, asyncio.CancelledError | KeyboardInterrupt):
        return "interrupted"
    return f"{type(error).__name__}: {error}"
