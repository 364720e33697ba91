"""Tests run: every case of every suite, with every model, as often as asked, through the one driver (X28).

In: suites that are ready, what the user chose. Out: a report. Repeats that were answered before come from the cache; a
failure is a result and ends nothing; what could not be judged, or never began, is not measured (X34). The grader is the
same for all models, so that they are measured alike.
"""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import AsyncExitStack
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import Struct, field
from msgspec.structs import replace

from prosa.app.agents.task import AgentSource
from prosa.app.evals.agents import (
    AgentAttempts,
    InAgent,
    agent_facts,
    agent_steps,
    judged_in_agent,
    left_behind,
    output_files,
    ran_in_agent,
    task_of,
)
from prosa.app.evals.answers import AnswerCache, Answers, open_kept
from prosa.app.evals.judge import Checks, Grader, Ran, judge, load_grader
from prosa.app.evals.stored import StoredTest, last_outcomes
from prosa.app.evals.suite import Suite
from prosa.app.evals.variants import TestOptions, Variant, variants_of
from prosa.app.options import Environment, Once, Options, RecordingOptions
from prosa.app.permission import require_permission
from prosa.app.run.jobs import Driver, Progress, driving
from prosa.app.run.routes import with_provider
from prosa.app.run.world import budget_of
from prosa.app.runs import Job
from prosa.app.runs.engine import run_list
from prosa.data import Value
from prosa.dialects.evals.document.fields import MAX_REPEAT
from prosa.evaluation.assembly import SuiteHead, Unit, report_of, units_of
from prosa.evaluation.case import FailureKind, RunFacts
from prosa.evaluation.report import Attempt, Reason, Report
from prosa.records.recording import given_digest, recording_name
from prosa.regex import regex
from prosa.runtime import errors, events
from prosa.runtime.errors import ProviderError, RunError
from prosa.runtime.events import Listener, ignore
from prosa.runtime.program import with_model
from prosa.source import FileProblem

if TYPE_CHECKING:
    from prosa.app.runs import Outcome
    from prosa.records.test import ShownTest
    from prosa.runtime.budget import Budget
    from prosa.runtime.ports import Provider

_KINDS: tuple[tuple[type[RunError], FailureKind], ...] = (
    (errors.InputRefused, "input"),
    (errors.OutputRefused, "refused"),
    (errors.LimitExceeded, "limit"),
    (errors.BudgetSpent, "budget"),
    (errors.PriceUnknown, "budget"),
    (errors.ProviderError, "provider"),
    (errors.ToolServerError, "tool-server"),
    (errors.SiteError, "site"),
    (errors.SandboxError, "sandbox"),
    (errors.CassetteProblem, "recording"),
)
"""Why a run has no output; anything else is the program's own fault."""

MAX_CALLS = 200
"""Maximum tool calls of one run that are passed to a check."""


class TestProgress(Struct):
    """The progress of a test, for display."""

    total: int = 0
    done: int = 0
    failed: int = 0
    unmeasured: int = 0
    __test__ = False


