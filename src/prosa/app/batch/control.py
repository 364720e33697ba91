"""Batches that were started: listing them, showing the progress of one, ending one (X29).

In: the place of the store and a name. Out: records. Nothing runs here.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from msgspec.structs import replace

from prosa.adapters.store import batches, leases
from prosa.adapters.store.waves import open_parts
from prosa.adapters.store.writer import is_alive, living, writer_of
from prosa.app.batch.backends import backend_of
from prosa.app.journal.history import reading_store
from prosa.records.batch import BatchCounts, BatchRecord, BatchStatus
from prosa.records.run import StorePlace, StoreServer
from prosa.runtime.digest import stamp
from prosa.runtime.errors import BatchRefused

if TYPE_CHECKING:
    from prosa.adapters.store.database import Database
    from prosa.adapters.store.writer import Work
    from prosa.app.options import Environment, Options


def batch_list(store: StorePlace) -> list[BatchStatus]:
    """Return all batches of a store, those that were made last first. Raises `StoreProblem`."""
    with reading_store(store) as connection:
        if connection is None:
            return []
        return list(statuses(store, connection, batches.batches(connection)))


def statuses(store: StorePlace, connection: Database, found: Iterable[BatchRecord]) -> Iterator[BatchStatus]:
    """Yield how far some batches of a store are."""
    for each in found:
        yield _status(store, each, batches.counts(connection, each.id, max(each.total, 0)))


def batch_status(store: StorePlace, name: str) -> BatchStatus:
    """Return one batch by its name, its id or the beginning of one. Raises `BatchRefused`, `StoreProblem`."""
    with reading_store(store) as connection:
        found = batches.batch_of(connection, name) if connection else []
        if connection is None or len(found) != 1:
            many = f": {', '.join(each.name for each in found)}" if found else ""
            message = f"several batches start with {name}{many}" if found else f"there is no batch {name[:60]!r}"
            raise BatchRefused(message, hint="prosa batch lists them")
        return _status(store, found[0], batches.counts(connection, found[0].id, max(found[0].total, 0)))


def known_batch(store: StorePlace, batch: str) -> BatchRecord | None:
    """Return the batch of an id, None where there is none yet. Raises `StoreProblem`."""
    with reading_store(store) as connection:
        found = batches.batch_of(connection, batch) if connection else []
        return next((each for each in found if each.id == batch), None)


def cancel_batch(store: StorePlace, name: str) -> BatchStatus:
    """End a batch: what it has is kept, and nothing of it is left to do. A process that is at it in a file is to be
    ended first; workers of a server end the rows under way.

    Raises `BatchRefused`, `StoreProblem`."""
    status = batch_status(store, name)
    if status.running and not isinstance(store, StoreServer):
        message = f"the batch {status.batch.name} runs in another process on {status.batch.host}"
        raise BatchRefused(message, hint="end that process: Ctrl-C lets the rows under way end")
    now = stamp(datetime.now(UTC))
    writer = writer_of(store)
    try:
        writer.do(_cancelled(store, status.batch.id, now)).result()
    finally:
        writer.release()
    return replace(status, batch=replace(status.batch, state="cancelled", ended=now))


def _cancelled(store: StorePlace, batch: str, now: str) -> Work[None]:
    def work(connection: Database) -> None:
        batches.set_state(batch, "cancelled", now)(connection)
        if isinstance(store, StoreServer):
            from prosa.adapters.store import queue

            queue.make_queue(connection)
            queue.drop(connection, batch)

    return work


def requeue_failed(store: StorePlace, name: str, kinds: Sequence[str]) -> tuple[BatchStatus, int]:
    """Return rows of a batch on a server that failed so wait again for any worker; gives how many. Raises
    `BatchRefused`, `StoreProblem`."""
    from prosa.adapters.store import queue

    status = batch_status(store, name)
    batch = status.batch
    if batch.options is None:
        raise BatchRefused(
            f"the batch {batch.name} was not started for several workers", hint="give its rows: --rows FILE"
        )

    def work(connection: Database) -> int:
        found = batches.begin_again(batch.id, kinds)(connection)
        if found:
            leases.open_for_work(batch.id, batch.options or "", turns=batch.state != "open")(connection)
            queue.make_queue(connection)
            numbers = list(leases.undone(connection, batch.id))
            queue.enqueue(connection, batch.id, [(number, number) for number in numbers])
        return found

    writer = writer_of(store)
    try:
        return status, writer.do(work).result()
    finally:
        writer.release()


async def cancel_waves(store: StorePlace, name: str, options: Options, environment: Environment) -> int:
    """Ask the services to cancel the requests of a batch that they have not started, and return the number of service
    batches. Raises `BatchRefused`, `StoreProblem`, `ProviderError`."""
    batch = batch_status(store, name).batch
    with reading_store(store) as connection:
        found = open_parts(connection, batch.id) if connection is not None else []
    sent = [each for each in found if each.remote]
    for backend in {each.backend for each in sent}:
        port = backend_of(backend, options, environment)
        try:
            for each in sent:
                if each.backend == backend and each.service != port.service:
                    raise BatchRefused(f"{each.remote} is at {each.service}, and {port.service} is used now")
                if each.backend == backend:
                    await port.cancel(each.remote)
        finally:
            await port.aclose()
    return len(sent)


def _status(store: StorePlace, batch: BatchRecord, counts: BatchCounts) -> BatchStatus:
    if isinstance(store, StoreServer):
        with reading_store(store) as connection:
            hosts = leases.hosts_at(connection, batch.id, living(store)) if connection and batch.state == "open" else ()
        return BatchStatus(batch, counts, bool(hosts), hosts)
    running = batch.state == "open" and is_alive(store, batch.holder)
    if batch.state == "open" and not running:
        batch = replace(batch, state="stopped", reason="its process ended for an unknown reason")
    return BatchStatus(batch, counts, running)
