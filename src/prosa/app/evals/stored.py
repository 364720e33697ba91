"""Tests in the store of runs: written as they go, and read again for reports, trends and `--failed` (X25, X37).

In: what is to be tried and attempts as they end. Out: a test in the store, unless history is off; of a classified
suite nothing is in it. A store that cannot be written costs one notice, never a test. Nothing is asked again to read
one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from os import urandom
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
from msgspec import Struct, field
from msgspec.structs import replace

from prosa import __version__
from prosa.adapters.clock import SystemClock
from prosa.adapters.files.git_files import revision_of
from prosa.adapters.store.improvements import of_test
from prosa.adapters.store.tests import (
    attempts_of,
    begin_test,
    end_test,
    last_test,
    put_attempt,
    suites_of,
    test_of,
    tests,
    trend_of,
)
from prosa.adapters.store.tests import (
    last_outcomes as stored_outcomes,
)
from prosa.adapters.store.writer import host_name, living, writer_of
from prosa.app.evals.suite import Suite
from prosa.app.journal.history import reading_store
from prosa.app.journal.place import store_path, store_there
from prosa.app.options import Environment, JournalOptions
from prosa.app.runs.record import sweeping
from prosa.evaluation.assembly import SuiteHead, Unit, report_of
from prosa.evaluation.report import Attempt, Report, SuiteReport, total_cost
from prosa.records.run import StorePlace
from prosa.records.test import (
    AttemptRow,
    ShownTest,
    SuiteRow,
    TestFilter,
    TestRecord,
    TestState,
    Trend,
    attempt_of,
    heads_json,
    heads_of,
    stored_attempt,
)
from prosa.runtime.digest import stamp
from prosa.runtime.errors import RunError, StoreProblem

if TYPE_CHECKING:
    from prosa.adapters.store.database import Database
    from prosa.adapters.store.writer import Commit, Work, Writer

MAX_TREND = 30
"""Tests that a trend shows."""

MAX_LOOKED_AT = 100
"""Tests of a file in which `--failed` looks for the last outcome of a case."""

MAX_REUSED = 5
"""Tests of a file whose answers are used again by an audit."""

_ID_BYTES = 6


class NoTest(RunError):
    """There is no such test in the store; ``absent`` is False where there is one that cannot be read, or several."""

    absent = False


class StoredTest(Struct):
    """A test that is written into the store while it goes. Suites that are classified are not in it; where all are, or
    history is off, nothing is written."""

    options: JournalOptions | None
    environment: Environment
    heads: Sequence[SuiteHead]
    suites: Sequence[Suite]
    lower: bool
    id: str = field(default_factory=lambda: urandom(_ID_BYTES).hex())
    started: str = field(default_factory=lambda: stamp(SystemClock().now()))
    numbers: dict[int, int] = field(default_factory=dict)
    lost: bool = False
    _writer: Writer | None = None
    _full: bool = False
    _revision: tuple[str, bool] | None = None
    _last: Commit[None] | None = None

    def begin(self) -> None:
        """Write the start of the test, if anything of it is to be stored."""
        history = (self.options.history if self.options else "off") or self.environment.settings.history or "summary"
        kept = [at for at, suite in enumerate(self.suites) if not suite.classified]
        if history == "off" or self.options is None or not kept:
            return
        try:
            self._writer = writer_of(store_path(self.options, self.environment.environ))
        except StoreProblem as problem:
            self._lose(problem)
            return
        self._full = history == "full"
        self.numbers = {at: number for number, at in enumerate(kept)}
        heads = [self._head(self.heads[at]) for at in kept]
        rows = [self._row(number, at) for at, number in self.numbers.items()]
        self._do(begin_test(self._record(heads), rows, self._holder))

    def _record(self, heads: Sequence[SuiteHead]) -> TestRecord:
        """Return the record of a test that tries these."""
        folder = Path(self.suites[0].root)
        self._revision = self._revision or revision_of(folder)  # once: that of the start, not of the end
        return TestRecord(
            self.id,
            self.options.door if self.options is not None else "",
            str(folder.absolute()),
            *self._revision,
            __version__,
            self.started,
            heads_json(heads),
            self.lower,
            sum(len(head.cases) * head.repeats for head in heads),
            host=host_name(),
        )

    def shown(self, report: Report) -> ShownTest:
        """Return the test that just ended as a page shows it, whole, with what the store has of earlier ones."""
        attempts = report.attempts
        record = replace(
            self._record(self.heads),
            state="done",
            ended=stamp(SystemClock().now()),
            done=len(attempts),
            failed=sum(attempt.outcome == "failed" for attempt in attempts),
            unmeasured=sum(not attempt.measured for attempt in attempts),
            passed=report.ok,
            cost=total_cost([report.cost, report.grading]),
        )
        files = {str(suite.path): str(suite.files.real(suite.path)) for suite in self.suites}
        place = store_there(self.options, self.environment.environ) if self.numbers and not self.lost else None
        if place is None:
            return ShownTest(record, report, files=files)
        with reading_store(place) as connection:
            rows = [self._row(number, at) for at, number in self.numbers.items()]
            trends = () if connection is None else _trends(connection, rows, stamp(SystemClock().now()))
        return ShownTest(record, report, trends, files=files)

    def put(self, unit: Unit, attempt: Attempt) -> None:
        """Write an attempt that is over, without waiting for it."""
        if self._writer is None or unit.suite not in self.numbers:
            return
        number = self.numbers[unit.suite]
        attempt_json, steps = stored_attempt(attempt, full=self._full)
        name = self.heads[unit.suite].cases[unit.case].name
        row = AttemptRow(self.id, number, unit.case, unit.repeat, name, attempt.outcome, attempt_json, steps)
        self._do(put_attempt(row, self._holder, total_cost([attempt.facts.cost, attempt.grading])))

    async def end(self, report: Report) -> None:
        """Write the end of a test, and sweep the store if it is time for that."""
        if self._writer is None:
            return
        self._end(report, "done")
        self._do(sweeping(self._writer.place, self.environment, SystemClock(), content=self._full))
        try:
            if self._last is not None:
                await self._last
        except (StoreProblem, RunError) as problem:
            self._lose(problem)
        self._release()

    def drop(self, report: Report) -> None:
        """Write that a test was interrupted."""
        if self._writer is not None:
            self._end(report, "interrupted")
            self._release()

    def _end(self, report: Report, state: TestState) -> None:
        suites = [report.suites[at] for at in self.numbers]
        costs = [suite.cost for suite in suites]
        grading = [attempt.grading for suite in suites for case in suite.cases for attempt in case.attempts]
        cost = total_cost([*costs, total_cost(grading)])
        ended = stamp(SystemClock().now())
        work = end_test(self.id, state, self._holder, ended=ended, passed=report.ok, cost=cost, costs=costs)
        self._do(work)

    def _head(self, head: SuiteHead) -> SuiteHead:
        """Return a head whose lift is counted among those that are kept."""
        return head if head.lifts is None else replace(head, lifts=self.numbers.get(head.lifts))

    def _row(self, number: int, at: int) -> SuiteRow:
        suite, head = self.suites[at], self.heads[at]
        file = str(suite.files.real(suite.path))
        return SuiteRow(self.id, number, file, head.path, head.label, head.baseline)

    def _holder(self) -> str:
        return self._writer.holder if self._writer is not None else ""

    def _do(self, work: Work[None]) -> None:
        if self._writer is not None and not self.lost:
            self._last = self._writer.do(work)

    def _lose(self, problem: RunError) -> None:
        if not self.lost:
            self.lost = True
            hint = f"; {problem.hint}" if problem.hint else ""
            self.environment.notice(f"note: this test is not stored: {problem.message}{hint}")

    def _release(self) -> None:
        writer, self._writer = self._writer, None
        if writer is not None:
            writer.release()


def last_outcomes(options: JournalOptions | None, environment: Environment, suite: Suite) -> Mapping[str, bool]:
    """Return which cases of a suite passed the last time that they were tried; empty where nothing is stored of it.
    Raises `StoreProblem`."""
    place = store_there(options, environment.environ)
    if place is None:
        return {}
    with reading_store(place) as connection:
        if connection is None:
            return {}
        return stored_outcomes(connection, str(suite.files.real(suite.path)), MAX_LOOKED_AT)


def stored_suites(options: JournalOptions | None, environment: Environment, suite: Suite) -> list[SuiteReport]:
    """Return what the store has of the last tests of a suite, the newest first, with each of its sides. What cannot be
    read is left out. Raises `StoreProblem`."""
    place = store_there(options, environment.environ)
    if place is None or suite.classified:
        return []
    file, reports = str(suite.files.real(suite.path)), list[SuiteReport]()
    with reading_store(place) as connection:
        if connection is None:
            return []
        for record in tests(connection, TestFilter(subject=file, limit=MAX_REUSED)):
            with suppress(NoTest):
                shown = _shown(connection, test_of(connection, record.id)[0])
                reports += [report for report in shown.report.suites if shown.files.get(report.path) == file]
    return reports


def tests_listed(place: StorePlace, chosen: TestFilter) -> list[tuple[TestRecord, tuple[SuiteRow, ...]]]:
    """Return the tests that are meant with their suites, those that started last first. Raises `StoreProblem`."""
    with reading_store(place) as connection:
        if connection is None:
            return []
        records = as_they_are(tests(connection, chosen), place)
        rows = suites_of(connection, [record.id for record in records])
    return [(record, tuple(rows[record.id])) for record in records]


def shown_test(place: StorePlace, name: str = "") -> ShownTest:
    """Return a stored test by its id, or the beginning of one; without a name the one that started last. Nothing is
    asked again. Raises `NoTest`, `StoreProblem`."""
    with reading_store(place) as connection:
        records = [] if connection is None else test_of(connection, name) if name else last_test(connection)
        if connection is None or not records:
            about = f"there is no test {name!r} in the store {place}" if name else f"the store {place} has no test"
            missing = NoTest(about, hint="`prosa test` stores what it tries; `prosa view` lists what is stored")
            missing.absent = True
            raise missing
        if len(records) > 1:
            ids = ", ".join(test.id for test in records)
            raise NoTest(f"{name!r} is the beginning of several ids: {ids}", hint="name one of them")
        (record,) = as_they_are(records, place)
        return _shown(connection, record)


def _shown(connection: Database, record: TestRecord) -> ShownTest:
    try:
        heads = heads_of(record)
        rows = attempts_of(connection, record.id)
        attempts = {Unit(row.suite, row.number, row.repeat): attempt_of(row) for row in rows}
        report = report_of(heads, attempts, lower=record.lower)
    except (msgspec.DecodeError, ValueError, TypeError) as error:
        raise NoTest(f"what the store has of test {record.id} is damaged: {error}", hint="run the test again") from None
    suites = suites_of(connection, [record.id])[record.id]
    trends = _trends(connection, suites, record.ended or record.started)
    searches = of_test(connection, record.id)
    return ShownTest(record, report, trends, files={suite.path: suite.file for suite in suites}, improvements=searches)


def _trends(connection: Database, suites: Sequence[SuiteRow], until: str) -> tuple[Trend, ...]:
    trends = []
    for suite in suites:
        points = trend_of(connection, suite.file, suite.label, until, MAX_TREND)
        if len(points) > 1:
            trends.append(Trend(suite.path, suite.label, tuple(points)))
    return tuple(trends)


def as_they_are(records: Sequence[TestRecord], place: StorePlace) -> list[TestRecord]:
    """Return tests with the state that they have in truth: those whose process is gone broke off."""
    if all(record.state != "open" for record in records):
        return list(records)
    alive = living(place)
    return [
        replace(record, state="interrupted") if record.state == "open" and not alive(record.holder) else record
        for record in records
    ]
