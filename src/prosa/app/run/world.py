"""A run put together: the ports of its world, opened and closed around it, and the result with its summary."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from prosa.app.options import Environment, Options, say_nothing
from prosa.app.run.service import Chosen, choose_provider
from prosa.runtime.errors import ProviderError, SandboxError
from prosa.runtime.events import Listener, ignore, tell

if TYPE_CHECKING:
    from prosa.runtime.ports import Clock, Provider, Sandbox, Sites, ToolServers
    from prosa.runtime.program import Program
    from prosa.runtime.summary import Summary, Tally
    from prosa.runtime.world import World
    from prosa.settings import Settings


@dataclass(frozen=True, slots=True)
class RunResult:
    """What a run gave: the validated output, and the summary of what it took."""

    output: Any
    summary: Summary


async def run_program(
    program: Program,
    given: Any,
    choices: Options,
    around: Environment,
    *,
    listener: Listener = ignore,
    provider: Provider | None = None,
    tally: Tally | None = None,
    numbers: Iterator[int] | None = None,
) -> RunResult:
    """Runs a loaded program. Raises `RunError`; ``tally`` then still knows what happened (L44).

    ``provider`` answers in place of the one that the choices name; ``numbers`` number the programs of the run.
    """
    from prosa.runtime.accept import accept_input
    from prosa.runtime.execute import execute
    from prosa.runtime.program import with_model

    tally = tally or new_tally(program, around.settings)
    try:
        chosen = Chosen(provider) if provider else await choose_provider(choices, around)
    except ProviderError:
        accept_input(program, given)  # a wrong input is the nearer mistake, and is told before a missing key
        raise
    if chosen.model_name is not None:
        tally.program = program = with_model(program, chosen.model_name)
    async with open_world(program, choices, around, tell(tally, listener), chosen.provider) as world:
        output = await execute(program, given, world, numbers=numbers)
    return RunResult(output, tally.summary())


def system_clock() -> Clock:
    """The real clock."""
    from prosa.adapters.clock import SystemClock

    return SystemClock()


def servers(program: Program, environ: Mapping[str, str], notice: Callable[[str], None] = say_nothing) -> ToolServers:
    """What starts MCP servers; ``${NAME}`` in their environment is taken from ``environ`` (X18)."""
    from prosa.adapters.mcp import McpServers
    from prosa.runtime.program import reachable

    # Programs share the adapter; each cuts results to its own limit afterwards.
    largest = max(each.limits.tool_result for each in reachable(program))
    return McpServers(environ=environ, notice=notice, result_limit=largest)


def sites(program: Program, choices: Options, around: Environment) -> Sites | None:
    """The way to the sites of a run, within the rights that the user gave it; None where no program has any.

    Raises `RunError` for a token that a flag names and that is not there.
    """
    from prosa.runtime.program import reachable

    if not any(each.sites for each in reachable(program)):
        return None
    from prosa.app.site_access import site_access
    from prosa.app.site_session import LiveSites

    return LiveSites(site_access(choices.site_rights, around, program.sites))


def new_tally(program: Program, settings: Settings) -> Tally:
    """A summary that begins now."""
    from prosa.adapters.providers.prices import KnownPrices
    from prosa.runtime.summary import Tally

    return Tally(program, system_clock(), KnownPrices(settings.prices))


@asynccontextmanager
async def open_world(
    program: Program, choices: Options, around: Environment, listener: Listener, provider: Provider
) -> AsyncIterator[World]:
    """The ports of a run, closed at the end whatever happens. Raises `SandboxError` for limits no sandbox can keep."""
    from random import random

    from prosa.runtime.world import World

    async with AsyncExitStack() as stack:
        stack.push_async_callback(provider.aclose)
        sandbox = _sandbox(program, around)
        if sandbox is not None:
            stack.push_async_callback(sandbox.aclose)
        yield World(
            provider=provider,
            clock=system_clock(),
            servers=servers(program, around.environ, around.notice),
            sandbox=sandbox,
            sites=sites(program, choices, around),
            listener=listener,
            jitter=random,
            stream=choices.stream,
            allow_cut=choices.allow_cut,
        )


def _sandbox(program: Program, around: Environment) -> Sandbox | None:
    """The sandbox, or None with a warning where this machine has none or no safe place for it (LA18, X10)."""
    from prosa.adapters.files import cache_dir
    from prosa.adapters.sandbox import MIN_MEMORY, WasmSandbox, missing_part
    from prosa.runtime.program import reachable

    using = [each for each in reachable(program) if each.python]
    if not using:
        return None
    least = min(using, key=lambda each: each.limits.python_memory)
    if least.limits.python_memory < MIN_MEMORY:
        raise _too_little(least, MIN_MEMORY)
    if missing := missing_part():
        around.notice(f"warning: the python tool is not offered: {missing}")
        return None
    try:
        return WasmSandbox(cache_dir(around.environ), notice=around.notice)
    except OSError as error:
        around.notice(f"warning: the python tool is not offered: there is no place for its cache: {error}")
        return None


def _too_little(program: Program, least: int) -> SandboxError:
    """Told before a model is asked, not at the first call of the tool."""
    given, needed = (f"{size / 2**20:g} MB" for size in (program.limits.python_memory, least))
    return SandboxError(
        f"{program.name} gives Python {given} of memory; the sandbox needs {needed}",
        hint=f"set `python: {{memory: {needed.replace(' ', '')}}}` in the program, or use --python-memory",
    )
