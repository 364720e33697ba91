"""What came of a search, judged and stored: the look at the held-out cases, and every attempt as one test (X25, X41).

In: the trials of a search, and the reports of its candidate and of the subject on the held-out cases. Out: records, and
a test as pages show it. The attempts are no part of the history of the cases themselves.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from msgspec.structs import replace

from prosa.app.evals.stored import StoredTest
from prosa.app.improve.trials import Asking, Trial, Trials
from prosa.evaluation.assembly import SuiteHead, Unit, report_of
from prosa.evaluation.case import Requirement
from prosa.evaluation.improvement import is_accepted
from prosa.evaluation.report import Attempt, SuiteReport
from prosa.records.improvement import Improvement
from prosa.records.test import ShownTest

if TYPE_CHECKING:
    from prosa.app.evals.suite import Suite
    from prosa.app.options import JournalOptions
    from prosa.evaluation.comparison import Comparison

AS_IT_IS = "as it is"


def judged(record: Improvement, held: Sequence[SuiteReport], comparison: Comparison) -> Improvement:
    """Return a record with what its look decided, and the rates of both sides."""
    assert record.look is not None and held
    rates = [_rate(report) for report in held]
    by_id = {record.chosen: rates[0], 0: rates[1]}
    candidates = tuple(
        replace(candidate, held_out=by_id[candidate.id]) if candidate.id in by_id else candidate
        for candidate in record.candidates
    )
    accepted = is_accepted(comparison, record.look)
    return replace(record, candidates=candidates, p=comparison.p_worst, accepted=accepted)


def _rate(suite: SuiteReport) -> float | None:
    known = [case.counted for case in suite.cases if case.counted.repeats]
    return sum(counted.rate for counted in known) / len(known) if known else None


async def store(
    suite: Suite,
    record: Improvement,
    trials: Trials,
    held: Sequence[SuiteReport],
    asking: Asking,
    journal: JournalOptions | None,
) -> tuple[str, ShownTest]:
    """Store every attempt as one test, and return its id with the test as a page shows it."""
    tried = [trial for trial in trials.trials.values() if trial.report is not None]
    suites = [*held, *(_whole(trial, trials.names) for trial in tried)]
    heads = [
        _head(outcome, "held out", label=label, is_baseline=label == AS_IT_IS)
        for outcome, label in zip(held, (f"candidate {record.chosen}", AS_IT_IS), strict=False)
    ]
    heads += [
        _head(outcome, "search", is_baseline=True, label=_label(trial))
        for outcome, trial in zip(suites[len(held) :], tried, strict=True)
    ]
    report = report_of(heads, _attempts(suites), lower=False)
    played = asking.options.recording is not None and asking.options.recording.replay is not None
    test = StoredTest(None if played else journal, asking.environment, heads, [_apart(suite)] * len(heads), False)
    test.begin()
    for unit, attempt in _attempts(suites).items():
        test.put(unit, attempt)
    await test.end(report)
    return test.id, replace(test.shown(report), improvements=(record,))


def _label(trial: Trial) -> str:
    return f"candidate {trial.id}" if trial.id else AS_IT_IS


def _apart(suite: Suite) -> Suite:
    """Return a suite under a name of its own: its attempts do not count for the history of the cases."""
    return replace(suite, path=suite.path.with_name(f"{suite.path.name} (improve)"))


def _whole(trial: Trial, names: Sequence[str]) -> SuiteReport:
    """Return what is known of a candidate on the search cases."""
    assert trial.report is not None
    return replace(trial.report, cases=tuple(trial.cases[name] for name in names if name in trial.cases))


def _head(suite: SuiteReport, cases: str, *, label: str, is_baseline: bool) -> SuiteHead:
    """Return the head of a report. Nothing is required of a candidate but to be better."""
    return SuiteHead(
        f"{suite.path}, {cases}",
        suite.program,
        suite.model,
        Requirement("pass^", 1, 0.0, "nothing"),
        tuple(case.case for case in suite.cases),
        len(suite.cases[0].attempts),
        label,
        is_baseline,
        suite.routing,
    )


def _attempts(suites: Sequence[SuiteReport]) -> dict[Unit, Attempt]:
    return {
        Unit(at, number, repeat): attempt
        for at, suite in enumerate(suites)
        for number, case in enumerate(suite.cases)
        for repeat, attempt in enumerate(case.attempts)
    }
