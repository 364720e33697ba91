"""A report put together from what was to be tried and the attempts that are over.

In: the heads of suites and attempts by their place, from a run that just ended or from a store. Out: the report of
them, the same for both: gates and comparisons follow from the attempts alone.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TypeAlias

from msgspec import Struct

from prosa.evaluation.case import Case, Requirement, RunFacts, gate
from prosa.evaluation.report import Attempt, CaseReport, Matched, Reason, Report, SuiteReport, compared
from prosa.evaluation.routing import Routing


class SuiteHead(Struct, frozen=True):
    """What is to be tried: the cases of one suite with one program and one model, each ``repeats`` times.

    ``lifts`` is the index of the head without the skill, where there is one. The other fields are those of
    `SuiteReport`.
    """

    path: str
    program: str
    model: str
    requirement: Requirement
    cases: tuple[Case, ...]
    repeats: int
    label: str = ""
    baseline: bool = False
    routing: Routing | None = None
    without: bool = False
    unavailable: tuple[str, ...] = ()
    lifts: int | None = None


class Unit(Struct, frozen=True):
    """The place of an attempt: the index of its suite, that of its case, and which repeat it is, counted from 0."""

    suite: int
    case: int
    repeat: int


Attempts: TypeAlias = Mapping[Unit, Attempt]

NOT_STARTED = Attempt(
    None,
    RunFacts(0, 0.0, 0.0),
    outcome="not measured",
    reason=Reason("interrupted", "the test was stopped before this attempt ended"),
)


def units_of(heads: Sequence[SuiteHead]) -> list[Unit]:
    """Return the places of all attempts, in their order."""
    return [
        Unit(at, case, repeat)
        for at, head in enumerate(heads)
        for case in range(len(head.cases))
        for repeat in range(head.repeats)
    ]


def report_of(heads: Sequence[SuiteHead], attempts: Attempts, *, lower: bool) -> Report:
    """Return the report of attempts; those that are missing were not started. ``lower`` asks gates of the lower bound
    of intervals."""
    suites = tuple(_suite(at, head, attempts, lower) for at, head in enumerate(heads))
    return Report(suites, compared(tuple(_matched(heads, suites))))


def _suite(at: int, head: SuiteHead, attempts: Attempts, lower: bool) -> SuiteReport:
    cases = tuple(
        CaseReport(case, tuple(attempts.get(Unit(at, index, repeat), NOT_STARTED) for repeat in range(head.repeats)))
        for index, case in enumerate(head.cases)
    )
    return SuiteReport(
        head.path,
        head.program,
        head.model,
        head.requirement,
        cases,
        gate(head.requirement, [case.counted for case in cases], lower=lower),
        head.label,
        head.baseline,
        head.routing,
        head.without,
        head.unavailable,
    )


def _matched(heads: Sequence[SuiteHead], suites: Sequence[SuiteReport]) -> Iterator[Matched]:
    """Yield pairs of each skill with what goes without it; then each suite of a document with its baselines, or
    with the first one where there is none."""
    for first, head in zip(suites, heads, strict=True):
        if head.lifts is not None:
            yield Matched(first, suites[head.lifts], first.program)
    by_path: dict[str, list[SuiteReport]] = {}
    for suite in suites:
        if not suite.without:
            by_path.setdefault(suite.path, []).append(suite)
    for several in by_path.values():
        baselines = [report for report in several if report.baseline] or several[:1]
        tried = [report for report in several if not any(report is one for one in baselines)]
        yield from (Matched(report, baseline) for report in tried for baseline in baselines)
