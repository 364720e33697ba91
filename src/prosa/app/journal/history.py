"""What was run: lists, one run with its calls, two runs compared, and forgetting (X25).

In: the place of the store and what is asked. Out: records. The store is only read, except where a run is forgotten and
where a cost is filled in: prices are read when the history is shown, not during a run.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from datetime import datetime, timedelta
from decimal import Decimal
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from prosa.adapters.store import runs as reading
from prosa.adapters.store.opening import in_words, open_reader
from prosa.adapters.store.runs import calls_of, run_of, runs, runs_alike, runs_of_batch, scripted, with_totals
from prosa.adapters.store.writer import living, writer_of
from prosa.app.journal.place import store_path, store_there
from prosa.dialects.quantity import seconds
from prosa.records.run import (
    CallRecord,
    FirstDifference,
    RunFilter,
    RunRecord,
    StorePlace,
    first_difference,
    last_attempts,
    only,
)
from prosa.records.summary import Answered, cost_of
from prosa.runtime.digest import as_json, closure_digests, stamp
from prosa.runtime.errors import NotResumed, StoreProblem
from prosa.runtime.messages import Usage
from prosa.source.url import is_on_this_machine

if TYPE_CHECKING:
    from prosa.adapters.store.database import Database
    from prosa.app.options import Environment, JournalOptions
    from prosa.records.estimate import PastRun
    from prosa.runtime.ports import Prices
    from prosa.runtime.program import Program


MAX_PAST = 200
"""Runs of one version that an estimate looks at; those that began last count."""


class RunWithCalls(Struct, frozen=True):
    """A run and its calls in the order of their paths, each as it was asked last."""

    run: RunRecord
    calls: tuple[CallRecord, ...]


class Listed(Struct, frozen=True):
    """Runs, those that began last first; ``more`` says that there are others. ``scripted`` are the ids of those that
    had replies of no service."""

    runs: tuple[RunRecord, ...]
    more: bool
    scripted: frozenset[str] = frozenset()


def unfinished_run(name: str, options: JournalOptions | None, environ: Mapping[str, str]) -> RunRecord:
    """Return the run to resume; of several that one call started, the first that can be resumed. Raises `NotResumed`,
    `StoreProblem`."""
    with reading_store(store_path(options, environ)) as connection:
        run = only(run_of(connection, name) if connection else (), name)
        together = runs_of_batch(connection, run.batch) if connection else []
        run = next((record for record in together if record.again is not None), run)
    if not run.whole and run.state != "done":
        message = f"only a summary of run {run.id} is stored, so it cannot be resumed"
        raise NotResumed(message, hint="interrupted runs are kept for 7 days; run it again from the beginning")
    return run


def listed(path: StorePlace, chosen: RunFilter) -> Listed:
    """Return the runs that are meant. Raises `StoreProblem`."""
    with reading_store(path) as connection:
        if connection is None:
            return Listed((), more=False)
        wanted = None if chosen.limit is None else chosen.limit + 1
        records = as_they_are(with_totals(connection, runs(connection, replace(chosen, limit=wanted))), path)
        ids = scripted(connection, [record.id for record in records])
    more = chosen.limit is not None and len(records) > chosen.limit
    return Listed(tuple(records[: chosen.limit]), more, ids)


def one(path: StorePlace, name: str) -> tuple[RunWithCalls, ...]:
    """Return the runs of an id, or of the beginning of one: several where one call had several. Raises `NotResumed`."""
    with reading_store(path) as connection:
        run = only(run_of(connection, name) if connection else (), name)
        assert connection is not None
        alone = "." in name or run.id != run.batch
        meant = with_totals(connection, [run] if alone else runs_of_batch(connection, run.batch))
        return tuple(
            RunWithCalls(record, tuple(last_attempts(calls_of(connection, record.id))))
            for record in as_they_are(meant, path)
        )


def compared(path: StorePlace, left: str, right: str) -> tuple[RunWithCalls, RunWithCalls, FirstDifference | None]:
    """Return two runs, and where they start to differ. Raises `NotResumed` for a run that is not there."""
    one_run, other_run = one(path, left)[0], one(path, right)[0]
    return one_run, other_run, first_difference(one_run.calls, other_run.calls)


def forget(path: StorePlace, before: str, *, dry_run: bool = False) -> int:
    """Delete the runs that started before a moment, except those in progress, and return their number. Raises
    `StoreProblem`."""
    alive = living(path)

    def ids(connection: Database) -> list[str]:
        rows = reading.ids_before(connection, before)
        return [run for run, state, holder in rows if state != "open" or not alive(holder)]

    with reading_store(path) as connection:
        old = len(ids(connection)) if connection else 0
    if dry_run or not old:
        return old
    writer = writer_of(path)
    try:
        return writer.do(lambda connection: reading.forget(connection, ids(connection))).result()
    finally:
        writer.release()


def priced(
    path: StorePlace, runs: Sequence[RunRecord], prices: Callable[[], Prices], now: datetime, *, anew: bool
) -> list[RunRecord]:
    """Return the runs with what they cost, by the prices of today where none was known when they ended, or ``anew`` for
    all. What is computed for the first time of a run that has ended stays in the store."""
    wanted = [run for run in runs if (anew or run.cost is None) and run.calls]
    if not wanted:
        return list(runs)
    day, costs = now.date().isoformat(), dict[str, float]()
    with reading_store(path) as connection:
        for record in wanted if connection else ():
            assert connection is not None
            cost = cost_of_calls(calls_of(connection, record.id), prices, remote=not anew)
            if cost is not None:
                costs[record.id] = cost
    ended = {record.id for record in wanted if record.ended is not None}
    if (kept := {run: cost for run, cost in costs.items() if run in ended}) and not anew:
        _keep(path, kept, day)
    return [replace(run, cost=costs[run.id], priced=day) if run.id in costs else run for run in runs]


def past_runs(
    program: Program, options: JournalOptions | None, environment: Environment, prices: Prices
) -> tuple[PastRun, ...]:
    """Return what the last runs of this version of a program took, with the model that it has now. None where there is
    no store, or where it cannot be read, which is reported. Nothing is written."""
    path = store_there(options, environment.environ)
    if path is None:
        return ()
    closure = as_json(closure_digests(program))
    like = RunRecord("", "", "", "", program.name, "", closure, program.model_name, "", "")
    try:
        with reading_store(path) as connection:
            runs = runs_alike(connection, like, MAX_PAST) if connection else []
            return tuple(_past(run, calls_of(connection, run.id), prices) for run in runs if connection)
    except StoreProblem as error:
        environment.notice(f"note: earlier runs are not known: {error.message}")
        return ()


def _past(run: RunRecord, calls: Sequence[CallRecord], prices: Prices) -> PastRun:
    from prosa.records.estimate import PastRun

    cost = run.cost if run.cost is not None else cost_of_calls(calls, lambda: prices, remote=False)
    dollars = None if cost is None else Decimal(str(cost))
    return PastRun(run.calls, run.input_tokens, run.output_tokens, dollars)


def cost_of_calls(calls: Sequence[CallRecord], prices: Callable[[], Prices], *, remote: bool) -> float | None:
    """Return what model calls cost. With ``remote`` only calls have a price of which a service beyond this machine
    answered one."""
    made = [call for call in calls if call.kind == "model" and call.state == "answered"]
    if remote and all(is_on_this_machine(record.service) for record in made):
        return None
    tokens = [Usage(record.input_tokens, record.output_tokens, record.cached_tokens) for record in made]
    both = zip(made, tokens, strict=True)
    answered = [Answered(record.answered_by, record.name, usage, record.service) for record, usage in both]
    cost = cost_of(answered, prices())
    return None if cost is None else float(cost)


def _keep(path: StorePlace, costs: Mapping[str, float], day: str) -> None:
    from contextlib import suppress

    rows = [(cost, day, run) for run, cost in costs.items()]

    def work(connection: Database) -> None:
        connection.executemany("UPDATE run SET cost = ?, priced = ? WHERE id = ? AND cost IS NULL", rows)

    writer = writer_of(path)
    try:
        with suppress(StoreProblem):  # it is shown all the same
            writer.do(work).result()
    finally:
        writer.release()


MOST_DAYS = 100_000
"""A larger age is older than all runs."""


def moment(text: str, now: datetime) -> str:
    """Return a moment as records have it, from an age such as 7d or 12h, or from a date with or without a time. Raises
    ValueError for anything else."""
    text = text.strip()
    if text.endswith("d") and text[:-1].isdigit():
        return stamp(now - timedelta(days=min(int(text[:-1]), MOST_DAYS)))
    age = seconds(text) if text[-1:].isalpha() else None
    if age is not None:
        return stamp(now - timedelta(seconds=min(age, MOST_DAYS * 86_400)))
    parsed = datetime.fromisoformat(text)
    return stamp(parsed if parsed.tzinfo else parsed.replace(tzinfo=now.astimezone().tzinfo))


@contextmanager
def reading_store(path: StorePlace) -> Iterator[Database | None]:
    """Return a connection that reads the store, None where there is none. Raises `StoreProblem`."""
    connection = open_reader(path)
    if connection is None:
        yield None
        return
    with closing(connection), in_words(path):
        yield connection


def as_they_are(records: Sequence[RunRecord], path: StorePlace) -> list[RunRecord]:
    """Return runs with the state that they have in truth: those whose process is gone broke off."""
    if all(record.state != "open" for record in records):
        return list(records)
    alive = living(path)
    gone = {record.id for record in records if record.state == "open" and not alive(record.holder)}
    return [replace(record, state="interrupted") if record.id in gone else record for record in records]