async def run_tests(
    suites: Sequence[Suite],
    chosen: TestOptions,
    options: Options,
    environment: Environment,
    *,
    listener: Listener = ignore,
    on_progress: Callable[[TestProgress], None] = lambda _: None,
    provider: Provider | None = None,
    kept: AnswerCache | None = None,
    interrupted: Callable[[Report], None] = lambda _: None,
    agents: AgentSource | None = None,
    ended: Callable[[ShownTest], None] | None = None,
) -> Report:
    """Run them and return a report. ``kept`` takes the place of the user's own cache; ``provider`` answers in place of
    the services that are named, and ``agents`` in place of agents that run here. ``interrupted`` is given the report of
    what was done where the call is cancelled, ``ended`` the test that ended as a page shows it.

    Raises `RunError` for what keeps all of them from running, `AgreementRequired`, `NotTrusted`, `AgentRefused` and
    `PriceUnknown` for a budget that cannot hold among it, and `FileProblem` for recordings that are not there.
    """
    _require_recording(options.recording)
    environment = replace(environment, notice=Once(environment.notice))
    if kept is None and chosen.cache and provider is None:
        kept = open_kept(environment.environ)
    async with AsyncExitStack() as stack:
        last = partial(last_outcomes, chosen.journal, environment)
        variants = variants_of(suites, chosen, options, last, environment, stack)
        heads = tuple(_head(variant) for variant in variants)
        run = _Running(variants, heads, chosen, options, environment, kept, listener, on_progress, provider, stack)
        run.source = agents
        tried = tuple(variant.suite for variant in variants)
        run.stored = StoredTest(chosen.journal, environment, heads, tried, chosen.lower)
        try:
            await run.all()
        except BaseException as error:
            report = report_of(heads, run.attempts, lower=chosen.lower)
            run.stored.drop(report)
            if isinstance(error, asyncio.CancelledError):
                interrupted(report)
            raise
        report = report_of(heads, run.attempts, lower=chosen.lower)
        await run.stored.end(report)
        if ended is not None:
            ended(run.stored.shown(report))
        return report


def _require_recording(chosen: RecordingOptions | None) -> None:
    """Raise `FileProblem` where nothing lies where recordings are to be played from: said once, not for each case."""
    if chosen is not None and chosen.replay is not None and not chosen.replay.path.exists():
        raise FileProblem(chosen.replay.path, "missing", "no such file or folder; --record makes a recording")


# ---- running ----


