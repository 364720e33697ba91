"""One MCP server in a task of its own: started, asked, started once more when it is lost, and stopped.

In: how to connect, and bounds. Out: its tools, and an answer to every call. The SDK's client is opened, used and
closed inside this one task. So a caller that is cancelled (Ctrl-C, the wall clock, `asyncio.timeout`) is never
cancelled inside the client's shutdown, where the SDK would hang for ever.

    start ─→ serve ─→ stop
      ↑        │ lost: the server ended, or a call had no answer in time
      └────────┘ once (X18); a connection that has answered a call earns another restart

Refuses to be cancelled: `stop` asks, and takes a bounded time.
"""

from __future__ import annotations

import asyncio
import math
from collections.abc import Mapping
from functools import partial

import anyio
from mcp import Client
from msgspec import Struct

from prosa.adapters.mcp import words
from prosa.adapters.mcp.calls import Calls, Notice, list_tools, mend
from prosa.adapters.mcp.connection import Launch, Route, SpawnError, falls_back, open_client, routes
from prosa.adapters.mcp.observed import Observed
from prosa.adapters.mcp.skills import served_skills
from prosa.data import Value
from prosa.runtime.errors import ToolServerError
from prosa.runtime.ports import ServerTool, ToolResult

CLOSE_SECONDS = 5.0
"""For a connection to close: a stdio server needs three seconds at worst, an HTTP one a last request."""


class ServerBounds(Struct, frozen=True):
    """Seconds for a start and for a call, bytes of a result."""

    start: float
    call: float
    result: int


class Server:
    """A server and its task. `begin`, await `ready`, `call`, `stop`, await `task`.

    `ready` gives the tools, or raises the `ToolServerError` of the first start.
    """

    def __init__(self, launch: Launch, bounds: ServerBounds, notice: Notice) -> None:
        self.name = launch.config.name
        self.ready: asyncio.Future[list[ServerTool]] = asyncio.get_running_loop().create_future()
        self._launch = launch
        self._bounds = bounds
        self._notice = notice
        self._mend = partial(mend, server=self.name, notice=notice)
        advice = partial(words.further_rights, launch.config, credential=launch.credential)
        self._calls = Calls(self.name, seconds=bounds.call, limit=bounds.result, advice=advice)
        self._routes = routes(launch.config)
        self._restarted = False
        self._stopping = False
        self._gone = ""
        self._interruptible: anyio.CancelScope | None = None

    @property
    def is_gone(self) -> bool:
        """Whether it has ended and answers no call any more."""
        return bool(self._gone)

    def begin(self) -> None:
        """Start the task."""
        self.task = asyncio.create_task(self._run(), name=f"mcp {self.name}")

    def stop(self) -> None:
        """Ask the task to end, whatever it is doing; that takes at most `CLOSE_SECONDS`."""
        self._stopping = True
        if self._interruptible is not None:
            self._interruptible.cancel()

    async def call(self, tool: str, arguments: Mapping[str, Value]) -> ToolResult:
        """Return the answer of a tool, or words about why there is none (X18)."""
        if self._gone or self._stopping:
            return ToolResult(self._refusal(), is_error=True)
        return await self._calls.ask(tool, arguments)

    async def _run(self) -> None:
        try:
            while not self._stopping and await self._connect():
                await self._pause()
        finally:
            self._gone = self._gone or "it was stopped"
            self._calls.tell_lost(f"It is no longer running: {self._gone}.")
            self._calls.refuse_waiting(self._refusal())
            self._not_started(ToolServerError(self._refusal()))

    def _refusal(self) -> str:
        return f"The MCP server '{self.name}' is no longer running: {self._gone or 'it was stopped'}."

    async def _connect(self) -> bool:
        """Connect and serve until the connection is lost; False when there will be no other."""
        deadline = anyio.current_time() + self._bounds.start
        refusal: ToolServerError | None = None
        for route in self._routes:
            seen = Observed()
            problem = await self._live(route, seen, deadline)
            if problem is None:
                self._routes = (route,)
                return self._may_restart(seen)
            if seen.wants_credential:  # messages of another transport are about something else
                refusal = refusal or problem
            in_time = not self._stopping and anyio.current_time() < deadline
            if route == self._routes[-1] or not (in_time and falls_back(route, seen)):
                self._not_started(refusal or problem)
                break
        return False

    async def _live(self, route: Route, seen: Observed, deadline: float) -> ToolServerError | None:
        """One connection from its start to its end. Returns why it did not start, or None once it had."""
        started = False
        problem: Exception = TimeoutError()
        try:
            with anyio.CancelScope(deadline=deadline) as bound:
                self._interruptible = bound
                async with open_client(self._launch, route, seen, self._mend) as client:
                    tools = await list_tools(client, self.name)
                    tools += await self._skills(client, tools)
                    bound.deadline, started = math.inf, True
                    self._started(tools)
                    with anyio.CancelScope() as self._interruptible:
                        await self._calls.serve(client, seen)
                    self._interruptible = None
                    bound.deadline = anyio.current_time() + CLOSE_SECONDS
        except Exception as caught:
            # The SDK raises many kinds, in groups; all of them become words.
            problem = caught
            seen.failure = seen.failure or words.reason(caught, seen)
        finally:
            self._interruptible = None
        return None if started else self._start_error(problem, seen)

    async def _skills(self, client: Client, tools: list[ServerTool]) -> list[ServerTool]:
        """Return the tools for the skills that the server gives."""
        self._calls.skills = skills = await served_skills(client, self.name, self._notice)
        return skills.tools(frozenset(tool.name for tool in tools)) if skills is not None else []

    def _started(self, tools: list[ServerTool]) -> None:
        if not self.ready.done():
            self.ready.set_result(tools)
        done = "started" if self._launch.config.command is not None else "connected to"
        self._calls.tell_lost(f"It was {done} again. The call was not repeated; it may have had an effect.")

    def _start_error(self, problem: Exception, seen: Observed) -> ToolServerError:
        config = self._launch.config
        first = next(words.leaves(problem), problem)
        if isinstance(first, ToolServerError):
            return first
        if isinstance(first, SpawnError):
            why, hint = words.spawn_problem(first, config, self._launch.cwd)
            return words.start_error(config, why, seen, hint)
        if isinstance(first, TimeoutError):
            return words.start_error(config, f"it was not ready within {self._bounds.start:g} s", seen)
        if seen.wants_credential:
            return words.refused(config, seen, self._launch.credential)
        return words.start_error(config, words.reason(first, seen), seen)

    def _not_started(self, problem: ToolServerError) -> None:
        self._gone = self._gone or f"it could not be started again ({problem.message})"
        if not self.ready.done():
            self.ready.set_exception(problem)
            # Later failing servers are not awaited, and asyncio would complain about that on stderr.
            self.ready.exception()

    def _may_restart(self, seen: Observed) -> bool:
        if self._restarted and not self._calls.answered:
            self._gone = f"{words.ended(seen)}, twice in a row"
            return False
        self._restarted = True
        return True

    async def _pause(self) -> None:
        """Return None for a waiting caller; a server that exited while idle is restarted when needed."""
        if not self._calls.any_lost and not self._stopping:
            with anyio.CancelScope() as self._interruptible:
                await self._calls.wanted()
            self._interruptible = None
