"""One attempt of a request in an agent, with a skill laid for it, kept in the history (X25, X36).

In: a skill, a request, the user's options. Out: the result with the changed files. The attempt stands in the store like
any run: with its answer, its tokens, and the error that ended it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

from msgspec import Struct, field

from prosa.adapters.clock import SystemClock
from prosa.adapters.files.skill_files import is_skill
from prosa.app.agents.live import live_agents
from prosa.app.agents.recording import record_attempt, recorded_agents, require_recordable
from prosa.app.agents.task import AgentOptions, AgentRefused, AgentResult, AgentSource, AgentTask
from prosa.app.evals.skills import WITH, agent_skill
from prosa.app.options import Environment, Options
from prosa.app.run.skills import load_skill, skills_program
from prosa.app.run.world import budget_of
from prosa.app.runs import Job
from prosa.app.runs.record import JobJournal, Journals
from prosa.data import Value
from prosa.records.agent import BROKEN_ENDS, AgentStep, AgentTrace
from prosa.runtime.errors import BudgetSpent, LimitExceeded, ProviderError, RunError
from prosa.runtime.events import Scope
from prosa.runtime.journal import ModelStep
from prosa.runtime.messages import Message, ModelReply, ModelRequest, Usage
from prosa.runtime.program import Program, with_model


class AgentRun(Struct, frozen=True):
    """What came of one attempt: the result, its error where it did not end well, the id of the run in the history,
    empty where none is kept, and the recording."""

    result: AgentResult
    error: RunError | None = None
    run_id: str = ""
    recording: str = ""
    kept: Path | None = None

    @property
    def trace(self) -> AgentTrace:
        """What the agent did."""
        return self.result.trace


class _Attempt(Struct):
    """What asks the agent as the one call of a run. ``service`` is what its tap asks, or whose login it uses."""

    source: AgentSource
    task: AgentTask
    service: str
    results: list[AgentResult] = field(default_factory=list)

    async def __call__(self) -> ModelReply:
        result = await self.source.attempt(self.task)
        self.results.append(result)
        trace = result.trace
        if (error := error_of(trace)) is not None:
            raise error
        usage, model = trace.usage or Usage(), trace.model or None
        return ModelReply(trace.text, usage=usage, model_name=model, finish="stop", service=self.service)


def error_of(trace: AgentTrace) -> RunError | None:
    """Return the error of an attempt that did not end well; None for one that is done."""
    if trace.end == "done":
        return None
    message = f"{trace.agent}: {trace.reason or f'it ended as {trace.end}'}"
    if trace.end == "cost":
        return BudgetSpent(message)
    if trace.end in ("calls", "timeout", "files", "processes"):
        return LimitExceeded(message)
    if trace.end == "service":
        return ProviderError(message, kind="server", retryable=False)
    return RunError(message, hint="see: prosa agents --probe" if trace.end in BROKEN_ENDS else "")


async def run_in_agent(
    path: Path, request: str, chosen: AgentOptions, options: Options, environment: Environment
) -> AgentRun:
    """Run a request in the first agent of the options. Raises `AgentRefused`, and what `load_skill` does."""
    if not is_skill(path):
        raise AgentRefused(f"{path} is not a skill, and --agent runs skills", hint="name a SKILL.md or its folder")
    if not request.strip():
        raise AgentRefused("there is no request", hint="as in: prosa run SKILL 'When is high water?' --agent NAME")
    skill = load_skill(path, options, environment.settings)
    agent = chosen.agents[0]
    task = AgentTask(agent, request, 1, WITH, request, (agent_skill(skill),), classified=skill.classified)
    record = options.recording.record if options.recording is not None else None
    if record is not None:
        require_recordable(record, task)
    recorded = recorded_agents(options.recording)
    if recorded is not None:
        result = await recorded.attempt(task)
        return AgentRun(result, error_of(result.trace))
    program = with_model(skills_program([], options, environment.settings, chosen=skill), agent.label)
    async with live_agents(chosen, [agent], options, environment, budget_of(options, environment)) as source:
        upstream = source.ready[agent].upstream
        service = "own login" if upstream is None else upstream.service or upstream.endpoint.shown
        attempt = _Attempt(source, task, service)
        run_id, error = await _kept(attempt, program, options, environment)
        if not attempt.results:
            assert error is not None
            raise error
        result = attempt.results[0]
        recording = "" if record is None else str(record_attempt(record, task, result))
        return AgentRun(_loaded(result), error, run_id, recording, source.kept_place(task))


async def _kept(
    attempt: _Attempt, program: Program, options: Options, environment: Environment
) -> tuple[str, RunError | None]:
    """Make the attempt inside a run of the history, and return the id of that and the error that ended it."""
    journals = Journals(options.journal, environment, SystemClock())
    job, kept = Job("", program, {"request": attempt.task.prompt}), JobJournal()
    request = ModelRequest(program.model_name, (Message("user", attempt.task.prompt),), program=program.name)
    try:
        async with journals.of(job, program, kept):
            reply = await kept.journal.reply(ModelStep("1", request, Scope(program.name, 0)), attempt)
            kept.output = reply.content
        return kept.run, None
    except RunError as error:
        return kept.run, error
    finally:
        await journals.aclose()


def _loaded(result: AgentResult) -> AgentResult:
    """Return the result with the contents of its files read: the folder that they stand in ends with the attempt."""
    digests = {change.digest for change in result.trace.changes if change.digest}
    contents = {digest: content for digest in digests if (content := result.content(digest)) is not None}
    return AgentResult(result.trace, contents.get)


def summary_of(run: AgentRun) -> Mapping[str, Value]:
    """Return the attempt as data, for `--summary`."""
    trace = run.trace
    usage = trace.usage
    return {
        "agent": trace.agent,
        "version": trace.version,
        "model": trace.model,
        "end": trace.end,
        "reason": trace.reason or None,
        "calls": len(trace.calls),
        "tokens": None if usage is None else usage.total_tokens,
        "cost": None if trace.cost is None else float(trace.cost),
        "seconds": round(trace.seconds, 3),
        "listed": None if trace.listed is None else list(trace.listed),
        "loaded": list(trace.loaded),
        "changed": [{"path": change.path, "change": change.kind, "bytes": change.size} for change in trace.changes],
        "unseen": list(trace.unseen),
        "run": run.run_id or None,
        "workspace": None if run.kept is None else str(run.kept),
        "steps": [json.loads(json.dumps(_step(step))) for step in trace.steps],
    }


def _step(step: AgentStep) -> dict[str, Value]:
    return {"kind": step.kind, "tool": step.tool, "arguments": step.arguments, "text": step.text}