class _Running(Struct):
    """One run of tests. Drivers are opened for each model that is asked, once, and end with ``stack``."""

    variants: tuple[Variant, ...]
    heads: tuple[SuiteHead, ...]
    chosen: TestOptions
    options: Options
    environment: Environment
    kept: AnswerCache | None
    listener: Listener
    on_progress: Callable[[TestProgress], None]
    provider: Provider | None
    stack: AsyncExitStack
    budget: Budget | None = None
    drivers: dict[tuple[str, str | None], Driver] = field(default_factory=dict)
    takes: dict[tuple[int, int], int] = field(default_factory=dict)
    graders: dict[Path, Grader] = field(default_factory=dict)
    progress: TestProgress = field(default_factory=TestProgress)
    attempts: dict[Unit, Attempt] = field(default_factory=dict)
    source: AgentSource | None = None
    stored: StoredTest | None = None
    in_agents: AgentAttempts | None = None

    async def all(self) -> None:
        """Try every repeat; ``attempts`` are those that are over."""
        self.budget = budget_of(self.options, self.environment)
        self.takes = _takes(self.variants)
        await self._prepare()
        units = units_of(self.heads)
        self.progress.total = len(units)
        checks = Checks(self.environment, self.stack)
        if self.stored is not None:
            self.stored.begin()

        async def work(unit: Unit) -> None:
            attempt = self.attempts[unit] = await self._attempt(unit, checks)
            if self.stored is not None:
                self.stored.put(unit, attempt)
            self.progress.done += 1
            self.progress.failed += attempt.outcome == "failed"
            self.progress.unmeasured += not attempt.measured
            self.on_progress(self.progress)

        at_once = self.chosen.at_once
        if self.in_agents is not None:
            at_once = min(at_once, self.in_agents.source.at_once)
        await run_list(units, work, at_once=at_once)

    async def _prepare(self) -> None:
        """Open drivers and graders. A missing provider or an unenforceable budget is reported once, before any request,
        not as a failure of every case."""
        chosen = self.options.recording
        if self.chosen.agents.agents:
            await self._prepare_agents()
            return
        for variant in self.variants:
            require_permission(variant.program, self.options, self.environment)
        for variant in self.variants:
            driver = await self._driver(variant.folder, variant.chosen)
            if chosen is None or not chosen.plays_all:
                await driver.services.of(None, model_name=variant.program.model_name)
            await driver.require_prices([Job("", variant.program, None)])
            if any(case.grade for case in variant.cases) and variant.suite.path not in self.graders:
                self.graders[variant.suite.path] = await self._grader(variant.suite)

    async def _prepare_agents(self) -> None:
        """Make agents ready, or their recordings, and open graders. What keeps all attempts from running is reported
        before the first one."""
        options = self.options
        if self.source is None:
            from prosa.app.agents.recording import recorded_agents

            self.source = recorded_agents(options.recording)
        if self.source is None:
            from prosa.app.agents.live import live_agents

            agents = {variant.agent.agent for variant in self.variants if variant.agent is not None}
            opening = live_agents(self.chosen.agents, agents, options, self.environment, self.budget)
            self.source = await self.stack.enter_async_context(opening)
        record = options.recording.record if options.recording is not None else None
        assert self.source is not None
        self.in_agents = AgentAttempts(self.source, self.kept if self.chosen.cache else None, record)
        for variant in self.variants:
            if any(case.grade for case in variant.cases) and variant.suite.path not in self.graders:
                self.graders[variant.suite.path] = await self._grader(variant.suite)

    async def _driver(self, label: str, model: str | None) -> Driver:
        """Return the driver of a model; what it records stands in a folder of its own where there are several."""
        key = (label, model)
        if key not in self.drivers:
            options = replace(
                self._options_of(model), private_mail=True, recording=recording_below(self.options.recording, label)
            )
            opening = driving(
                options,
                self.environment,
                listener=self.listener,
                progress=Progress(whole=False),
                provider=self.provider,
                closes=not self.drivers,
                budget=self.budget,
            )
            self.drivers[key] = await self.stack.enter_async_context(opening)
        return self.drivers[key]

    def _options_of(self, model: str | None) -> Options:
        """Return the options of a model: only where the user named it, a prefix of its name selects a service (X7)."""
        sides = [side.model for side in self.chosen.sides]
        options = replace(self.options, model=model)
        if (
            self.provider is not None
            or model is None
            or model not in (*self.chosen.models, self.chosen.grader_model, *sides)
        ):
            return options
        return with_provider(replace(options, provider=None), self.environment.settings, self.environment.environ)

    async def _grader(self, suite: Suite) -> Grader:
        """Return the grader of a suite, under the model that the user chose for it, else the first one that is
        tried."""
        path = suite.terms.grader
        model = self.chosen.grader_model or self.variants[0].chosen
        driver = await self._driver("grades", model)
        program = load_grader(path, suite.root, driver.options, self.environment)
        require_permission(program, driver.options, self.environment)
        program = replace(program, classified=program.classified or suite.classified)
        await driver.require_prices([Job("", program, None)])
        return Grader(program, driver, suite.terms.votes, self._kept_for(suite, model))

    def _kept_for(self, suite: Suite, model: str | None) -> AnswerCache | None:
        """Return where answers are kept; nowhere for classified documents, and for replies that are scripted anyway."""
        replayed = self.options.recording is not None and self.options.recording.replay is not None
        if suite.classified or replayed or (model or "").startswith("scripted") or not self.chosen.cache:
            return None
        return self.kept

    async def _agent_attempt(self, unit: Unit, side: InAgent, checks: Checks) -> Attempt:
        """Try a case in an agent."""
        assert self.in_agents is not None
        variant = self.variants[unit.suite]
        suite, case = variant.suite, variant.cases[unit.case]
        triggers, folder = suite.routing is not None, suite.program_path.parent
        task = task_of(case, side, unit.repeat + 1, folder, triggers=triggers, classified=suite.classified)
        try:
            result = await self.in_agents.result(task)
            trace_file = self.in_agents.recorded(task, result)
        except errors.CassetteProblem as error:
            facts = RunFacts(0, 0.0, 0.0, failure="recording", error=_words(error))
            return Attempt(None, facts, outcome="not measured", reason=Reason("recording", _words(error)))
        trace = result.trace
        with left_behind(task, result, folder) as left:
            ran = ran_in_agent(task, result, left)
            grader = self.graders.get(suite.path)
            judged = await judge(
                case, ran, checks, grader, f"{case.name} #{unit.repeat} {side.agent.label}", unit.repeat
            )
        if suite.routing is not None and ran.facts.failure is None:
            missed = suite.routing.missed(case.name, trace.loaded_first)
            judged = replace(judged, failures=(*judged.failures, missed) if missed else judged.failures)
        outcome, reason = judged_in_agent(trace, side, judged)
        calls = len(trace.calls) or ran.facts.calls  # without a tap those that the agent reports
        return Attempt(
            ran.output,
            ran.facts,
            judged.failures if outcome == "failed" else (),
            judged.graded,
            judged.grading,
            0 if result.remembered else calls,
            calls if result.remembered else 0,
            trace_file,
            outcome,
            reason,
            None if result.remembered else trace.seconds,
            agent_facts(trace, skills=side.skills),
            agent_steps(trace),
            output_files(result),
        )

    async def _attempt(self, unit: Unit, checks: Checks) -> Attempt:
        variant = self.variants[unit.suite]
        if variant.agent is not None:
            return await self._agent_attempt(unit, variant.agent, checks)
        case, driver = variant.cases[unit.case], self.drivers[variant.folder, variant.chosen]
        take = self.takes[unit.suite, unit.case] * MAX_REPEAT + unit.repeat
        name = f"{variant.suite.path} {case.name} #{unit.repeat + 1}" + (f" {variant.label}" if variant.label else "")
        about = f"{case.name}\n{unit.repeat}\n{self.options.base_url or ''}\n{self.options.api or ''}"
        answers = Answers(self._kept_for(variant.suite, variant.chosen), about)
        wrap = variant.suite.around
        program = variant.program
        if driver.options.model_name:
            program = with_model(program, driver.options.model_name)
        tools = _Tools()
        sample = unit.repeat if variant.repeats > 1 else None
        journal = wrap(answers) if wrap else answers
        job = Job(name, program, case.input, take=take + 1, sample=sample, journal=journal)
        outcome = await driver.outcome(job, tools)
        facts = _facts(outcome, tools, answers)
        ran = Ran(_judged_output(variant.suite, outcome), facts, tuple(tools.calls))
        grader = self.graders.get(variant.suite.path)
        judged = await judge(case, ran, checks, grader, f"{case.name} #{unit.repeat}", take)
        if variant.suite.routing is not None and outcome.error is None and facts.outage is None:
            missed = variant.suite.routing.missed(case.name, outcome.summary.skills)
            judged = replace(judged, failures=(*judged.failures, missed) if missed else judged.failures)
        return Attempt(
            ran.output,
            ran.facts,
            judged.failures,
            judged.graded,
            judged.grading,
            answers.calls,
            answers.remembered,
            _trace(driver.options.recording, job),
            judged.outcome,
            judged.reason if judged.outcome == "not measured" else None,
            facts.seconds if _asked_now(answers, driver.options) else None,
            steps=tuple(answers.steps),
        )


