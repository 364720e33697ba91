"""What came of a test: every repeat of every case, the gate of each suite, and comparisons.

In: attempts as they were judged. Out: values that every form of report is made of. Nothing in them depends on when or
how quickly something ran, so the same answers give the same report.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import fsum

from msgspec import Struct, structs

from prosa.data import Value
from prosa.evaluation.case import Case, Gate, Requirement, RunFacts
from prosa.evaluation.expectations import Failure
from prosa.evaluation.routing import Confusion, Routing, confusion
from prosa.evaluation.statistics import Comparison, Counted, Interval, compare, wilson


class Graded(Struct, frozen=True):
    """What a grader said to one question: how many of its votes were for it, and the reason that the majority gave."""

    question: str
    passed: bool
    reason: str
    votes: int = 1
    of: int = 1


class Attempt(Struct, frozen=True):
    """One repeat of a case. ``calls`` were made now, ``kept`` were answered by the cache; ``grading`` is what its
    grader cost in dollars, None where the price is not known; ``trace`` is the file in which the run is recorded."""

    output: Value
    facts: RunFacts
    failures: tuple[Failure, ...] = ()
    graded: tuple[Graded, ...] = ()
    grading: float | None = 0.0
    calls: int = 0
    kept: int = 0
    trace: str = ""

    @property
    def passed(self) -> bool:
        """Whether it is as expected."""
        return not self.failures


class CaseReport(Struct, frozen=True):
    """A case under one model: all its repeats, in their order."""

    case: Case
    attempts: tuple[Attempt, ...]

    @property
    def counted(self) -> Counted:
        """How many passed."""
        return Counted(sum(each.passed for each in self.attempts), len(self.attempts))

    @property
    def interval(self) -> Interval:
        """The interval of the share that passed."""
        return wilson(self.counted.passed, self.counted.repeats)

    @property
    def cost(self) -> float | None:
        """US dollars of the answers; None where a price is not known."""
        return total_cost([each.facts.cost for each in self.attempts])

    @property
    def failures(self) -> tuple[tuple[Failure, int], ...]:
        """What was lacking, each with how many repeats lacked it."""
        counts: dict[Failure, int] = {}
        for attempt in self.attempts:
            for each in attempt.failures:
                counts[each] = counts.get(each, 0) + 1
        return tuple(counts.items())


class SuiteReport(Struct, frozen=True):
    """The cases of a test document, tried with one program and one model. ``label`` says which, where there are
    several; ``baseline`` marks what others are compared with, which no gate is asked of. ``routing`` is there where
    what counts of a run is which skills it loaded, and ``without`` marks what was tried without its skill (X32)."""

    path: str
    program: str
    model: str
    requirement: Requirement
    cases: tuple[CaseReport, ...]
    gate: Gate
    label: str = ""
    baseline: bool = False
    routing: Routing | None = None
    without: bool = False

    @property
    def confusion(self) -> Confusion | None:
        """Which skills were loaded for which requests, where that is what was tried."""
        if self.routing is None:
            return None
        return confusion(
            self.routing, ((each.case.name, [loaded_skills(a) for a in each.attempts]) for each in self.cases)
        )

    @property
    def passed(self) -> bool:
        """Whether its gate is open."""
        return self.gate.passed or self.baseline

    def fails(self, index: int) -> bool:
        """Whether a case is why the gate is closed."""
        return not self.passed and index in self.gate.short

    @property
    def cost(self) -> float | None:
        """US dollars of all answers."""
        return total_cost([each.cost for each in self.cases])


def loaded_skills(attempt: Attempt) -> Sequence[str] | None:
    """The skills that a repeat loaded, where that is what was tried; None where it failed."""
    return attempt.output["loaded"] if isinstance(attempt.output, dict) else None


class Lift(Struct, frozen=True):
    """What a skill does for its cases: its name, the share that passed with it and without it, and US dollars of both;
    None where a price is not known."""

    skill: str
    rates: tuple[float, float]
    costs: tuple[float | None, float | None]


class Compared(Struct, frozen=True):
    """Two suites of one document: the first against the second. ``lift`` is there where they are a skill and nothing
    (X32)."""

    path: str
    first: str
    second: str
    comparison: Comparison
    lift: Lift | None = None


class Report(Struct, frozen=True):
    """Everything that was tried."""

    suites: tuple[SuiteReport, ...]
    comparisons: tuple[Compared, ...] = ()

    @property
    def ok(self) -> bool:
        """Whether every gate is open."""
        return all(each.passed for each in self.suites)

    @property
    def attempts(self) -> list[Attempt]:
        """All repeats of all cases."""
        return [each for suite in self.suites for case in suite.cases for each in case.attempts]

    @property
    def cost(self) -> float | None:
        """US dollars of all answers, without those of graders."""
        return total_cost([each.facts.cost for each in self.attempts])

    @property
    def grading(self) -> float | None:
        """US dollars of all graders."""
        return total_cost([each.grading for each in self.attempts])


def total_cost(costs: Sequence[float | None]) -> float | None:
    """Dollars together; None where one is not known."""
    known = [each for each in costs if each is not None]
    return sum(known) if len(known) == len(costs) else None


def compared(first: SuiteReport, second: SuiteReport) -> Compared:
    """Compares two suites by the cases that both have. Raises ValueError where they have none."""
    others = {each.case.name: each.counted for each in second.cases}
    pairs = [(each.counted, others[each.case.name]) for each in first.cases if each.case.name in others]
    return Compared(first.path, first.label, second.label, compare(pairs))


def lift(first: SuiteReport, second: SuiteReport) -> Compared:
    """Compares a suite tried with a skill and without it."""
    rates = _mean(first), _mean(second)
    told = Lift(first.program, rates, (first.cost, second.cost))
    return structs.replace(compared(first, second), lift=told)


def _mean(suite: SuiteReport) -> float:
    return fsum(each.counted.rate for each in suite.cases) / len(suite.cases)
