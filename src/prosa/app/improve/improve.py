"""`prosa improve`: a better description or body, searched on half of the cases and tried once on the other half (X41).

In: a subject with cases, and what the user chose. Out: improvements with every candidate, and the document with what
was accepted. Nothing of the subject is written here; a look at held-out cases is counted before it begins.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import AsyncExitStack
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from prosa.adapters.files import replace_file
from prosa.adapters.improve.gepa_search import gepa_search
from prosa.app.check.check import Checker, CheckOptions
from prosa.app.evals.altered import altered_side, altered_suite, with_cases
from prosa.app.evals.answers import open_kept
from prosa.app.evals.feedback import feedback_place, read_feedback
from prosa.app.evals.run import TestProgress, recording_below
from prosa.app.improve.journal import ImprovementJournal, now, open_journal
from prosa.app.improve.parts import Gate, part_of
from prosa.app.improve.results import AS_IT_IS, judged, store
from prosa.app.improve.subject import ImproveOptions, Task, find_subject, tasks_of
from prosa.app.improve.trials import Asking, Trials, search
from prosa.app.options import JournalOptions, Once
from prosa.evaluation.report import SuiteReport, total_cost
from prosa.evaluation.statistics import is_enough
from prosa.records.improvement import Improvement, PartName
from prosa.runtime.budget import Ledger
from prosa.runtime.errors import RunError
from prosa.source import SourceText

if TYPE_CHECKING:
    from prosa.app.agents.task import AgentSource
    from prosa.app.evals.answers import AnswerCache
    from prosa.app.options import Environment, Options
    from prosa.evaluation.comparison import Comparison
    from prosa.evaluation.improvement import Searcher
    from prosa.records.test import ShownTest
    from prosa.runtime.ports import Provider


class Improved(Struct, frozen=True):
    """What came of one part: its record, the comparison on the held-out cases where there was one, and the test as a
    page shows it; only the record of one that ended before the call was interrupted. ``before`` is the document that
    it began with, ``after`` the one with the best candidate."""

    record: Improvement
    before: SourceText
    after: str
    shown: ShownTest | None = None
    comparison: Comparison | None = None


class Improvements(Struct, frozen=True):
    """What came of a subject. ``source`` is its file as it was read, ``proposal`` its text with what was accepted, or
    with the best candidate where nothing was."""

    source: SourceText
    parts: tuple[Improved, ...]

    @property
    def accepted(self) -> bool:
        """Whether a part was accepted."""
        return any(part.record.accepted for part in self.parts)

    @property
    def proposal(self) -> str:
        """The text of the subject as it should be."""
        accepted = [part for part in self.parts if part.record.accepted]
        return (accepted or self.parts)[-1].after if self.parts else self.source.text

    @property
    def cost(self) -> float | None:
        """US dollars together."""
        return total_cost([part.record.cost for part in self.parts])


async def improve(
    subject: Path,
    chosen: ImproveOptions,
    options: Options,
    environment: Environment,
    *,
    searcher: Searcher | None = None,
    provider: Provider | None = None,
    kept: AnswerCache | None = None,
    agents: AgentSource | None = None,
    on_progress: Callable[[TestProgress], None] = lambda _: None,
) -> Improvements:
    """Search for a better description, then for a better body, and try the best candidate of each on its held-out
    cases. A search that was killed continues from its journal: what was answered is not asked again.

    Raises `RunError` for a subject that cannot be improved, before any call, and what `run_tests` does.
    """
    if searcher is None:
        searcher = gepa_search()
    environment = replace(environment, notice=Once(environment.notice))
    if isinstance(options.max_cost, Decimal):
        options = replace(options, max_cost=Ledger(options.max_cost))
    group, suites = find_subject(subject, chosen, options, environment)
    journal = open_journal(chosen.test.journal or JournalOptions("improve"), options.recording, environment)
    if kept is None and provider is None:
        kept = open_kept(environment.environ)
    asking = Asking(
        replace(chosen.test, journal=None),
        options,
        environment,
        chosen.proposal_model,
        provider,
        kept,
        agents,
        on_progress,
    )
    try:
        tasks = await tasks_of(group, suites, chosen, options, environment, journal)
        source, parts = tasks[0].part.source, list[Improved]()
        for task in tasks:
            accepted = next((part for part in reversed(parts) if part.record.accepted), None)
            ready = task if accepted is None else _after(task, accepted)
            parts.append(
                _recalled(ready) if task.is_done else await _improved(ready, chosen, searcher, asking, journal)
            )
        return Improvements(source, tuple(parts))
    finally:
        journal.release()


def _after(task: Task, accepted: Improved) -> Task:
    """Return a task for the document with what was accepted before."""
    source = SourceText(accepted.after, task.part.source.path)
    return replace(task, part=part_of(task.part.name, source), suite=altered_suite(task.suite, accepted.after))


def _recalled(task: Task) -> Improved:
    """Return what came of a search that ended before the call was interrupted."""
    chosen = task.record.proposal
    after = task.part.source.text if chosen is None else task.part.document(chosen.text)
    return Improved(task.record, task.part.source, after)


async def _improved(
    task: Task, chosen: ImproveOptions, searcher: Searcher, asking: Asking, journal: ImprovementJournal
) -> Improved:
    record = await journal.begin(task.record)
    asking = replace(asking, options=_below(asking.options, task.part.name))
    trials: Trials | None = None
    try:
        async with AsyncExitStack() as stack:
            trials = _trials(task, record, chosen, asking, journal, stack)
            await search(searcher, trials)
            _require_measured(trials)
            return await _decided(task, record, trials, asking, chosen, journal)
    except BaseException as error:
        stopped = isinstance(error, asyncio.CancelledError | KeyboardInterrupt)
        ending = "interrupted" if stopped else str(error)
        candidates = trials.candidates if trials is not None else ()
        journal.note(replace(record, state="interrupted", ended=now(), candidates=candidates, ending=ending))
        raise


def _below(options: Options, part: PartName) -> Options:
    return replace(options, recording=recording_below(options.recording, part))


def _trials(
    task: Task,
    record: Improvement,
    chosen: ImproveOptions,
    asking: Asking,
    journal: ImprovementJournal,
    stack: AsyncExitStack,
) -> Trials:
    """Return the world of a search: everything in it is of the search cases alone."""
    suite = with_cases(task.suite, task.split.search)
    checker = Checker.of(CheckOptions(), asking.environment.environ)
    opinions = read_feedback(feedback_place(suite.path), task.split.search).feedback
    feedback = {name: opinions[name] for name in task.split.search if name in opinions}
    repeats = chosen.test.repeat or suite.terms.repeat
    trials = Trials(
        suite,
        task.part,
        Gate.of(task.part, task.group, checker, suite.cases),
        asking,
        chosen.rounds,
        2 * len(task.split.held_out) * repeats,
        feedback,
        lambda: journal.note(replace(record, candidates=trials.candidates)),
        stack,
        record.seed,
    )
    return trials


def _require_measured(trials: Trials) -> None:
    """Raise `RunError` where too few attempts of the subject itself were measured for any candidate to be better."""
    attempts = trials.subject.attempts
    measured = sum(attempt.measured for attempt in attempts)
    if not attempts or not is_enough(measured, len(attempts)) or trials.subject.rate(trials.names) is None:
        reason = next((str(attempt.reason) for attempt in attempts if attempt.reason is not None), trials.ended)
        raise RunError(f"too few attempts with the subject as it is were measured: {reason}")


async def _decided(
    task: Task,
    record: Improvement,
    trials: Trials,
    asking: Asking,
    chosen: ImproveOptions,
    journal: ImprovementJournal,
) -> Improved:
    """Try the best candidate on the held-out cases, if one is better on the others, and end the search."""
    best, begun = trials.best(), None if record.proposal is None else record.proposal.text
    record = replace(record, candidates=trials.candidates, ending=trials.ended)
    comparison, held = None, tuple[SuiteReport, ...]()
    if best is None:
        record = replace(record, ending=f"no candidate was better on the search cases: {trials.ended}")
    else:
        record = await journal.look(replace(record, chosen=best.id), begun)
        held, comparison = await _looked(task, trials, asking)
        record = judged(record, held, comparison)
    costs = [attempt.grading for suite in held for case in suite.cases for attempt in case.attempts]
    record = replace(
        record,
        state="done",
        ended=now(),
        cost=total_cost([trials.spent, *(report.cost for report in held), *costs]),
    )
    test, shown = await store(task.suite, record, trials, held, asking, chosen.test.journal)
    record = replace(record, test=test)
    await journal.put(record)
    after = task.part.source.text if best is None else task.part.document(best.text)
    return Improved(record, task.part.source, after, shown, comparison)


async def _looked(task: Task, trials: Trials, asking: Asking) -> tuple[tuple[SuiteReport, ...], Comparison]:
    best = trials.best()
    assert best is not None
    suite = altered_suite(with_cases(task.suite, task.split.held_out), task.part.document(best.text), trials.folder())
    suite = replace(suite, label=f"candidate {best.id}")
    side = altered_side(AS_IT_IS, task.part.source.text)
    report = await asking.tried(suite, "held-out", side)
    return report.suites, report.comparisons[0].comparison


def write_accepted(improvements: Improvements) -> None:
    """Write what was accepted into the subject. Raises `RunError` where nothing was, and `FileChanged` if the subject
    is no longer what was read; nothing is written then."""
    if not improvements.accepted:
        raise RunError(f"{improvements.source.path}: nothing was accepted, and nothing is written")
    replace_file(Path(improvements.source.path), improvements.proposal, expect_digest=improvements.source.digest)
