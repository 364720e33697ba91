"""What is kept of tests, as values: one call of `prosa test` with its suites and attempts, and how a suite came out
over time (X25, X37).

In: rows of a store. Out: what reports, trends and `--failed` are made of. Nothing of a classified subject is in any of
them.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, TypeAlias

from msgspec import Struct

from prosa.evaluation.report import Report

TestState: TypeAlias = Literal["open", "done", "interrupted"]
"""A test is interrupted if it was cancelled, or if its process is gone."""

Opinion: TypeAlias = Literal["", "good", "bad"]


class TestRecord(Struct, frozen=True):
    """One call of `prosa test`, or of a door that does the same.

    ``folder`` is where it was called and ``revision`` the git commit there, empty outside of a repository; ``changed``
    says that the working tree differed from it. ``heads`` is the JSON of its suites without attempts, ``lower`` whether
    the lower end of an interval was held against the gates. ``total`` counts the planned attempts, ``done`` those that
    are over, of which ``failed`` failed and ``unmeasured`` were not measured. ``passed`` is None until it ends.
    ``cost`` is US dollars with those of graders, None where a price is not known. ``version`` is that of Prosa.
    ``holder`` names the process, which is at ``host``.
    """

    id: str
    door: str
    folder: str
    revision: str
    changed: bool
    version: str
    started: str
    heads: str
    lower: bool
    total: int
    state: TestState = "open"
    ended: str | None = None
    done: int = 0
    failed: int = 0
    unmeasured: int = 0
    passed: bool | None = None
    cost: float | None = None
    holder: str = ""
    host: str = ""
    __test__ = False


class TrendPoint(Struct, frozen=True):
    """How one suite came out in one test: its attempts that passed, of those that were measured, and those that were
    not; US dollars."""

    test: str
    started: str
    revision: str
    changed: bool
    passed: int
    measured: int
    unmeasured: int
    cost: float | None = None

    @property
    def rate(self) -> float | None:
        """The share that passed; None where nothing was measured."""
        return self.passed / self.measured if self.measured else None


class Trend(Struct, frozen=True):
    """A suite over time, oldest first; ``path`` and ``label`` are those of the report."""

    path: str
    label: str
    points: tuple[TrendPoint, ...]


class Feedback(Struct, frozen=True):
    """What a person thinks of the answers to a case."""

    opinion: Opinion = ""
    text: str = ""


class ShownTest(Struct, frozen=True):
    """A test as a page shows it: its record and report, and what is known besides. ``feedback`` is by the path of a
    suite and the name of a case."""

    record: TestRecord
    report: Report
    trends: tuple[Trend, ...] = ()
    feedback: Mapping[tuple[str, str], Feedback] = {}
    __test__ = False
