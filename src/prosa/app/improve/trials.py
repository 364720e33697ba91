"""Candidates tried on search cases, and further ones asked of a model: what a search sees of the world (X41).

In: a suite with its search cases alone, and texts. Out: rates, and texts that a model wrote with the failures, the
evidence and the feedback of these cases before it. Every call goes through the drivers and journals of tests. A search
runs on a thread of its own; what it asks is answered on the event loop.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Coroutine, Mapping, Sequence
from concurrent.futures import CancelledError
from contextlib import AsyncExitStack, suppress
from decimal import Decimal
from hashlib import sha256
from math import fsum
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Event
from typing import TYPE_CHECKING, TypeVar

from msgspec import Struct, field
from msgspec.structs import replace

from prosa.app.evals.altered import altered_suite, with_cases
from prosa.app.evals.answers import Answers
from prosa.app.evals.judge import load_shipped
from prosa.app.evals.run import TestProgress, recording_below, run_tests
from prosa.app.improve.parts import Gate, SubjectPart
from prosa.app.run.jobs import Progress, driving
from prosa.app.run.routes import with_provider
from prosa.app.runs import Job
from prosa.data import Value, members_of
from prosa.evaluation.improvement import SearchEnded, Searcher
from prosa.evaluation.report import Attempt, CaseReport, Report, SuiteReport, total_cost
from prosa.records.improvement import Candidate
from prosa.runtime.budget import Ledger
from prosa.runtime.errors import ProgramRefused, RunError

if TYPE_CHECKING:
    from prosa.app.agents.task import AgentSource
    from prosa.app.evals.answers import AnswerCache
    from prosa.app.evals.suite import Side, Suite
    from prosa.app.evals.variants import TestOptions
    from prosa.app.options import Environment, Options
    from prosa.records.test import Feedback
    from prosa.runtime.ports import Provider

T = TypeVar("T")

MAX_SHOWN = 2_000
"""Characters of a request or an answer that the proposing model sees."""

MAX_REFUSED = 5
"""The last refusals that it is shown."""

_ABOUT = {
    "description": "the description of a skill. A model reads it, with those of other skills, to decide which to load.",
    "body": "the instructions that a model follows.",
}


class Asking(Struct, frozen=True):
    """How attempts and proposals are asked: what the user chose, and what stands in for services."""

    chosen: TestOptions
    options: Options
    environment: Environment
    proposal_model: str | None = None
    provider: Provider | None = None
    kept: AnswerCache | None = None
    agents: AgentSource | None = None
    on_progress: Callable[[TestProgress], None] = lambda _: None

    async def tried(self, suite: Suite, folder: str, *sides: Side) -> Report:
        """Return what came of a suite, compared with ``sides`` and recorded below ``folder``."""
        return await run_tests(
            [suite],
            replace(self.chosen, sides=sides),
            replace(self.options, recording=recording_below(self.options.recording, folder)),
            self.environment,
            on_progress=self.on_progress,
            provider=self.provider,
            kept=self.kept,
            agents=self.agents,
        )


class Trial(Struct):
    """A text that was tried. ``report`` is how its last cases were tried, ``cases`` what came of all by name."""

    id: int
    parent: int | None
    text: str
    refused: str = ""
    report: SuiteReport | None = None
    cases: dict[str, CaseReport] = field(default_factory=dict)

    @property
    def attempts(self) -> list[Attempt]:
        """All its attempts."""
        return [attempt for case in self.cases.values() for attempt in case.attempts]

    def rate(self, names: Sequence[str]) -> float | None:
        """Return the mean rate of some cases; None where not all were tried."""
        if self.refused or not all(name in self.cases for name in names):
            return None
        return fsum(self.cases[name].counted.rate for name in names) / len(names)


class Trials(Struct):
    """The world of one search. ``suite`` has the search cases alone; ``rounds`` bounds the proposals, and ``reserve``
    is the number of attempts that the held-out cases will take. ``ended`` says why the search is over."""

    suite: Suite
    part: SubjectPart
    gate: Gate
    asking: Asking
    rounds: int
    reserve: int
    feedback: Mapping[str, Feedback]
    changed: Callable[[], None]
    stack: AsyncExitStack
    seed: int = 0
    trials: dict[str, Trial] = field(default_factory=dict)
    proposals: int = 0
    looked: int = 0
    ended: str = ""
    spent: float | None = 0.0

    def __post_init__(self) -> None:
        self.trials[self.part.text] = Trial(0, None, self.part.text)

    @property
    def names(self) -> tuple[str, ...]:
        """The search cases."""
        return tuple(case.name for case in self.suite.cases)

    @property
    def subject(self) -> Trial:
        """The subject as it is."""
        return self.trials[self.part.text]

    @property
    def candidates(self) -> tuple[Candidate, ...]:
        """Every text that was tried, or refused."""
        return tuple(
            Candidate(trial.id, trial.parent, trial.text, trial.rate(self.names), None, trial.refused)
            for trial in self.trials.values()
        )

    def best(self) -> Trial | None:
        """Return the best text, of equal ones the shortest; None where none is better than the subject."""
        known = [
            (rate, -len(trial.text), -trial.id, trial)
            for trial in self.trials.values()
            if (rate := trial.rate(self.names)) is not None
        ]
        least = self.subject.rate(self.names) or 0.0
        better = [entry for entry in known if entry[0] > least]
        return max(better, key=lambda entry: entry[:3])[-1] if better else None

    async def scores(self, text: str, names: Sequence[str]) -> list[float]:
        """Return the rate of each case with a text; each is tried once."""
        trial = self.trials[text]
        missing = [fromkey for fromkey in dict.fromkeys(names) if fromkey not in trial.cases]
        if missing and not trial.refused:
            self._require_money(len(missing))
            await self._try(trial, missing)
        return [0.0 if trial.refused else trial.cases[name].counted.rate for name in names]

    async def _try(self, trial: Trial, names: Sequence[str]) -> None:
        folder = f"{sha256(trial.text.encode()).hexdigest()[:12]}-{len(trial.cases)}"
        try:
            suite = with_cases(altered_suite(self.suite, self.part.document(trial.text), self.folder()), names)
        except ProgramRefused as error:
            trial.refused = error.message
            return
        (report,) = (await self.asking.tried(suite, folder)).suites
        trial.report = report
        trial.cases |= {case.case.name: case for case in report.cases}
        attempts = [attempt for case in report.cases for attempt in case.attempts]
        self._pay(total_cost([cost for attempt in attempts for cost in (attempt.facts.cost, attempt.grading)]))
        self.changed()
        if any(attempt.reason is not None and attempt.reason.kind == "budget" for attempt in attempts):
            self._end("the budget is spent")

    def folder(self) -> Path | None:
        """Return an empty folder that ends with the search, for a copy that agents get; None without agents."""
        if not self.asking.chosen.agents.agents:
            return None
        return Path(self.stack.enter_context(TemporaryDirectory(prefix="prosa-improve-")))

    async def propose(self, text: str, names: Sequence[str]) -> str:
        """Return a text that a model wrote instead of another one, which may be refused. Raises what a run does."""
        if self.proposals >= self.rounds:
            self._end(f"{self.rounds} proposals were made")
        self.proposals += 1
        self._require_money(1)
        parent = self.trials[text]
        written = await self._written(parent, [parent.cases[fromkey] for fromkey in dict.fromkeys(names)])
        if written not in self.trials:
            self.trials[written] = Trial(len(self.trials), parent.id, written, self.gate.refusal(written))
            self.changed()
        return written

    async def _written(self, parent: Trial, results: Sequence[CaseReport]) -> str:
        asking, number = self.asking, self.proposals
        options = replace(asking.options, recording=recording_below(asking.options.recording, "proposals"))
        if asking.proposal_model is not None:
            named = replace(options, model=asking.proposal_model, provider=None)
            options = with_provider(named, asking.environment.settings, asking.environment.environ)
        program = load_shipped("prosa.app.improve", "propose.md", options, asking.environment)
        program = replace(program, classified=self.suite.classified)
        refused = [
            {"text": trial.text[:MAX_SHOWN], "why": trial.refused} for trial in self.trials.values() if trial.refused
        ]
        inputs: dict[str, Value] = {
            "part": _ABOUT[self.part.name],
            "text": parent.text,
            "most": self.part.most,
            "results": json.dumps([self._shown(result) for result in results], ensure_ascii=False, indent=1),
            "refused": json.dumps(refused[-MAX_REFUSED:], ensure_ascii=False),
        }
        kept = asking.kept if asking.chosen.cache and not self.suite.classified else None
        answers = Answers(kept, f"improve {self.seed} {number}\n{options.base_url or ''}\n{options.api or ''}")
        options, progress = replace(options, private_mail=True), Progress(whole=False)
        opening = driving(options, asking.environment, progress=progress, provider=asking.provider, closes=False)
        async with opening as driver:
            job = Job(f"proposal {number}", program, inputs, take=number, journal=answers)
            await driver.require_prices([job])
            outcome = await driver.outcome(job)
        self._pay(None if outcome.summary.total_cost is None else float(outcome.summary.total_cost))
        if outcome.error is not None:
            raise outcome.error
        return str(members_of(outcome.output)["text"]).strip()

    def _shown(self, case: CaseReport) -> dict[str, Value]:
        """Return what the proposing model sees of a case."""
        attempt = next((candidate for candidate in case.attempts if not candidate.passed), case.attempts[0])
        parts: dict[str, Value] = {
            "request": _cut(case.case.request or case.case.input),
            "passed": f"{case.counted.passed} of {case.counted.repeats}",
            "answer": _cut(attempt.output),
            "failures": [str(failure) for failure in attempt.failures],
            "evidence": [f"{graded.question}: {graded.reason}" for graded in attempt.graded],
        }
        feedback = self.feedback.get(case.case.name)
        return parts if feedback is None else parts | {"feedback": f"{feedback.opinion} {feedback.text}".strip()}

    def is_over(self) -> bool:
        """Return whether nothing further is to be tried. Rounds without a proposal end too: all is well with these."""
        self.looked += 1
        if any(trial.rate(self.names) == 1 for trial in self.trials.values()):
            self.ended = self.ended or "every search case passes"
        if self.proposals >= self.rounds or self.looked > 4 * self.rounds:
            self.ended = self.ended or f"{self.proposals} proposals were made"
        return bool(self.ended)

    def _end(self, why: str) -> None:
        self.ended = self.ended or why
        raise SearchEnded

    def _pay(self, cost: float | None) -> None:
        self.spent = None if cost is None or self.spent is None else self.spent + cost

    def _require_money(self, attempts: int) -> None:
        """End the search where the held-out cases could not be paid any more, by what attempts cost so far."""
        ledger = self.asking.options.max_cost
        known = [attempt.facts.cost for trial in self.trials.values() for attempt in trial.attempts]
        dearest = max((cost for cost in known if cost is not None), default=0.0)
        if isinstance(ledger, Ledger) and ledger.left < Decimal(str(dearest)) * (attempts + self.reserve):
            self._end("what is left of --max-cost is for the held-out cases")


def _cut(value: Value) -> str:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return text if len(text) <= MAX_SHOWN else f"{text[:MAX_SHOWN]}…"


# ---- on a thread ----


class _OnThread(Struct):
    """The world as a searcher asks it, from its thread. After the first problem every question ends the search."""

    trials: Trials
    loop: asyncio.AbstractEventLoop
    problem: BaseException | None = None
    stopped: Event = field(default_factory=Event)
    cancel: Callable[[], bool] | None = None

    def scores(self, text: str, cases: Sequence[str]) -> list[float]:
        """Return the rate of each case."""
        return self._asked(self.trials.scores(text, cases))

    def propose(self, text: str, cases: Sequence[str]) -> str:
        """Return another text."""
        return self._asked(self.trials.propose(text, cases))

    def is_over(self) -> bool:
        """Return whether the search is to end."""
        return self.stopped.is_set() or self.trials.is_over()

    def _asked(self, work: Coroutine[object, object, T]) -> T:
        if self.stopped.is_set():
            work.close()
            raise SearchEnded
        answer = asyncio.run_coroutine_threadsafe(_answered(work), self.loop)
        self.cancel = answer.cancel
        if self.stopped.is_set():  # meanwhile: `stop` has cancelled the question before
            answer.cancel()
        try:
            return answer.result()
        except CancelledError:
            self.stopped.set()
            raise SearchEnded from None
        except _Problem as problem:
            self.stopped.set()
            self.problem = problem.cause
            raise SearchEnded from None

    def stop(self) -> None:
        """End the search, and what it just asked."""
        self.stopped.set()
        if self.cancel is not None:
            self.cancel()


class _Problem(Exception):
    """What a question raised. SearchEnded and the like would end the event loop that answers."""

    def __init__(self, cause: BaseException) -> None:
        self.cause = cause


async def _answered(work: Coroutine[object, object, T]) -> T:
    try:
        return await work
    except (SearchEnded, Exception) as error:
        raise _Problem(error) from None


async def search(searcher: Searcher, trials: Trials) -> None:
    """Search on a thread until the world is over. Raises what an attempt or a proposal raised; a proposal that no
    service answered ends the search, with what was tried before."""
    world = _OnThread(trials, asyncio.get_running_loop())
    work = asyncio.ensure_future(asyncio.to_thread(_searched, searcher, world))
    try:
        await asyncio.shield(work)
    finally:
        world.stop()
        if not work.done():
            await asyncio.wait([work])
    if world.problem is not None and not isinstance(world.problem, SearchEnded):
        if not isinstance(world.problem, RunError) or trials.subject.rate(trials.names) is None:
            raise world.problem
        trials.ended = f"it ended early: {world.problem.message}"


def _searched(searcher: Searcher, world: _OnThread) -> None:
    trials = world.trials
    with suppress(SearchEnded):
        searcher.search(trials.part.text, trials.names, trials.seed, world)
