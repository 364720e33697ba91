"""The world of a run put together: its ports, opened and closed around it (L15); what it may cost, alone and with all
other runs of a server (X26); and where its traces go: nowhere, unless the user says so (X6).

In: a program, what the user chose, a provider. Out: a `World`, closed at its end; budgets, and the tally of a summary.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from decimal import Decimal
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from prosa.adapters.clock import SystemClock
from prosa.adapters.files import cache_dir
from prosa.adapters.providers.prices import KnownPrices
from prosa.app.options import Environment, Options, Otel
from prosa.app.permission import PermittedServers
from prosa.records.run import StorePlace, StoreServer
from prosa.records.summary import Tally
from prosa.runtime.errors import RunError, SandboxError
from prosa.runtime.events import Listener
from prosa.runtime.execute import ExitStack
from prosa.runtime.journal import UNRECORDED, Journal
from prosa.runtime.messages import NANO, nano
from prosa.runtime.program import reachable
from prosa.runtime.world import World
from prosa.source.remembered import remembered

if TYPE_CHECKING:
    from prosa.adapters.telemetry.spans import Telemetry
    from prosa.records.replay import Player
    from prosa.runtime.budget import Budget, Ledger
    from prosa.runtime.mail import Mail
    from prosa.runtime.ports import Clock, Prices, Provider, Sandbox, Sites, SkillFiles, ToolServers
    from prosa.runtime.program import Program
    from prosa.settings import Settings


def system_clock() -> Clock:
    """Return the real clock."""
    return SystemClock()


def servers(program: Program, environment: Environment) -> ToolServers:
    """Return what starts MCP servers; ``${NAME}`` in their environment is taken from that of the user, and credentials
    for those over HTTP from the user's settings (X18). Raises `RunError` for settings that are wrong."""
    from prosa.adapters.mcp import McpServers

    # Programs share the adapter; each cuts results to its own limit afterwards.
    largest = max(reached.limits.tool_result for reached in reachable(program))
    credentials = None
    if any(server.url is not None for reached in reachable(program) for server in reached.servers):
        from prosa.app.run.server_credentials import server_credentials

        credentials = server_credentials(environment.settings, environment.environ)
    return McpServers(
        environ=environment.environ, credentials=credentials, notice=environment.notice, result_limit=largest
    )


@asynccontextmanager
async def kept_servers(program: Program, options: Options, environment: Environment) -> AsyncIterator[ToolServers]:
    """Open the servers of a program for many of its runs, and close them with the block."""
    from prosa.runtime.server_pool import KeptServers

    kept = KeptServers(servers(program, environment))
    async with ExitStack() as stack:
        stack.push_async_callback(kept.aclose)
        yield PermittedServers(lambda: kept, options, environment)


def sites(program: Program, options: Options, environment: Environment) -> Sites | None:
    """Return the way to the sites of a run, within the rights that the user gave it; None where no program has any.

    Raises `RunError` for a token that a flag names and that is not there.
    """
    if not any(reached.sites for reached in reachable(program)):
        return None
    from prosa.app.client.access import site_access
    from prosa.app.client.session import LiveSites

    return LiveSites(site_access(options.site_rights, environment, program.sites))


def budget_of(options: Options, environment: Environment) -> Budget | None:
    """Return the budget of one call, or what is left of one that it shares; None where the user named no cap."""
    return None if options.max_cost is None else budget_within(options.max_cost, environment)


def budget_within(cap: Decimal | Ledger, environment: Environment) -> Budget:
    """Return the budget of a cap in US dollars, or what is left of one that is shared."""
    from prosa.runtime.budget import Budget, Ledger

    ledger = cap if isinstance(cap, Ledger) else Ledger(cap)
    return Budget(known_prices(environment.settings), ledger, notice=environment.notice)


@remembered
def known_prices(settings: Settings) -> Prices:
    """Return the prices of models: those of the user's settings, then the list of known ones (LA27)."""
    return KnownPrices(settings.prices)


def new_tally(program: Program, settings: Settings) -> Tally:
    """Return a summary that begins now."""
    return Tally(program, system_clock(), known_prices(settings))


@asynccontextmanager
async def open_world(
    program: Program,
    options: Options,
    environment: Environment,
    listener: Listener,
    provider: Provider,
    *,
    journal: Journal = UNRECORDED,
    mail: Mail | None = None,
    played: Player | None = None,
    shared: ToolServers | None = None,
) -> AsyncIterator[World]:
    """Return the ports of a run, closed at the end whatever happens, but for ``provider``, ``journal``, ``mail`` and
    ``shared`` servers: who opened them closes them. ``played`` stands in for tool servers, sandbox and sites, of which
    none is then opened.

    Raises `SandboxError` for limits no sandbox can keep.
    """
    if played is not None:
        yield replace(_played_world(program, played, options, listener, provider, journal), mail=mail)
        return
    async with ExitStack() as stack:
        sandbox = _sandbox(program, environment)
        if sandbox is not None:
            stack.push_async_callback(sandbox.aclose)
        yield World(
            provider=provider,
            clock=system_clock(),
            servers=shared or PermittedServers(partial(servers, program, environment), options, environment),
            sandbox=sandbox,
            sites=sites(program, options, environment),
            skills=skill_files(program),
            mail=mail,
            listener=listener,
            jitter=_random,
            stream=options.stream,
            allow_cut=options.allow_cut,
            journal=journal,
        )


