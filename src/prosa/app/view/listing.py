"""Runs, tests and batches of a store in one list, those that started last first, as they stand now (X37).

In: the place of the store and a filter. Out: a page of the list. The store is only read: money that no run has kept is
computed by the prices of today, and is kept nowhere.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from heapq import merge
from itertools import islice
from typing import TYPE_CHECKING, TypeAlias

from msgspec.structs import replace

from prosa.adapters.store import batches, runs, tests
from prosa.app.batch.control import statuses
from prosa.app.evals.stored import as_they_are as tests_as_they_are
from prosa.app.journal.history import as_they_are, cost_of_calls, reading_store
from prosa.records.batch import BatchRecord, BatchStatus
from prosa.records.listing import Condition, ListedRecord, RecordFilter, RecordKind, RecordList
from prosa.records.run import RunFilter, RunRecord, RunState, StorePlace
from prosa.records.test import SuiteRow, TestFilter, TestRecord

if TYPE_CHECKING:
    from prosa.adapters.store.database import Database
    from prosa.records.run import CallRecord
    from prosa.runtime.ports import Prices

PricesOf: TypeAlias = "Callable[[], Prices]"
"""Returns the prices of models, which take a while to load."""

_CHUNK = 100
"""Runs that are read at a time where not all of them are meant."""

_STATES: dict[Condition, tuple[RunState, ...]] = {
    "running": ("open",),
    "done": ("done",),
    "failed": ("failed",),
    "stopped": ("open", "interrupted"),
}
"""What the store may say of a run: one whose process is gone is still open there."""

_RUN_CONDITIONS: dict[RunState, Condition] = {
    "open": "running",
    "done": "done",
    "failed": "failed",
    "interrupted": "stopped",
}


def listed(place: StorePlace, chosen: RecordFilter, prices: PricesOf) -> RecordList:
    """Return a page of the list. Raises `StoreProblem`."""
    with reading_store(place) as connection:
        if connection is None:
            return RecordList(there=False)
        kinds: dict[RecordKind, Iterator[ListedRecord]] = {
            "run": _runs(connection, place, chosen),
            "test": _tests(connection, place, chosen),
            "batch": _batches(connection, place, chosen),
        }
        meant = (listed for kind, listed in kinds.items() if chosen.kind in (None, kind))
        records = list(islice(merge(*meant, key=_key, reverse=True), chosen.limit + 1))
        page = _with_money(connection, records[: chosen.limit], prices)
    return RecordList(tuple(page), len(records) > chosen.limit)


def one_listed(place: StorePlace, kind: RecordKind, name: str, prices: PricesOf) -> ListedRecord | None:
    """Return the line of one record by its whole id; None where there is none. Raises `StoreProblem`."""
    with reading_store(place) as connection:
        if connection is None:
            return None
        records = [record for record in _named(connection, place, kind, name) if record.id == name]
        return next(iter(_with_money(connection, records, prices)), None)


def _named(connection: Database, place: StorePlace, kind: RecordKind, name: str) -> list[ListedRecord]:
    if kind == "batch":
        return [_batch_line(status) for status in statuses(place, connection, batches.batch_of(connection, name))]
    if kind == "test":
        return _test_lines(connection, tests_as_they_are(tests.test_of(connection, name), place))
    return [_run_line(record) for record in as_they_are(runs.run_of(connection, name), place)]


def _key(record: ListedRecord) -> tuple[str, str]:
    return record.key


def _runs(connection: Database, place: StorePlace, chosen: RecordFilter) -> Iterator[ListedRecord]:
    states = _STATES[chosen.condition] if chosen.condition else ()
    wanted = RunFilter(
        chosen.program or None,
        chosen.since or None,
        limit=_CHUNK,
        states=states,
        text=chosen.text,
        below=chosen.below,
    )
    while records := runs.runs(connection, wanted):
        for run in as_they_are(records, place):
            line = _run_line(run)
            if chosen.condition in (None, line.condition):
                yield line
        if len(records) < _CHUNK:
            return
        wanted = replace(wanted, below=(records[-1].started, records[-1].id))


def _run_line(run: RunRecord) -> ListedRecord:
    name = run.program if run.job in ("", run.program) else f"{run.program} ({run.job})"
    return ListedRecord(
        "run",
        run.id,
        name,
        _RUN_CONDITIONS[run.state],
        run.started,
        run.model,
        run.file,
        run.ended,
        run.seconds,
        run.cost,
        run.calls,
        run.input_tokens + run.output_tokens,
        error=run.error or "",
    )


def _with_money(connection: Database, page: Sequence[ListedRecord], prices: PricesOf) -> list[ListedRecord]:
    """Return the lines with what runs have taken so far, and what that costs where it is not known yet."""
    open_ones = [
        record.id for record in page if record.kind == "run" and (record.cost is None or record.condition == "running")
    ]
    calls = runs.model_calls(connection, open_ones)
    return [_as_it_goes(record, calls[record.id], prices) if record.id in calls else record for record in page]


def _as_it_goes(line: ListedRecord, calls: Sequence[CallRecord], prices: PricesOf) -> ListedRecord:
    if not calls:
        return line
    scripted = any(call.service is None for call in calls)
    return replace(
        line,
        calls=len(calls),
        tokens=sum(call.input_tokens + call.output_tokens for call in calls),
        cost=cost_of_calls(calls, prices, remote=True),
        model=f"{line.model} (scripted)" if scripted else line.model,
    )


def _tests(connection: Database, place: StorePlace, chosen: RecordFilter) -> Iterator[ListedRecord]:
    wanted = TestFilter(chosen.since or None, chosen.text or None, _CHUNK, chosen.program or None, chosen.below)
    while records := tests.tests(connection, wanted):
        meant = [
            record
            for record in tests_as_they_are(records, place)
            if chosen.condition in (None, _test_condition(record))
        ]
        yield from _test_lines(connection, meant)
        if len(records) < _CHUNK:
            return
        wanted = replace(wanted, below=(records[-1].started, records[-1].id))


def _test_condition(test: TestRecord) -> Condition:
    if test.state == "done":
        return "done" if test.passed else "failed"
    return "running" if test.state == "open" else "stopped"


def _test_lines(connection: Database, records: Sequence[TestRecord]) -> list[ListedRecord]:
    suites = tests.suites_of(connection, [record.id for record in records])
    return [_test_line(record, suites[record.id]) for record in records]


def _test_line(test: TestRecord, suites: Sequence[SuiteRow]) -> ListedRecord:
    labels = ", ".join(dict.fromkeys(suite.label for suite in suites if suite.label))
    return ListedRecord(
        "test",
        test.id,
        ", ".join(dict.fromkeys(suite.path for suite in suites)),
        _test_condition(test),
        test.started,
        labels,
        test.folder,
        test.ended,
        cost=test.cost,
        total=test.total,
        done=test.done,
        failed=test.failed,
        unmeasured=test.unmeasured,
    )


def _batches(connection: Database, place: StorePlace, chosen: RecordFilter) -> Iterator[ListedRecord]:
    records = (batch for batch in batches.batches(connection) if _is_meant(batch, chosen))
    for status in statuses(place, connection, records):
        line = _batch_line(status)
        if chosen.condition in (None, line.condition):
            yield line


def _is_meant(batch: BatchRecord, chosen: RecordFilter) -> bool:
    texts = (batch.id, batch.name, batch.program, batch.file, batch.model, batch.reason or "")
    program = batch.file if "/" in chosen.program else batch.program
    return (
        (not chosen.program or program == chosen.program)
        and batch.created >= chosen.since
        and any(chosen.text.lower() in text.lower() for text in texts)
        and (chosen.below is None or (batch.created, batch.id) < chosen.below)
    )


def _batch_line(status: BatchStatus) -> ListedRecord:
    batch, counts = status.batch, status.counts
    return ListedRecord(
        "batch",
        batch.id,
        batch.name,
        _batch_condition(status),
        batch.created,
        batch.model,
        batch.file,
        batch.ended,
        counts.seconds,
        counts.full_cost or None,
        counts.calls,
        counts.input_tokens + counts.output_tokens,
        counts.total,
        counts.done + counts.failures,
        counts.failures,
        error=batch.reason or "",
    )


def _batch_condition(status: BatchStatus) -> Condition:
    if status.batch.state == "open":
        return "running" if status.running or status.hosts else "stopped"
    if status.batch.state == "done":
        return "failed" if status.counts.failures else "done"
    return "stopped"
