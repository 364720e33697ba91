"""`prosa agents`: which coding agents are here, what was tried with them, and how they are isolated (X36)."""

from __future__ import annotations

import argparse
import json
from typing import TYPE_CHECKING

from prosa.cli.console import Console
from prosa.cli.errors import FAILED, OK

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from prosa.app.agents.known import AgentHere
    from prosa.app.agents.probe import Probe


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `agents`."""
    parser.add_argument("names", nargs="*", metavar="NAME", help="only these: claude, codex, copilot, pi, …")
    about = "start each installed one once against a scripted model service on this machine; free, no key"
    parser.add_argument("--probe", action="store_true", help=about)
    parser.add_argument("--format", choices=("text", "json"), default="text", help="text for people, json for programs")


def run(args: argparse.Namespace, console: Console) -> int:
    """Return 0; 1 where a probe failed. Raises `AgentRefused` for an unknown name, and for one to probe that is not
    installed."""
    from prosa.app.agents.known import agents_here

    agents = list(agents_here(tuple(args.names), console.environ))
    probes = _probed(agents, console, named=bool(args.names)) if args.probe else {}
    if args.format == "json":
        rows = [here.as_dict() | _probe_row(probes.get(here.known.name), args.probe) for here in agents]
        console.out(json.dumps(rows, ensure_ascii=False, indent=2))
    else:
        lines = _details(agents) if args.names else _table(agents)
        console.out("\n".join((*lines, *_probe_lines(probes))))
    return FAILED if any(not probe.ok for probe in probes.values()) else OK


def _probed(agents: Sequence[AgentHere], console: Console, *, named: bool) -> dict[str, Probe]:
    import asyncio

    from prosa.app.agents.probe import probe_agent
    from prosa.app.agents.task import AgentRefused

    installed = [here for here in agents if here.installed is not None]
    if named and (missing := next((here.missing for here in agents if here.installed is None), "")):
        raise AgentRefused(missing)
    if not installed:
        console.note("note: no agent is installed here, so there is nothing to probe")
    return {here.known.name: asyncio.run(probe_agent(here, console.environ)) for here in installed}


def _probe_row(probe: Probe | None, asked: bool) -> dict[str, object]:
    return {"probe": None if probe is None else probe.as_dict()} if asked else {}


def _probe_lines(probes: dict[str, Probe]) -> Iterator[str]:
    if not probes:
        return
    yield "\nprobe, with a scripted model: it shows that an agent can be started and read, and nothing about a skill"
    for name, probe in probes.items():
        yield f"  {name}: {'ok' if probe.ok else 'FAILED'}"
        yield from (f"    {'✓' if step.ok else '✗'} {step.what}" for step in probe.steps)


def _table(agents: Sequence[AgentHere]) -> Iterator[str]:
    width = max(len(agent.known.name) for agent in agents)
    for agent in agents:
        here = agent.installed
        version = f"{here.version}" if here is not None else "not installed"
        kind = "" if agent.known.supported else "  (experimental)"
        yield f"{agent.known.name:<{width}}  {version:<14}  {agent.known.title}{kind}"
        if here is not None and agent.warning:
            yield f"{'':<{width}}  warning: {agent.warning}"
    yield ""
    yield _isolation(agents[0])


def _isolation(here: AgentHere) -> str:
    isolated = here.isolation
    if isolated.kind != "none":
        return f"isolation: {isolated.kind}"
    return f"isolation: none ({isolated.reason}); agents run only with --trust-agent"


def _details(agents: Sequence[AgentHere]) -> Iterator[str]:
    for agent in agents:
        known, here = agent.known, agent.installed
        oldest, newest = known.tried
        yield f"{known.name}: {known.title} ({known.package}, licence: {known.licence})"
        yield f"  installed: {f'{here.version} at {here.path}' if here is not None else f'no ({_how(agent)})'}"
        yield f"  tried with: {oldest if oldest == newest else f'{oldest} to {newest}'}"
        if agent.warning:
            yield f"  warning: {agent.warning}"
        yield f"  skills: {', '.join(known.skills)}; at home {', '.join(known.home_skills)}"
        yield f"  context files: {', '.join(known.context)}"
        yield f"  list of skills: {known.budget}"
        yield f"  brings its own: {', '.join(known.brings) or 'none'}"
        yield f"  first request: {known.request_bytes:,} bytes over {known.wires[0]}; memory about {known.memory:,} MB"
        yield f"  {_isolation(agent)}"


def _how(here: AgentHere) -> str:
    """Return how to get an agent, or what it lacks."""
    return here.missing.partition(": ")[2] or here.missing