def _random() -> float:
    """Return a number below 1, for a wait: few runs wait."""
    from random import random

    return random()  # noqa: S311 - no secret


def skill_files(program: Program) -> SkillFiles | None:
    """Return what reads the files of skills; None where no program has any."""
    if not any(reached.skills for reached in reachable(program)):
        return None
    from prosa.adapters.files.skill_files import RootedSkillFiles

    return RootedSkillFiles()


def _played_world(
    program: Program, player: Player, options: Options, listener: Listener, provider: Provider, journal: Journal
) -> World:
    """Return a world that starts nothing and asks no user: it offers the tools of the recording (X27)."""
    from prosa.records.replay import RecordedServers, RecordedSites, recorded_sandbox

    return World(
        provider=provider,
        clock=system_clock(),
        servers=RecordedServers(player.recording),
        sandbox=recorded_sandbox(player.recording),
        sites=RecordedSites(player),
        skills=skill_files(program),
        listener=listener,
        stream=options.stream,
        allow_cut=options.allow_cut,
        journal=journal,
    )


def _sandbox(program: Program, environment: Environment) -> Sandbox | None:
    """Return the sandbox, or None with a warning where this machine has none or no safe place for it (LA18, X10)."""
    using = [reached for reached in reachable(program) if reached.uses_python]
    if not using:
        return None
    from prosa.adapters.sandbox import MIN_MEMORY, LateSandbox

    least = min(using, key=lambda reached: reached.limits.python_memory)
    if least.limits.python_memory < MIN_MEMORY:
        raise _too_little(least, MIN_MEMORY)
    place = _sandbox_place(environment)
    if isinstance(place, Path):
        return LateSandbox(place, environment.notice)
    environment.notice(f"warning: the python tool is not offered: {place}")
    return None


@remembered
def _sandbox_place(environment: Environment) -> Path | str:
    """Return the folder where the sandbox keeps its cache, looked for once in a call; or why there is no sandbox."""
    from prosa.adapters.sandbox import missing_part

    try:
        return missing_part() or cache_dir(environment.environ)
    except OSError as error:
        return f"there is no place for its cache: {error}"


def _too_little(program: Program, least: int) -> SandboxError:
    """Told before a model is asked, not at the first call of the tool."""
    memory, needed = (f"{size / 2**20:g} MB" for size in (program.limits.python_memory, least))
    return SandboxError(
        f"{program.name} gives Python {memory} of memory; the sandbox needs {needed}",
        hint=f"set `python: {{memory: {needed.replace(' ', '')}}}` in the program, or use --python-memory",
    )


DEFAULT_BUDGET = Decimal(5)
"""US dollars of all runs of one server, where the user says nothing."""

_NAME = "budget of servers"
_AT_ONCE = 8


def server_budget(cap: Decimal | None, environment: Environment, store: StorePlace | None = None) -> Budget:
    """Return the budget of all runs of one server, or of all servers that keep their runs in one database. Without a
    cap of the user's it counts known prices only."""
    from prosa.runtime.budget import Budget, Ledger

    whole = DEFAULT_BUDGET if cap is None else cap
    ledger = Ledger(whole)
    if isinstance(store, StoreServer):
        ledger = Ledger(Decimal(0), grants=_TogetherGrants(store, whole), whole=whole)
    return Budget(known_prices(environment.settings), ledger, cap is not None, environment.notice)


class _TogetherGrants(Struct, frozen=True):
    """A budget in a database, of which each server draws parts for some calls."""

    store: StoreServer
    cap: Decimal

    async def draw(self, wanted: Decimal) -> Decimal:
        """Money for some calls, else for the one that asks. Raises `StoreProblem`."""
        from prosa.adapters.store.leases import draw_together
        from prosa.adapters.store.writer import living, writer_of

        writer, least = writer_of(self.store), nano(wanted)  # in use until the server ends: that shows it is alive
        alive = await asyncio.to_thread(living, self.store)
        holder = await writer.do(lambda _: writer.holder)
        work = draw_together(_NAME, holder, alive, least, least * _AT_ONCE, int(self.cap / NANO))
        return (await writer.do(work)) * NANO


ADDRESS = "OTEL_EXPORTER_OTLP_ENDPOINT"
CAPTURE = "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT"
LOCAL = "http://localhost:4318"
"""Default address of a collector."""


def telemetry_of(options: Options, environment: Environment) -> Telemetry | None:
    """Return the telemetry for the runs of a call; None if it is not enabled. Raises `RunError` where the library is
    missing."""
    otel = options.otel or (Otel(environment.settings.otel) if environment.settings.otel else None)
    if otel is None:
        return None
    try:
        from prosa.adapters.telemetry.spans import Telemetry
    except ImportError:
        from prosa.extras import lacking

        raise lacking(RunError, "--otel", "otel") from None
    environ = environment.environ
    url = otel.url or environ.get(ADDRESS, "").strip() or LOCAL
    content = otel.content or environ.get(CAPTURE, "").strip() == "span_only"
    return Telemetry(url, content=content, parent=environ.get("TRACEPARENT", ""))
