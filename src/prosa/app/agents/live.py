"""Agents that run here: made ready for one call, then one attempt at a time for each task (X36).

In: the agents that the user named, options of the call, its budget. Out: a source of results. What keeps an agent from
running as the user asked is refused before the first attempt: it is not installed, there is no isolation and no
``--trust-agent``, a cap that could not hold.
"""

from __future__ import annotations

import hashlib
from collections.abc import AsyncIterator, Callable, Collection, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from prosa.adapters.agents.attempt import Order, run_attempt
from prosa.adapters.agents.discover import AgentMissing, Installed, find_agent
from prosa.adapters.agents.tap import Upstream
from prosa.adapters.agents.workspace import DiskFull
from prosa.adapters.providers.table import provider_row
from prosa.app.agents.known import AgentHere, known_agent
from prosa.app.agents.scratch import scratch_folder
from prosa.app.agents.task import AgentChoice, AgentOptions, AgentRefused, AgentResult, AgentTask
from prosa.app.options import DEFAULT_MODEL, Environment, Options
from prosa.app.run.service import Route, resolve
from prosa.app.run.world import known_prices
from prosa.records.agent import AgentTrace, WireName

if TYPE_CHECKING:
    from prosa.adapters.agents.box import Isolation
    from prosa.runtime.budget import Budget

OWN_SERVICES: Mapping[WireName, str] = {
    "messages": "anthropic",
    "gemini": "google",
    "responses": "openai",
    "chat": "openai",
}
"""The service that is asked over a wire where the user names none."""

MEMORY_SHARE = 0.6
"""The part of the free memory that attempts at the same time may take."""


class ReadyAgent(Struct, frozen=True):
    """An agent that can run: where it is, its model, and the service that its tap asks; None with the user's own
    login."""

    here: Installed
    wire: WireName
    model: str
    upstream: Upstream | None


class LiveAgents(Struct, frozen=True):
    """Meets `AgentSource` with agents that run on this machine."""

    chosen: AgentOptions
    options: Options
    environment: Environment
    ready: Mapping[AgentChoice, ReadyAgent]
    boxed: bool
    at_once: int
    folder: Path
    budget: Budget | None = None

    def about(self, agent: AgentChoice) -> str:
        """Return a digest of what an attempt depends on besides its task."""
        ready = self.ready[agent]
        service = ready.upstream.service if ready.upstream is not None else "own login"
        parts = (
            ready.here.version,
            ready.model,
            service,
            str(self.boxed),
            self.chosen.home,
            str(self.chosen.max_calls),
        )
        return hashlib.sha256("\n".join(map(str, parts)).encode()).hexdigest()

    def kept_place(self, task: AgentTask) -> Path | None:
        """Return where the workspace of a task is kept; None where the user did not ask for that."""
        return _kept_place(self.chosen.workspace_out, task)

    async def attempt(self, task: AgentTask) -> AgentResult:
        """Run one attempt."""
        ready = self.ready[task.agent]
        order = Order(
            agent=task.agent.name,
            model=ready.model,
            prompt=task.prompt,
            skills=tuple((skill.name, skill.folder) for skill in task.skills),
            files=task.files,
            home=self.chosen.home,
            boxed=self.boxed,
            timeout=self.chosen.timeout,
            max_calls=self.chosen.max_calls,
            stop_when_loaded=task.triggers,
            keep=self.kept_place(task),
        )
        try:
            trace, contents = await run_attempt(
                order,
                ready.here,
                ready.upstream,
                wire=ready.wire,
                budget=self.budget,
                prices=known_prices(self.environment.settings),
                output_bound=self.options.output_tokens,
                folder=self.folder,
                environ=self.environment.environ,
            )
        except DiskFull as full:
            trace = AgentTrace(task.agent.name, ready.here.version, ready.model, "interrupted", str(full))
            return AgentResult(trace, lambda _: None)
        return AgentResult(_with_unseen(trace, boxed=self.boxed), _reader(contents))


def _with_unseen(trace: AgentTrace, *, boxed: bool) -> AgentTrace:
    """Return the trace with what was not held, in sentences."""
    if boxed:
        return trace
    words = "the agent was not isolated: it could read and change whatever you can, and reach the network"
    return trace if words in trace.unseen else replace(trace, unseen=(*trace.unseen, words))


