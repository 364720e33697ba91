"""The results of a test: every repeat of every case, the gate of each suite, and comparisons.

In: judged attempts. Out: values that every form of report is made of. They do not depend on when or how quickly
something ran, except for the seconds of uncached attempts: the same answers give the same report.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from math import fsum, sqrt
from typing import Literal, TypeAlias, cast

from msgspec import Struct

from prosa.data import Value
from prosa.evaluation.case import Case, Gate, Requirement, RunFacts
from prosa.evaluation.comparison import Comparison, Pair, compare_together
from prosa.evaluation.expectations import Failure
from prosa.evaluation.routing import NOT_MEASURED, Confusion, Routing, confusion
from prosa.evaluation.statistics import Counted, Interval, wilson

Outcome: TypeAlias = Literal["passed", "failed", "not measured", "not offered", "broken"]
"""How an attempt ends. Only passed and failed count; the last two are for agents."""


class Reason(Struct, frozen=True):
    """Why an attempt could not be judged: a word, and the message."""

    kind: str
    message: str

    def __str__(self) -> str:
        return f"{self.kind}: {self.message}"


class Graded(Struct, frozen=True):
    """A grader's answer to one question: the number of votes in favour, and the reason of the majority. ``passed`` is
    None if too few votes were verdicts."""

    question: str
    passed: bool | None
    reason: str
    votes: int = 1
    of: int = 1


class AgentFacts(Struct, frozen=True):
    """What an agent did in an attempt, besides its answer (X36): ``listed`` are the skills of the suite that its model
    was offered, None where that was not seen, ``loaded`` those that it loaded. ``changed`` are paths, ``denied``
    refused permissions. The reported figures are the agent's own. ``unseen`` says what was not seen or held."""

    agent: str
    version: str
    end: str
    listed: tuple[str, ...] | None = None
    loaded: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()
    denied: tuple[str, ...] = ()
    subagents: int = 0
    reported_tokens: int | None = None
    reported_cost: float | None = None
    unseen: tuple[str, ...] = ()


class Step(Struct, frozen=True):
    """One step of an attempt: a text that a model said, a tool call, or the result of one. ``text`` may be cut, and
    ``size`` is then the number of characters of the whole."""

    kind: Literal["say", "call", "result"]
    text: str = ""
    tool: str = ""
    arguments: Value = None
    is_error: bool = False
    size: int = 0


class OutputFile(Struct, frozen=True):
    """A file that an attempt added, changed or deleted. ``digest`` is the SHA-256 of its content and ``size`` its
    bytes. ``diff`` is a unified diff of text, which may be cut; ``content`` is that of a picture, empty where it is not
    kept."""

    path: str
    kind: Literal["added", "changed", "deleted"]
    digest: str = ""
    size: int = 0
    is_text: bool = False
    diff: str = ""
    content: bytes = b""


class Cut(Struct, frozen=True):
    """What is known of an answer that was too large to be stored whole: its bytes as JSON, and their SHA-256. Its
    beginning is the output of the attempt, as text."""

    size: int
    digest: str


class Attempt(Struct, frozen=True):
    """One repeat of a case. ``calls`` were made now, ``kept`` were answered by the cache; ``grading`` is the cost of
    its grader in dollars, None if the price is unknown; ``trace`` is the file with the recording of the run.
    ``reason`` is set if it was not measured. ``seconds`` are those of an uncached attempt. ``agent`` is set if an agent
    made it. ``steps`` are its transcript and ``files`` what came out besides the answer, as far as they are known;
    ``cut`` is set if ``output`` is only the beginning of the answer."""

    output: Value
    facts: RunFacts
    failures: tuple[Failure, ...] = ()
    graded: tuple[Graded, ...] = ()
    grading: float | None = 0.0
    calls: int = 0
    kept: int = 0
    trace: str = ""
    outcome: Outcome = "passed"
    reason: Reason | None = None
    seconds: float | None = None
    agent: AgentFacts | None = None
    steps: tuple[Step, ...] = ()
    files: tuple[OutputFile, ...] = ()
    cut: Cut | None = None

    @property
    def passed(self) -> bool:
        """Whether it is as expected."""
        return self.outcome == "passed"

    @property
    def measured(self) -> bool:
        """Whether it counts."""
        return self.outcome in ("passed", "failed")


