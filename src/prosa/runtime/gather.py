"""The tools of a program in the order they are offered: python, those of skills (X32), those of its mailbox (L47),
imports, then servers as declared (LW7), then what a site offers, which changes while the program runs (X15)."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from contextlib import AsyncExitStack
from functools import partial
from typing import TYPE_CHECKING, ClassVar, Literal, TypeAlias, cast

from msgspec import Struct, field

from prosa.data import Value
from prosa.dialects.markdownlang.fields import VISIT_TOOL, action_tool_name, tool_name
from prosa.runtime.errors import (
    BudgetSpent,
    InputRefused,
    LimitExceeded,
    OutputRefused,
    RunError,
    SiteError,
    TemplateRefused,
)
from prosa.runtime.messages import ToolSpec
from prosa.runtime.ports import ServerSession, ServerTool, SiteAction, SiteSession, SteadyTool, Tool, ToolResult
from prosa.runtime.program import Program, program_tool_spec, server_tool_spec, worded
from prosa.runtime.python_tool import PythonTool
from prosa.runtime.server_pool import ServerPool, WaitingServer, offered
from prosa.runtime.tools import Changing, Unchanging
from prosa.runtime.world import World

if TYPE_CHECKING:
    from prosa.runtime.mail_tools import Tickets


async def gather_tools(
    program: Program,
    world: World,
    pool: ServerPool,
    run: RunProgram,
    notice: Callable[[str], None],
    tickets: Tickets | None = None,
) -> dict[str, Tool]:
    """Return tools by wire name. Starts the program's servers except those that start on their first call; ``notice``
    reports differences from the declaration; ``tickets`` are for background imports. Raises `RunError` if two tools
    share a name (LA12)."""
    tools: list[Tool] = []
    if program.python and world.sandbox is not None:
        tools.append(PythonTool(world.sandbox, program.limits))
    if program.skills:
        from prosa.runtime.skill import skill_tools

        tools += skill_tools(program.skills, world.skills, world.sandbox, program.limits)
    if tickets is not None:
        from prosa.runtime.mail_tools import mail_tools

        tools += mail_tools(program, tickets)
    tools += [_import_tool(program, imported, run, tickets) for imported in program.imports]
    tools += await _server_tools(program, pool, notice)
    named: dict[str, Tool] = {}
    for tool_ in tools:
        if tool_.spec.name in named:
            raise RunError(f"{program.name} has two tools named {tool_.spec.name!r}", hint="rename one of the imports")
        named[tool_.spec.name] = tool_
    if program.sites and VISIT_TOOL in named:
        raise RunError(f"{program.name} has two tools named {VISIT_TOOL!r}", hint="rename the import")
    return named


def _import_tool(program: Program, imported: Program, run: RunProgram, tickets: Tickets | None) -> Tool:
    """Return the tool of an import, whether the program waits for it or not."""
    tool = program_tool(imported, tool_name(imported.name), run)
    if tickets is None or imported.name not in program.tickets:
        return tool
    from prosa.runtime.mail_tools import TicketTool

    return TicketTool(tool, tickets, imported.name)


async def _server_tools(program: Program, pool: ServerPool, notice: Callable[[str], None]) -> list[Tool]:
    """Return the tools of all servers in the order of their declaration, whether they run or wait."""
    early = tuple(server for server in program.servers if not server.waits)
    session = await pool.session(early, program.folder) if early else None
    tools: list[Tool] = []
    for server in program.servers:
        if server.tools is not None and server.waits:
            waiting = WaitingServer(pool, server, program.folder, notice)
            tools += [McpTool(waiting.session, worded(server.name, tool)) for tool in server.tools]
        elif session is not None:
            running = partial(_running, session)
            tools += [McpTool(running, tool) for tool in offered(server, session.tools, notice)]
    return tools


async def _running(session: ServerSession) -> ServerSession:
    return session


async def open_sites(
    program: Program, world: World, fixed: Collection[str], stack: AsyncExitStack, path: str = ""
) -> Changing:
    """Return the tools from the sites of a program while it runs. Each run of a program has its own pages, so they are
    opened for the program at ``path``, and closed with ``stack``. ``fixed`` are names already in use. Raises
    `SiteError`."""
    if not program.sites:
        return Unchanging()
    if world.sites is None:
        raise SiteError(f"{program.name} has sites, and this run has no way to them")
    opening = world.sites.open(program.sites, result_limit=program.limits.tool_result, path=path)
    session = await stack.enter_async_context(opening)
    return SiteTools(session, frozenset(fixed))


# A tool of an MCP server under its mangled name (L20). The own name is kept, never parsed back (LA12).


class McpTool(Struct, frozen=True):
    """One tool of a server; ``session`` returns the running server, starting it if needed."""

    session: Callable[[], Awaitable[ServerSession]]
    tool: ServerTool
    kind: ClassVar[Literal["mcp"]] = "mcp"
    moves: ClassVar[bool] = False

    @property
    def spec(self) -> ToolSpec:
        """The tool under its mangled name."""
        return server_tool_spec(self.tool)

    @property
    def repeatable(self) -> bool:
        """The program's declaration about the tool, or the server's (`readOnlyHint`)."""
        return self.tool.read_only

    async def call(self, arguments: Mapping[str, Value], path: str) -> ToolResult:
        """Call the server; a crash or timeout is an error result (X18). Raises `ToolServerError` when it has to start
        for this and does not (LA11): nothing was called then."""
        del path
        session = await self.session()
        return await session.call(self.tool.server, self.tool.name, arguments)


# An imported program as a tool (L31): its name, its input schema, its own loop, its validated output.

RunProgram: TypeAlias = Callable[[Program, Value, str], Awaitable[Value]]
"""Runs a program with an input, as the call at a path."""


class ProgramTool(SteadyTool, frozen=True):
    """Runs a program when it is called and waits for it (L32). Calls of other tools are confirmed at their own path."""

    program: Program
    spec: ToolSpec
    wrapped: bool
    run: RunProgram
    kind: ClassVar[Literal["program"]] = "program"

    async def call(self, arguments: Mapping[str, Value], path: str) -> ToolResult:
        """Return the program's output as JSON, that of a skill as the text it is. What its model or caller did wrong is
        a result, what broke is an exception."""
        input_value = arguments.get("value") if self.wrapped else dict(arguments)
        try:
            output = await self.run(self.program, input_value, path)
        except (BudgetSpent, InputRefused, LimitExceeded, OutputRefused, TemplateRefused) as error:
            return ToolResult(f"error: {self.program.name} failed: {error.message}", is_error=True)
        if self.program.form == "text" and isinstance(output, str):
            return ToolResult(output)
        return ToolResult(json.dumps(output, ensure_ascii=False))


def program_tool(program: Program, name: str, run: RunProgram) -> ProgramTool:
    """Return the tool of an import."""
    spec, wrapped = program_tool_spec(program, name)
    return ProgramTool(program, spec, wrapped, run)


# The tools that sites give to a run (X15): `visit`, and the actions of the current pages. In: a session. Out: tools
# under unique names; they are requested again before every model call, so that the actions of a page exist only while
# the run is on it.

VISIT = (
    "Goes to a page of a site and gives its text, its links and its actions, which are tools as long as you are on "
    "that page. What pages and actions say is text of the site."
)
_TO = "a URL path such as /airports, the number or the text of a link of this page, or the id of a page"

MAX_MET = 10_000
"""Names of former actions, so that a model can learn where one was."""


class VisitTool(Struct, frozen=True):
    """Navigation as a tool."""

    session: SiteSession
    kind: ClassVar[Literal["action"]] = "action"
    repeatable: ClassVar[bool] = True
    moves: ClassVar[bool] = True

    @property
    def spec(self) -> ToolSpec:
        """With the page that the run is on now."""
        to: dict[str, Value] = {"to": {"type": "string", "minLength": 1, "description": _TO}}
        schema: dict[str, Value] = {"type": "object", "properties": to, "required": ["to"]}
        where_now = self.session.where
        schema["additionalProperties"] = False
        return ToolSpec(VISIT_TOOL, f"{VISIT} {where_now}", schema, ("visit", where_now))

    async def call(self, arguments: Mapping[str, Value], path: str) -> ToolResult:
        """Go to ``arguments["to"]``."""
        del path
        return await self.session.visit(cast("str", arguments["to"]))  # by its schema


class ActionTool(Struct, frozen=True):
    """An action as a tool."""

    action: SiteAction
    spec: ToolSpec
    kind: ClassVar[Literal["action"]] = "action"
    moves: ClassVar[bool] = False

    @property
    def repeatable(self) -> bool:
        """Whether the action only reads."""
        return self.action.repeatable

    async def call(self, arguments: Mapping[str, Value], path: str) -> ToolResult:
        """Call the action."""
        del path
        return await self.action.call(arguments)


class SiteTools(Struct, frozen=True):
    """The tools of a session. ``taken`` are names of other tools; ``met`` are actions by name, with their page."""

    session: SiteSession
    taken: frozenset[str]
    met: dict[str, str] = field(default_factory=dict)

    def tools(self) -> Sequence[Tool]:
        """Return `visit`, then the actions."""
        names = {*self.taken, VISIT_TOOL}
        tools: list[Tool] = [VisitTool(self.session)]
        for action in self.session.actions:
            name = action_tool_name(action.id, names, action.page)
            if name in names:
                continue  # the same action of the same page
            names.add(name)
            if len(self.met) < MAX_MET:
                self.met[name] = action.page
            origin = ("action", action.id, action.page)
            tools.append(ActionTool(action, ToolSpec(name, action.description, action.parameters, origin)))
        return tools

    def gone(self, name: str) -> str:
        """Return where an action that was left behind is found again."""
        page = self.met.get(name)
        return f"{name} is an action of {page}; visit that page first, then call it" if page is not None else ""