def _judged_output(suite: Suite, outcome: Outcome[Job]) -> Value:
    """Return what is held against the expectations: the output, or which skills were loaded where that is what is
    tried."""
    if suite.routing is None or outcome.error is not None:
        return outcome.output
    return {"loaded": list(outcome.summary.skills)}


def _asked_now(answers: Answers, options: Options) -> bool:
    """Return whether a service was asked for all answers of a repeat, so that its seconds say something of it."""
    played = options.recording is not None and options.recording.replay is not None
    return answers.calls > 0 and not answers.remembered and not played and options.script is None


def _takes(variants: Sequence[Variant]) -> dict[tuple[int, int], int]:
    """Return the number of earlier cases with the same program and input: it distinguishes their recordings."""
    seen: Counter[str] = Counter()
    takes: dict[tuple[int, int], int] = {}
    for at, variant in enumerate(variants):
        for index, case in enumerate(variant.cases):
            key = json.dumps([variant.folder, variant.program.name, case.input], sort_keys=True)
            takes[at, index] = seen[key]
            seen[key] += 1
    return takes


_NO_NAME = regex(r"[^\w.-]+")


def recording_below(chosen: RecordingOptions | None, label: str) -> RecordingOptions | None:
    """Return the recordings with the folder of a model, of graders or of a candidate in place of that of the test."""
    if chosen is None or not label:
        return chosen
    name = _NO_NAME.sub("-", label).strip("-.") or "other"
    record, replay = chosen.record, chosen.replay
    if record is not None:
        record = replace(record, folder=record.path / name)
    if replay is not None and replay.path.is_dir():
        replay = replace(replay, source=replay.path / name)
    return RecordingOptions(record, replay)