class CaseReport(Struct, frozen=True):
    """A case under one model: all its repeats, in their order."""

    case: Case
    attempts: tuple[Attempt, ...]

    @property
    def counted(self) -> Counted:
        """The number that passed, of the measured ones."""
        measured = [attempt for attempt in self.attempts if attempt.measured]
        return Counted(sum(attempt.passed for attempt in measured), len(measured), len(self.attempts) - len(measured))

    @property
    def passed(self) -> bool:
        """Whether every attempt passed."""
        return all(attempt.passed for attempt in self.attempts)

    @property
    def interval(self) -> Interval:
        """The interval of the share that passed."""
        return wilson(self.counted.passed, self.counted.repeats)

    @property
    def cost(self) -> float | None:
        """US dollars of the answers; None where a price is not known."""
        return total_cost([attempt.facts.cost for attempt in self.attempts])

    @property
    def failures(self) -> tuple[tuple[Failure, int], ...]:
        """What was lacking, each with how many repeats lacked it."""
        return tuple(Counter(failure for attempt in self.attempts for failure in attempt.failures).items())

    @property
    def reasons(self) -> tuple[tuple[Reason, int], ...]:
        """Why attempts could not be judged, each with how many of them."""
        return tuple(Counter(attempt.reason for attempt in self.attempts if attempt.reason is not None).items())


class SuiteReport(Struct, frozen=True):
    """The cases of a test document, tried with one program and one model. ``label`` distinguishes several;
    ``baseline`` marks the one that others are compared with, which has no gate. ``routing`` is set if the loaded
    skills are what counts, and ``without`` marks attempts without the skill (X32). ``unavailable`` is what a skill
    needs and cannot get here, in words."""

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
    unavailable: tuple[str, ...] = ()

    @property
    def confusion(self) -> Confusion | None:
        """Which skills were loaded for which requests, if that was tested."""
        if self.routing is None:
            return None
        return confusion(
            self.routing, ((case.case.name, [_counted_as(a) for a in case.attempts]) for case in self.cases)
        )

    @property
    def passed(self) -> bool:
        """Whether its gate is open."""
        return self.gate.passed or self.baseline

    def fails(self, index: int) -> bool:
        """Return whether a case is why the gate is closed."""
        return not self.passed and index in self.gate.short

    def outcome(self, index: int) -> Outcome:
        """Return the outcome of a case: failed if it closes the gate; not measured if nothing of it was, or if
        that closes the gate."""
        if self.fails(index):
            return "failed"
        counted = self.cases[index].counted
        keeps = counted.unmeasured and self.gate.lacking and not self.baseline
        return "passed" if counted.repeats and not keeps else "not measured"

    @property
    def cost(self) -> float | None:
        """US dollars of all answers."""
        return total_cost([case.cost for case in self.cases])


def loaded_skills(attempt: Attempt) -> Sequence[str] | None:
    """Return the skills that a repeat loaded, if that was tested; None if it failed."""
    return cast("list[str]", attempt.output["loaded"]) if isinstance(attempt.output, dict) else None


def _counted_as(attempt: Attempt) -> Sequence[str] | None:
    return loaded_skills(attempt) if attempt.measured else (NOT_MEASURED,)


class Spread(Struct, frozen=True):
    """A mean over attempts, with their standard deviation; None for a single one."""

    mean: float
    deviation: float | None


class TriedSide(Struct, frozen=True):
    """One side of a comparison: the mean pass rate of the cases that were compared, US dollars of all answers, and
    what a measured attempt took. None means unknown; answers from the cache or a recording have no seconds."""

    rate: float | None
    cost: float | None
    tokens: Spread | None
    seconds: Spread | None


class Compared(Struct, frozen=True):
    """Two suites of one document: the first against the second. ``reasons`` say why attempts of either were not
    measured, the most frequent first. ``skill`` is its name where they are a skill and nothing (X32)."""

    path: str
    first: str
    second: str
    comparison: Comparison
    sides: tuple[TriedSide, TriedSide]
    reasons: tuple[tuple[Reason, int], ...] = ()
    skill: str = ""

    @property
    def lift(self) -> Lift | None:
        """What the skill does; None where this compares something else."""
        return Lift(self.skill, self.sides) if self.skill else None