def _reader(contents: Path) -> Callable[[str], bytes | None]:
    def content(digest: str) -> bytes | None:
        path = contents / digest
        return path.read_bytes() if path.is_file() else None

    return content


def _kept_place(folder: Path | None, task: AgentTask) -> Path | None:
    if folder is None:
        return None
    from prosa.app.agents.recording import file_name

    return folder / file_name(task.agent.label) / file_name(task.side) / f"{file_name(task.case)}-{task.repeat}"


@asynccontextmanager
async def live_agents(
    chosen: AgentOptions,
    agents: Collection[AgentChoice],
    options: Options,
    environment: Environment,
    budget: Budget | None,
) -> AsyncIterator[LiveAgents]:
    """Make agents ready, and end what they left with the context. Raises `AgentRefused`, and `ProviderError` where
    there is no key for the service of one."""
    if chosen.home == "user" and options.max_cost is not None:
        message = "--max-cost cannot hold with --agent-home user: there is no tap between the agent and its service"
        raise AgentRefused(message, hint="leave it away, or use a key: --agent-home fresh")
    ready = {agent: _ready(agent, chosen, options, environment, budget) for agent in agents}
    boxed = _isolated(chosen)
    memory = max((known_agent(agent.name).memory for agent in agents), default=1)
    with scratch_folder("prosa-agents-") as folder:
        at_once = max(1, int(_free_megabytes() * MEMORY_SHARE / memory))
        yield LiveAgents(chosen, options, environment, ready, boxed, at_once, folder, budget)


def _isolated(chosen: AgentOptions) -> bool:
    """Return whether agents run isolated. Raises `AgentRefused` where they cannot and the user did not trust them."""
    from prosa.adapters.agents.box import isolation

    if chosen.home == "user":
        if not chosen.trust:
            message = "--agent-home user lets the agent run with your own login, settings and files, without isolation"
            raise AgentRefused(message, hint="if you want that, say so: --trust-agent")
        return False
    sandbox: Isolation = isolation()
    if sandbox.kind != "none":
        return True
    if chosen.trust:
        return False
    message = f"an agent runs commands that a skill tells it, and it cannot be isolated here: {sandbox.reason}"
    raise AgentRefused(message, hint="install bubblewrap; or let it run with your rights: --trust-agent")


def _ready(
    agent: AgentChoice, chosen: AgentOptions, options: Options, environment: Environment, budget: Budget | None
) -> ReadyAgent:
    from prosa.adapters.agents.box import isolation

    known = known_agent(agent.name)
    try:
        here = find_agent(agent.name, environment.environ)
    except AgentMissing as missing:
        raise AgentRefused(str(missing)) from None
    if warning := AgentHere(known, here, "", isolation()).warning:
        environment.notice(f"warning: {warning}")
    wire = known.wires[0]
    if chosen.home == "user":
        return ReadyAgent(here, wire, agent.model or "", None)
    route = route_of(agent, options, environment)
    if route.problem is not None:
        raise route.problem
    model = agent.model or options.model_name or options.default_model or environment.settings.model_name
    if model is None:
        model = DEFAULT_MODEL if OWN_SERVICES[wire] == "openai" else ""
    if not model:
        raise AgentRefused(f"--agent {agent.name} needs a model", hint=f"as in: --agent {agent.name}:MODEL")
    if budget is not None:
        budget.require_price(model, route.service, {})
    return ReadyAgent(here, wire, model, Upstream(route.endpoint, route.service))


def route_of(agent: AgentChoice, options: Options, environment: Environment) -> Route:
    """Return the service that an agent's tap asks: the one that the user names, else the one of its wire."""
    wire = known_agent(agent.name).wires[0]
    own = OWN_SERVICES[wire]
    named = options.base_url or options.provider or environment.settings.base_url
    row = None if named or own == "openai" else provider_row(own, environment.settings.providers)
    return resolve(replace(options, model=agent.model or options.model), environment, row, agent.model)


def _free_megabytes() -> float:
    """Return the free memory of this machine; where that is not known, that of a small one."""
    try:
        for line in Path("/proc/meminfo").read_text(encoding="ascii").splitlines():
            if line.startswith("MemAvailable:"):
                return int(line.split()[1]) / 1024
    except (OSError, ValueError):
        pass
    return 4096.0
