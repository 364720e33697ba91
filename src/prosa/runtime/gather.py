"""The tools of a program in the order they are offered: python, imports, then servers as declared (LW7), then what a
site offers, which changes while the program runs (X15)."""

from __future__ import annotations

from collections.abc import Collection
from contextlib import AsyncExitStack

from prosa.dialects.markdownlang.names import VISIT_TOOL, server_tool_name, tool_name
from prosa.runtime.errors import RunError, SiteError
from prosa.runtime.messages import ToolSpec
from prosa.runtime.ports import Tool
from prosa.runtime.program import Program
from prosa.runtime.program_tool import RunProgram, program_tool
from prosa.runtime.python_tool import PythonTool
from prosa.runtime.server_pool import ServerPool
from prosa.runtime.server_tool import McpTool
from prosa.runtime.site_tools import SiteTools
from prosa.runtime.tools import Changing, Unchanging
from prosa.runtime.world import World


async def gather_tools(program: Program, world: World, pool: ServerPool, run: RunProgram) -> dict[str, Tool]:
    """Tools by wire name. Starts the program's servers. Raises `RunError` when two tools share a name (LA12)."""
    tools: list[Tool] = []
    if program.python and world.sandbox is not None:
        tools.append(PythonTool(world.sandbox, program.limits))
    tools += [program_tool(imported, tool_name(imported.name), run) for imported in program.imports]
    if program.servers:
        session = await pool.session(program.servers, program.folder)
        for tool in session.tools:
            spec = ToolSpec(server_tool_name(tool.server, tool.name), tool.description, tool.parameters)
            tools.append(McpTool(session, tool, spec))
    named: dict[str, Tool] = {}
    for tool_ in tools:
        if tool_.spec.name in named:
            raise RunError(f"{program.name} has two tools named {tool_.spec.name!r}", hint="rename one of the imports")
        named[tool_.spec.name] = tool_
    if program.sites and VISIT_TOOL in named:
        raise RunError(f"{program.name} has two tools named {VISIT_TOOL!r}", hint="rename the import")
    return named


async def open_sites(program: Program, world: World, fixed: Collection[str], stack: AsyncExitStack) -> Changing:
    """The tools that the sites of a program give while it runs. Each run of a program is on pages of its own, so they
    are opened anew and end with ``stack``. ``fixed`` are names that are taken. Raises `SiteError`."""
    if not program.sites:
        return Unchanging()
    if world.sites is None:
        raise SiteError(f"{program.name} has sites, and this run has no way to them")
    session = await stack.enter_async_context(world.sites.open(program.sites, result_limit=program.limits.tool_result))
    return SiteTools(session, frozenset(fixed))
