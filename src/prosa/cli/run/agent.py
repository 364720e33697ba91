"""`prosa run SKILL REQUEST --agent NAME`: one attempt in an agent, answer on stdout, changes on stderr (X36)."""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator
from typing import TYPE_CHECKING

from prosa.app.options import AgentKeywords
from prosa.cli.console import Console
from prosa.cli.environment import environment_of
from prosa.cli.options import options_from, values_of
from prosa.cli.parser import WrongUse
from prosa.cli.run.delivery import deliver, require_writable
from prosa.render.plain import safe

if TYPE_CHECKING:
    from prosa.app.agents.run import AgentRun


def run(args: argparse.Namespace, console: Console) -> int:
    """Return 0. What ends an attempt early is raised, after its changes were shown."""
    from prosa.app.agents.run import run_in_agent, summary_of
    from prosa.app.agents.task import agent_options
    from prosa.cli.run.interaction import run_stoppable

    if len(args.agents) > 1:
        raise WrongUse("prosa run makes one attempt, in one agent", hint="prosa test compares several")
    require_writable(args.output)
    options = options_from(args, console.environ)
    chosen = agent_options(values_of(AgentKeywords, args), ((options.model,) if options.model else ()))
    environment = environment_of(console, args.file)
    made = run_stoppable(run_in_agent(args.file, _request(args), chosen, options, environment))
    for line in _lines(made):
        console.note(line)
    if args.summary:
        console.err(json.dumps(summary_of(made), ensure_ascii=False, indent=2))
    if made.error is not None:
        raise made.error
    deliver(console, made.trace.text, args.output, as_text=args.form != "json")
    return 0


def _request(args: argparse.Namespace) -> str:
    """Return the words of the request. Raises `WrongUse` for an input other than a request."""
    if args.input is None:
        return " ".join(args.pairs)
    try:
        value = json.loads(args.input)
    except ValueError:
        value = None
    request = value.get("request") if isinstance(value, dict) else value
    if not isinstance(request, str):
        raise WrongUse("--input of a skill is a text, or an object with a `request`")
    return request


def _lines(made: AgentRun) -> Iterator[str]:
    """Yield what a person wants to know of an attempt."""
    trace = made.trace
    usage = trace.usage
    calls = len(trace.calls)
    took = [f"{calls} model call{'s' * (calls != 1)}" if calls else "model calls not seen"]
    took += [] if usage is None else [f"{usage.total_tokens:,} tokens"]
    took += [] if trace.cost is None else [f"${float(trace.cost):.4f}"]
    yield f"{trace.agent} {trace.version}, {trace.model or 'its own model'}: {', '.join(took)}, {trace.seconds:.1f} s"
    listed = "not seen" if trace.listed is None else ", ".join(trace.listed) or "none"
    yield f"skills listed: {listed}; loaded: {', '.join(trace.loaded) or 'none'}"
    for change in trace.changes:
        yield f"{change.kind} {safe(change.path)} ({change.size:,} bytes)"
        yield from (f"  {safe(line)}" for line in change.diff.splitlines()[2:] if change.is_text)
    if made.kept is not None:
        yield f"the workspace is in {made.kept}"
    yield from (f"not seen, or not held: {sentence}" for sentence in trace.unseen)
    if made.run_id:
        yield f"run {made.run_id}: see prosa runs {made.run_id}"
