"""The suites of one document side by side: its cases as rows, its programs, models and agents as columns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal, TypeAlias

from msgspec import Struct

from prosa.evaluation.report import CaseReport, Outcome, Report, SuiteReport

State: TypeAlias = Literal["passed", "failed", "mixed", "unknown"]
"""How the attempts of a case came out together; unknown if none was measured."""

SIGNS: Mapping[State, str] = {"passed": "✓", "failed": "✗", "mixed": "~", "unknown": "?"}
OUTCOME_SIGNS: Mapping[Outcome, str] = {
    "passed": "✓",
    "failed": "✗",
    "not measured": "?",
    "not offered": "○",
    "broken": "!",
}


class Row(Struct, frozen=True):
    """One case with what each suite has of it. ``name`` is its id in a page."""

    name: str
    path: str
    title: str
    cases: tuple[CaseReport | None, ...]
    suites: tuple[SuiteReport, ...]

    @property
    def is_bad(self) -> bool:
        """Whether an attempt with what is tested did not pass. Those that it is only compared with do not count."""
        sides = zip(self.suites, self.cases, strict=True)
        return any(case is not None and not case.passed for suite, case in sides if not suite.baseline)

    @property
    def differs(self) -> bool:
        """Whether the suites came out differently."""
        return len({case.counted.rate for case in self.cases if case is not None and case.counted.repeats}) > 1


class Subject(Struct, frozen=True):
    """The suites of one document, those with requests for skills apart from the others."""

    path: str
    suites: tuple[SuiteReport, ...]
    rows: tuple[Row, ...]


def subjects(report: Report) -> list[Subject]:
    """Return the subjects of a report in its order."""
    together: dict[tuple[str, bool], list[SuiteReport]] = {}
    for suite in report.suites:
        together.setdefault((suite.path, suite.routing is not None), []).append(suite)
    return [_subject(at, path, suites) for at, ((path, _), suites) in enumerate(together.items(), 1)]


def _subject(at: int, path: str, suites: Sequence[SuiteReport]) -> Subject:
    by_title: dict[str, list[CaseReport | None]] = {}
    for place, suite in enumerate(suites):
        for case in suite.cases:
            by_title.setdefault(case.case.name, [None] * len(suites))[place] = case
    rows = (
        Row(f"case-{at}-{number}", path, title, tuple(cases), tuple(suites))
        for number, (title, cases) in enumerate(by_title.items(), 1)
    )
    return Subject(path, tuple(suites), tuple(rows))


def state_of(case: CaseReport) -> State:
    """Return how the measured attempts of a case came out."""
    counted = case.counted
    if not counted.repeats:
        return "unknown"
    if counted.passed == counted.repeats:
        return "passed"
    return "mixed" if counted.passed else "failed"


def state_words(case: CaseReport) -> str:
    """Return the same in words: of several measured attempts, how many passed."""
    counted = case.counted
    lacking = f", {counted.unmeasured} not measured" if counted.unmeasured and counted.repeats else ""
    if not counted.repeats:
        return next(
            (reason.kind for reason, _ in case.reasons if reason.kind in ("broken", "not offered")), "not measured"
        )
    if counted.repeats == 1:
        return ("passed" if counted.passed else "failed") + lacking
    return f"{counted.passed} of {counted.repeats} passed{lacking}"


def side_name(suite: SuiteReport) -> str:
    """Return what distinguishes a suite from the others of its document."""
    return suite.label or suite.model or suite.program
