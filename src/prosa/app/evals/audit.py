"""An audit: can the cases of a subject fail at all, and which of them notice that a part of it is missing?

In: suites that are ready, and the user's choice. Out: an `Audit`. Without a model cases are tried on answers that
should not pass, and on what the store has of earlier tests. With one, graders are asked about such answers, and every
case is tried without the subject, without each of its sections and without all of its text; answers that were given
before are used again, and `--max-cost` bounds the others together.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import AsyncExitStack
from functools import partial
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from prosa.app.agents.task import AgentSource
from prosa.app.evals.altered import altered_side, altered_suite, counts_of, side_reports
from prosa.app.evals.answers import AnswerCache, open_kept
from prosa.app.evals.judge import Checks, Grader, load_grader
from prosa.app.evals.plan import MANY_ATTEMPTS, plan_tests
from prosa.app.evals.probes import Probed, Prober
from prosa.app.evals.run import TestProgress, run_tests
from prosa.app.evals.sections import emptied, section_tokens, sections_of, side_names, without
from prosa.app.evals.stored import last_outcomes, stored_suites
from prosa.app.evals.suite import Side, Suite
from prosa.app.evals.variants import TestOptions, chosen_cases
from prosa.app.options import Environment, Once, Options
from prosa.app.permission import require_permission
from prosa.app.run.jobs import driving
from prosa.data import Value
from prosa.dialects.context.view import tokens_of
from prosa.evaluation.audit import (
    Audit,
    AuditFinding,
    CaseAudit,
    MutantAudit,
    mutant_of,
    passes,
    passing_without,
    unnoticed_subject,
)
from prosa.evaluation.case import Case
from prosa.evaluation.report import Attempt, Report, SuiteReport
from prosa.evaluation.statistics import Counted
from prosa.records.test import ShownTest
from prosa.records.test_plan import TestPlan
from prosa.runtime.budget import Ledger
from prosa.runtime.errors import RunError
from prosa.source import FileProblem

if TYPE_CHECKING:
    from prosa.runtime.ports import Provider

EMPTY = "all of its text"
"""The name of the mutant without any text."""

MANY_VERDICTS = 4
"""Stored verdicts on different answers, all in favour, from which a grader passes everything."""


class Mutants(Struct, frozen=True):
    """What a suite is tried on besides its subject: sides, each with its name and the tokens that are missing, and the
    mutants that cannot run, with the reason."""

    sides: tuple[tuple[Side, str, int, bool], ...] = ()
    refused: tuple[MutantAudit, ...] = ()


def mutants_of(suite: Suite) -> Mutants:
    """Return the subject of a suite without each of its sections, and without any text. Requests for skills depend on
    a description alone and have none; what cannot run without a part says so. Raises `FileProblem`."""
    if suite.routing is not None or suite.program_path.suffix == ".json":
        return Mutants()
    source = suite.files.read(suite.program_path)
    texts = [
        (section.title, without(source, section), section_tokens(source, section), False)
        for section in sections_of(source)
    ]
    body = source.text[len(emptied(source)) :]
    texts.append((EMPTY, emptied(source), tokens_of(body), True))
    sides: list[tuple[Side, str, int, bool]] = []
    refused: list[MutantAudit] = []
    for name, text, tokens, is_empty in texts:
        try:
            altered_suite(suite, text)
        except (RunError, FileProblem) as problem:
            first = str(problem).splitlines()[0] if str(problem) else "it cannot run"
            refused.append(MutantAudit(name, tokens=tokens, is_empty=is_empty, why=first))
        else:
            label, named = side_names(name)
            sides.append((altered_side(label, text, named=named), name, tokens, is_empty))
    return Mutants(tuple(sides), tuple(refused))


def audited(suites: Sequence[Suite], chosen: TestOptions, environment: Environment) -> tuple[Suite, ...]:
    """Return the suites with the cases alone that the user chose. Raises `RunError` for none."""
    last = partial(last_outcomes, chosen.journal, environment)
    narrowed = [replace(suite, cases=chosen_cases(suite, chosen, last, environment)) for suite in suites]
    if not any(suite.cases for suite in narrowed):
        raise RunError("there is no case to audit", hint="--case names none" if chosen.cases else "")
    return tuple(suite for suite in narrowed if suite.cases)


def _unheard(_progress: TestProgress) -> None:
    """Show no progress."""


async def audit_tests(
    suites: Sequence[Suite],
    chosen: TestOptions,
    options: Options,
    environment: Environment,
    *,
    on_progress: Callable[[TestProgress], None] = _unheard,
    provider: Provider | None = None,
    agents: AgentSource | None = None,
    ended: Callable[[ShownTest], None] | None = None,
    asks: bool = True,
) -> Audit:
    """Audit the cases of suites. A model that cannot be asked is no error: the audit says what was not tried. ``ended``
    is given each test that ran; without ``asks`` no model is asked.

    Raises `FileProblem`, and `RunError` where there is no case.
    """
    environment = replace(environment, notice=Once(environment.notice))
    suites = audited(suites, replace(chosen, sides=()), environment)
    if options.max_cost is not None and not isinstance(options.max_cost, Ledger):
        options = replace(options, max_cost=Ledger(options.max_cost))  # graders and tests share it
    parts = [
        await _Auditor(suite, chosen, options, environment, on_progress, provider, agents, ended, asks).audit()
        for suite in suites
    ]
    costs = [part.cost for part in parts]
    return Audit(
        tuple(case for part in parts for case in part.cases),
        tuple(mutant for part in parts for mutant in part.mutants),
        tuple(dict.fromkeys(finding for part in parts for finding in part.findings)),
        tuple(dict.fromkeys(note for part in parts for note in part.notes)),
        tuple(dict.fromkeys(words for part in parts for words in part.untried)),
        None if None in costs else sum(cost for cost in costs if cost is not None),
    )


def plan_audit(suites: Sequence[Suite], chosen: TestOptions, options: Options, environment: Environment) -> TestPlan:
    """Return what an audit takes of a model, where nothing was answered before. Raises what `plan_tests` does."""
    plans = []
    for suite in audited(suites, chosen, environment):
        sides = tuple(side for side, *_ in mutants_of(suite).sides)
        if sides or suite.without is not None:
            plans.append(plan_tests([suite], replace(chosen, sides=sides), options, environment))
    together = TestPlan(
        tuple(side for plan in plans for side in plan.sides),
        plans[0].cap if plans else None,
        asks=any(plan.asks for plan in plans),
        notes=tuple(dict.fromkeys(note for plan in plans for note in plan.notes)),
    )
    return replace(together, asks=together.asks or together.attempts > MANY_ATTEMPTS)


class _Auditor(Struct):
    """The audit of one suite."""

    suite: Suite
    chosen: TestOptions
    options: Options
    environment: Environment
    on_progress: Callable[[TestProgress], None]
    provider: Provider | None
    agents: AgentSource | None
    ended: Callable[[ShownTest], None] | None
    asks: bool
    cost: float | None = 0.0

    async def audit(self) -> Audit:
        stored, untried = self._stored(), list[str]()
        known, mutants = _without(stored, self.suite), list[MutantAudit]()
        if not self.asks:
            untried.append("nothing that needs a model was tried")
        elif (report := await self._tried(mutants, untried)) is not None:
            stored = [*report.suites, *stored]
            known |= {name: value for name, value in _without(report.suites, self.suite).items() if value is not None}
        async with AsyncExitStack() as stack:
            answers = {case.name: _passed_outputs(stored, case) for case in self.suite.cases}
            prober = Prober(self.suite, Checks(self.environment, stack), answers, _failing(stored, self.suite))
            probed = await prober.probe()
            findings = [*probed.findings, *_by_stored_grades(self.suite, stored)]
            findings += await self._graders(probed, stack, untried) if self.asks else []
        path = str(self.suite.path)
        findings += [*passing_without(path, known), *unnoticed_subject(path, mutants)]
        cases = tuple(self._case(case, probed, known, findings) for case in self.suite.cases)
        return Audit(cases, tuple(mutants), tuple(findings), probed.notes, tuple(untried), self.cost)

    def _stored(self) -> list[SuiteReport]:
        try:
            return stored_suites(self.chosen.journal, self.environment, self.suite)
        except RunError as problem:
            self.environment.notice(f"note: earlier tests are not used: {problem.message}")
            return []

    def _case(
        self, case: Case, probed: Probed, known: Mapping[str, bool | None], findings: Sequence[AuditFinding]
    ) -> CaseAudit:
        own = next(
            (finding.message for finding in findings if finding.case == case.name and finding.kind in _UNFAILING), ""
        )
        reason = probed.cannot_fail.get(case.name, own)
        passes_without = known.get(case.name)
        if not reason and passes_without:
            reason = "it passes without the subject"
        return CaseAudit(
            case.name, str(self.suite.path), bool(probed.cannot_fail.get(case.name, own)), passes_without, reason
        )

    # ---- with a model ----

    async def _graders(self, probed: Probed, stack: AsyncExitStack, untried: list[str]) -> list[AuditFinding]:
        """Ask the grader about answers that should not pass, where everything else lets them."""
        cases = [case for case in self.suite.cases if case.name in probed.open]
        if not cases:
            return []
        try:
            grader = await self._grader(stack)
        except (RunError, FileProblem) as problem:
            untried.append(f"{self.suite.path}: no grader was called: {problem}")
            return []
        findings = []
        for case in cases:
            finding = await self._graded(case, probed.open[case.name], grader, untried)
            findings += [finding] if finding else []
        return findings

    async def _grader(self, stack: AsyncExitStack) -> Grader:
        models = self.chosen.models or self.suite.terms.models or (self.options.model,)
        options = replace(self.options, model=self.chosen.grader_model or models[0], recording=None)
        opening = driving(options, self.environment, provider=self.provider, closes=False)
        driver = await stack.enter_async_context(opening)
        program = load_grader(self.suite.terms.grader, self.suite.root, options, self.environment)
        require_permission(program, options, self.environment)
        program = replace(program, classified=program.classified or self.suite.classified)
        if self.provider is None:
            await driver.services.of(None, model_name=program.model_name)
        return Grader(program, driver, self.suite.terms.votes, self._kept())

    def _kept(self) -> AnswerCache | None:
        if not self.chosen.cache or self.provider is not None or self.suite.classified:
            return None
        return open_kept(self.environment.environ)

    async def _graded(
        self, case: Case, answers: Sequence[tuple[str, Value]], grader: Grader, untried: list[str]
    ) -> AuditFinding | None:
        """Return the finding about a case whose grader lets one of these answers pass."""
        for what, answer in answers:
            verdicts = []
            for question in dict.fromkeys(case.grade):
                graded, cost = await grader.ask(question, case, answer, f"audit {what} {case.name} {question}", 0)
                self.cost = None if self.cost is None or cost is None else self.cost + cost
                verdicts.append(graded)
                if graded.passed is not True:
                    break
            if any(verdict.passed is None for verdict in verdicts):
                untried.append(f"{self.suite.path}: {case.name}: {verdicts[-1].reason}")
            elif all(verdict.passed for verdict in verdicts):
                message = f"the grader passes {what}, given as the answer"
                return AuditFinding("grader-passes-everything", message, str(self.suite.path), case.name, case.place)
        return None

    async def _tried(self, audits: list[MutantAudit], untried: list[str]) -> Report | None:
        """Try the cases with and without the subject, and on each mutant, and add these to ``audits``.
        Return the report, None where nothing could be tried."""
        mutants = mutants_of(self.suite)
        audits += mutants.refused
        if not mutants.sides and self.suite.without is None:
            return None
        chosen = replace(self.chosen, sides=tuple(side for side, *_ in mutants.sides), cases=(), failed=False)
        try:
            report = await self._run(chosen)
        except RunError as problem:
            untried.append(f"{self.suite.path}: not tried with a model: {problem.message}")
            return None
        untried += (f"{self.suite.path}: {words}" for words in _unmeasured(report))
        subject, sides = side_reports(report, str(self.suite.path))
        audits[:0] = [
            mutant_of(name, counts_of(subject), counts_of(side), tokens=tokens, is_empty=is_empty)
            for side, (_, name, tokens, is_empty) in zip(sides, mutants.sides, strict=True)
        ]
        return report

    async def _run(self, chosen: TestOptions) -> Report:
        report = await run_tests(
            [self.suite],
            chosen,
            self.options,
            self.environment,
            provider=self.provider,
            agents=self.agents,
            ended=self.ended,
            on_progress=self.on_progress,
        )
        costs = (self.cost, report.cost, report.grading)
        self.cost = None if None in costs else sum(cost for cost in costs if cost is not None)
        return report


_UNFAILING = frozenset({"grader-passes-everything"})


def _unmeasured(report: Report) -> list[str]:
    """Return how many attempts were not measured, by the kind of reason, with the first of each."""
    reasons = [attempt.reason for attempt in report.attempts if attempt.reason is not None]
    counts = Counter(reason.kind for reason in reasons)
    first = {reason.kind: reason for reason in reversed(reasons)}
    return [f"{count:,} of {len(report.attempts):,} attempts: {first[kind]}" for kind, count in counts.items()]


# ---- what the store has ----


def _same_case(stored: Case, case: Case) -> bool:
    """Return whether a stored case is the one that stands in the file now; what is expected of a workspace is not
    stored."""
    return replace(stored, place="", workspace=()) == replace(case, place="", workspace=())


def _attempts(stored: Sequence[SuiteReport], case: Case, *, without: bool | None = None) -> list[Attempt]:
    """Return the measured attempts of a case; those without the skill, with it, or both."""
    return [
        attempt
        for suite in stored
        if without is None or suite.without is without
        for report in suite.cases
        if _same_case(report.case, case)
        for attempt in report.attempts
        if attempt.measured
    ]


def _passed_outputs(stored: Sequence[SuiteReport], case: Case) -> list[Value]:
    """Return different answers to a case that passed with the subject."""
    outputs: dict[str, Value] = {}
    for attempt in _attempts(stored, case, without=False):
        if attempt.passed and attempt.cut is None and attempt.facts.failure is None:
            outputs.setdefault(repr(attempt.output), attempt.output)
    return list(outputs.values())[:MANY_VERDICTS]


def _failing(stored: Sequence[SuiteReport], suite: Suite) -> frozenset[str]:
    """Return the cases that failed at some time with an answer, so that they can."""
    return frozenset(
        case.name
        for case in suite.cases
        if any(attempt.outcome == "failed" and attempt.facts.failure is None for attempt in _attempts(stored, case))
    )


def _without(stored: Sequence[SuiteReport], suite: Suite) -> dict[str, bool | None]:
    """Return which cases pass without the subject, as far as the store has that."""
    outcomes: dict[str, bool | None] = {}
    for case in suite.cases:
        attempts = _attempts(stored, case, without=True)
        outcomes[case.name] = (
            passes(Counted(sum(attempt.passed for attempt in attempts), len(attempts))) if attempts else None
        )
    return outcomes


def _by_stored_grades(suite: Suite, stored: Sequence[SuiteReport]) -> list[AuditFinding]:
    """Return the findings about questions that every stored answer passed, those without the subject among them."""
    findings = []
    for case in suite.cases:
        attempts = _attempts(stored, case)
        plain = _attempts(stored, case, without=True)
        if not case.grade or not any(attempt.graded for attempt in plain):
            continue
        graded = [attempt for attempt in attempts if attempt.graded]
        outputs = {repr(attempt.output) for attempt in graded}
        if len(outputs) >= MANY_VERDICTS and all(one.passed for attempt in graded for one in attempt.graded):
            message = (
                f"its questions passed for all {len(outputs)} stored answers, those without the subject among them"
            )
            findings.append(AuditFinding("grader-passes-everything", message, str(suite.path), case.name, case.place))
    return findings