class Lift(Struct, frozen=True):
    """What a skill does for its cases: its name, and what was tried with it and without it."""

    skill: str
    sides: tuple[TriedSide, TriedSide]

    @property
    def rates(self) -> tuple[float | None, float | None]:
        """The shares that passed with it and without it."""
        return self.sides[0].rate, self.sides[1].rate

    @property
    def costs(self) -> tuple[float | None, float | None]:
        """US dollars of both."""
        return self.sides[0].cost, self.sides[1].cost


class Report(Struct, frozen=True):
    """Everything that was tried."""

    suites: tuple[SuiteReport, ...]
    comparisons: tuple[Compared, ...] = ()

    @property
    def ok(self) -> bool:
        """Whether every gate is open, and no comparison came out worse or could not be measured."""
        bad = ("worse", "not measured")
        return all(suite.passed for suite in self.suites) and not any(
            comparison.comparison.verdict in bad for comparison in self.comparisons
        )

    @property
    def attempts(self) -> list[Attempt]:
        """All repeats of all cases."""
        return [attempt for suite in self.suites for case in suite.cases for attempt in case.attempts]

    @property
    def cost(self) -> float | None:
        """US dollars of all answers, without those of graders."""
        return total_cost([attempt.facts.cost for attempt in self.attempts])

    @property
    def grading(self) -> float | None:
        """US dollars of all graders."""
        return total_cost([attempt.grading for attempt in self.attempts])


def total_cost(costs: Sequence[float | None]) -> float | None:
    """Dollars together; None where one is not known."""
    known = [cost for cost in costs if cost is not None]
    return sum(known) if len(known) == len(costs) else None


class Matched(Struct, frozen=True):
    """Two suites that are to be compared: the first with the second; ``skill`` is its name where that is its lift."""

    first: SuiteReport
    second: SuiteReport
    skill: str = ""

    @property
    def pairs(self) -> list[Pair]:
        """The cases that both have."""
        others = {case.case.name: case.counted for case in self.second.cases}
        return [(case.counted, others[case.case.name]) for case in self.first.cases if case.case.name in others]

    @property
    def reasons(self) -> tuple[tuple[Reason, int], ...]:
        """Why attempts of either were not measured, the most frequent first."""
        attempts = (attempt for suite in (self.first, self.second) for case in suite.cases for attempt in case.attempts)
        return tuple(Counter(attempt.reason for attempt in attempts if attempt.reason is not None).most_common())


def compared(matched: Sequence[Matched]) -> tuple[Compared, ...]:
    """Compare suites, those of one document together, so that verdicts are adjusted for their number (X34). Raises
    ValueError for two suites that have no case in common."""
    together: dict[str, list[int]] = {}
    for at, match in enumerate(matched):
        together.setdefault(match.first.path, []).append(at)
    by_index: dict[int, Compared] = {}
    for places in together.values():
        several = [matched[at].pairs for at in places]
        for at, pairs, comparison in zip(places, several, compare_together(several), strict=True):
            match = matched[at]
            measured = [pair for pair in pairs if pair[0].repeats and pair[1].repeats]
            sides = tuple(
                _side(suite, [pair[side] for pair in measured])
                for side, suite in enumerate((match.first, match.second))
            )
            by_index[at] = Compared(
                match.first.path,
                match.first.label,
                match.second.label,
                comparison,
                (sides[0], sides[1]),
                match.reasons,
                match.skill,
            )
    return tuple(by_index[at] for at in range(len(matched)))


def _side(suite: SuiteReport, counts: Sequence[Counted]) -> TriedSide:
    attempts = [attempt for case in suite.cases for attempt in case.attempts if attempt.measured]
    return TriedSide(
        fsum(count.rate for count in counts) / len(counts) if counts else None,
        suite.cost,
        _spread([attempt.facts.tokens for attempt in attempts]),
        _spread([attempt.seconds for attempt in attempts]),
    )


def _spread(values: Sequence[float | None]) -> Spread | None:
    """Return the mean of the known values, if all are known."""
    known = [value for value in values if value is not None]
    if not known or len(known) < len(values):
        return None
    mean = fsum(known) / len(known)
    squares = fsum((number - mean) ** 2 for number in known)
    return Spread(mean, sqrt(squares / (len(known) - 1)) if len(known) > 1 else None)
