"""Batches that were begun: which there are, how far one is, ending it (X29).

In: the place of the store and a name. Out: records. Nothing runs here.
"""

from __future__ import annotations

from datetime import UTC, datetime

from msgspec.structs import replace

from prosa.adapters.store import batches
from prosa.adapters.store.holding import is_alive
from prosa.adapters.store.writer import writer_of
from prosa.app.journal.history import reading_store
from prosa.runtime.batches import BatchCounts, BatchRecord, BatchStatus
from prosa.runtime.errors import BatchRefused
from prosa.runtime.runs import StorePlace, stamp


def batch_list(store: StorePlace) -> list[BatchStatus]:
    """All batches of a store, those that were made last first. Raises `StoreProblem`."""
    with reading_store(store) as connection:
        if connection is None:
            return []
        return [
            _status(store, each, batches.counts(connection, each.id, max(each.total, 0)))
            for each in batches.batches(connection)
        ]


def batch_status(store: StorePlace, name: str) -> BatchStatus:
    """One batch by its name, its id or the beginning of one. Raises `BatchRefused`, `StoreProblem`."""
    with reading_store(store) as connection:
        found = batches.batch_of(connection, name) if connection else []
        if connection is None or len(found) != 1:
            many = f": {', '.join(each.name for each in found)}" if found else ""
            message = f"several batches begin with {name}{many}" if found else f"there is no batch {name[:60]!r}"
            raise BatchRefused(message, hint="prosa batch lists them")
        return _status(store, found[0], batches.counts(connection, found[0].id, max(found[0].total, 0)))


def known_batch(store: StorePlace, batch: str) -> BatchRecord | None:
    """The batch of an id, None where there is none yet. Raises `StoreProblem`."""
    with reading_store(store) as connection:
        found = batches.batch_of(connection, batch) if connection else []
        return next((each for each in found if each.id == batch), None)


def cancel_batch(store: StorePlace, name: str) -> BatchStatus:
    """Ends a batch, if no process is at it: what it has is kept, and nothing of it is left to do.

    Raises `BatchRefused`, `StoreProblem`."""
    status = batch_status(store, name)
    if status.running:
        message = f"the batch {status.batch.name} runs in another process on {status.batch.host}"
        raise BatchRefused(message, hint="end that process: Ctrl-C lets the rows under way end")
    now = stamp(datetime.now(UTC))
    writer = writer_of(store)
    try:
        writer.do(batches.set_state(status.batch.id, "cancelled", now)).result()
    finally:
        writer.release()
    return replace(status, batch=replace(status.batch, state="cancelled", ended=now))


def _status(store: StorePlace, batch: BatchRecord, counts: BatchCounts) -> BatchStatus:
    running = batch.state == "open" and is_alive(store, batch.holder)
    if batch.state == "open" and not running:
        batch = replace(batch, state="stopped", reason="its process ended, nobody knows why")
    return BatchStatus(batch, counts, running)