def _trace(chosen: RecordingOptions | None, job: Job) -> str:
    """Return the file in which a run is recorded; empty where it is not."""
    if chosen is None or chosen.record is None:
        return ""
    name = recording_name(
        job.program.name, given_digest(job.program, job.input_value), chosen.record.take + job.take - 1
    )
    return str(chosen.record.path / f"{name}.ymj")


class _Tools(Struct):
    """Hears the tool calls of the program that is tested, not those of programs that it calls; and counts model calls
    of all of them that wait for their answer."""

    names: list[str] = field(default_factory=list)
    calls: list[Value] = field(default_factory=list)
    places: dict[str, dict[str, Value]] = field(default_factory=dict)
    unanswered: int = 0

    def __call__(self, event: events.Event, /) -> None:
        """Remember a tool call and how it ended."""
        if isinstance(event, events.ModelAsked):
            self.unanswered += 1
        elif isinstance(event, events.ModelAnswered):
            self.unanswered -= 1
        elif event.scope.depth:
            return
        elif isinstance(event, events.ToolCalled):
            self.names.append(event.tool)
            if len(self.calls) < MAX_CALLS:
                call: dict[str, Value] = {"tool": event.tool, "arguments": event.arguments, "is_error": False}
                self.calls.append(call)
                self.places[event.call] = call
        elif isinstance(event, events.ToolAnswered) and event.call in self.places:
            self.places[event.call]["is_error"] = event.is_error


def _facts(outcome: Outcome[Job], tools: _Tools, answers: Answers) -> RunFacts:
    summary, error = outcome.summary, outcome.error
    cost, tokens = summary.total_cost, summary.total_usage.total_tokens
    unanswered = None if not tools.unanswered else failure_kind(answers.unanswered or _NO_ANSWER)
    failure = error or answers.unanswered or _NO_ANSWER
    return RunFacts(
        calls=len(summary.answered) + len(summary.below),
        cost=None if cost is None else float(cost),
        seconds=summary.seconds,
        tools=tuple(tools.names),
        failure=None if error is None else failure_kind(error),
        error="" if error is None and unanswered is None else _words(failure),
        tokens=tokens or None,
        unanswered=unanswered,
    )


_NO_ANSWER = ProviderError("the run continued without it", kind="timeout", retryable=False)


def _words(error: RunError) -> str:
    """Return the words of an error; about a recording also what to do, as every case would need it."""
    if not isinstance(error, errors.CassetteProblem) or not error.hint:
        return error.message
    return f"{error.message}; {error.hint.splitlines()[0]}"


def failure_kind(error: RunError) -> FailureKind:
    """Return why a run has no output, in one word."""
    return next((kind for base, kind in _KINDS if isinstance(error, base)), "program")


# ---- what came of it ----


def _tried(variant: Variant) -> str:
    """Return the name of the program that is tried, or of the skill where the program is only what it is tried with."""
    if variant.suite.routing is not None:
        return variant.suite.routing.own
    return variant.suite.program.name if variant.without else variant.program.name


def _head(variant: Variant) -> SuiteHead:
    """Return what a variant tries, as a report has it."""
    return SuiteHead(
        str(variant.suite.path),
        _tried(variant),
        variant.agent.agent.label if variant.agent is not None else variant.chosen or "",
        variant.suite.terms.requirement,
        variant.cases,
        variant.repeats,
        variant.label,
        variant.baseline,
        variant.suite.routing,
        variant.without,
        () if variant.baseline or variant.agent is not None else variant.program.unavailable,
        variant.lifts,
    )
