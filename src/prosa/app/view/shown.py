"""One record of a store with what its page shows: a run with its calls, a batch with its rows (X37).

In: the place of a store and an id. Out: records, as they stand now; a test with its feedback is in `feedback.py`.
"""

from __future__ import annotations

from itertools import chain, islice

from msgspec import Struct
from msgspec.structs import replace

from prosa.adapters.store import batches
from prosa.app.batch.control import batch_status
from prosa.app.journal.history import RunWithCalls, cost_of_calls, one, reading_store
from prosa.app.view.listing import PricesOf
from prosa.records.batch import BatchStatus, RowResult
from prosa.records.run import StorePlace

MAX_ROWS = 5_000
"""Rows of a batch that are read for its page, those that failed first."""


class BatchWithRows(Struct, frozen=True):
    """A batch and rows of it that are over, those that failed first; ``more`` says that there are others."""

    status: BatchStatus
    rows: tuple[RowResult, ...]
    more: bool


def shown_run(place: StorePlace, name: str, prices: PricesOf) -> RunWithCalls:
    """Return the run of an id, with what it has taken so far. Raises `NotResumed`, `StoreProblem`."""
    recorded = next(candidate for candidate in one(place, name) if candidate.run.id == name)
    run, made = recorded.run, [call for call in recorded.calls if call.state == "answered"]
    asked = [record for record in made if record.kind == "model"]
    if run.state in ("open", "interrupted"):
        run = replace(
            run,
            calls=len(asked),
            tools=sum(record.kind not in ("model", "program") for record in made),
            input_tokens=sum(record.input_tokens for record in asked),
            output_tokens=sum(record.output_tokens for record in asked),
        )
    cost = run.cost if run.cost is not None or not asked else cost_of_calls(asked, prices, remote=True)
    return RunWithCalls(replace(run, cost=cost), recorded.calls)


def shown_batch(place: StorePlace, name: str) -> BatchWithRows:
    """Return the batch of an id, with its rows. Raises `BatchRefused`, `StoreProblem`."""
    status = batch_status(place, name)
    with reading_store(place) as connection:
        if connection is None:
            return BatchWithRows(status, (), more=False)
        both = (batches.results(connection, status.batch.id, failed=failed) for failed in (True, False))
        rows = tuple(islice(chain.from_iterable(both), MAX_ROWS + 1))
    return BatchWithRows(status, rows[:MAX_ROWS], more=len(rows) > MAX_ROWS)
