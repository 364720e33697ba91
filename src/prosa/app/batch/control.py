"""What a user does with an existing batch: look at it, cancel it, run failed rows again, write its results (X29).

In: a store and the name of a batch. Out: counts, lines, or files of JSON lines, each whole or not at all. Results are
read from the store row by row, so that a million of them take no more memory than ten.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from prosa.adapters.files.write import file_digest, replace_with
from prosa.adapters.store import batches, leases
from prosa.adapters.store.rounds import open_parts
from prosa.adapters.store.writer import is_alive, living, writer_of
from prosa.app.batch.run import backend_of
from prosa.app.journal.history import reading_store
from prosa.records.batch import BatchCounts, BatchRecord, BatchStatus
from prosa.records.run import StorePlace, StoreServer
from prosa.runtime.digest import stamp
from prosa.runtime.errors import BatchRefused

if TYPE_CHECKING:
    from prosa.adapters.store.database import Database
    from prosa.adapters.store.writer import Work
    from prosa.app.options import Environment, Options
    from prosa.records.batch import RowResult


OVER = ("done", "cancelled")
"""States of a batch that has nothing left to cancel."""

_PIECE = 500


class BatchFiles(Struct, frozen=True):
    """The files of a batch: that of its results, and that of its failures where there are any."""

    results: Path
    failures: Path | None


def failures_path(output: Path) -> Path:
    """Return where the failures of results are written: `out.failures.jsonl` beside `out.jsonl`."""
    stem = output.name.removesuffix(".jsonl")
    return output.with_name(f"{stem}.failures.jsonl")


def require_own(output: Path, batch: BatchRecord | None) -> str:
    """Return the digest of a file of results as it may be replaced, empty where there is none. Raises `BatchRefused`
    for one that this batch did not write, or that was changed since, and for a device or a pipe, which could not be
    compared."""
    if output.exists() and not output.is_file():
        raise BatchRefused(f"{output} is not a regular file", hint="name one in its place")
    digest = file_digest(output)
    if digest and (batch is None or f"\n{output.absolute()} {digest}\n" not in f"\n{batch.written}\n"):
        message = f"{output} is there already, and is not what this batch wrote last"
        raise BatchRefused(message, hint="move it away, or name another file with --output")
    return digest


def write_results(
    store: StorePlace, batch: BatchRecord, output: Path, *, expected: str, unordered: bool = False
) -> BatchFiles:
    """Write what the rows gave, in their order or in that of their ends, and why others failed. Raises `FileChanged`
    where the file is not what it was when the batch began, `OSError`, `StoreProblem`."""
    with reading_store(store) as connection:
        if connection is None:
            raise BatchRefused(f"there is no store {store}")
        done = batches.results(connection, batch.id, by_time=unordered)
        digest = replace_with(output, _pieces(done), expect_digest=expected)
        failed = list(_first(batches.results(connection, batch.id, failed=True)))
        failures = failures_path(output)
        if failed:
            replace_with(failures, _pieces(batches.results(connection, batch.id, failed=True)))
        elif failures.exists():
            replace_with(failures, ())  # what failed before has been done since
    writer = writer_of(store)
    try:
        writer.do(batches.note_written(batch.id, str(output.absolute()), digest)).result()
    finally:
        writer.release()
    return BatchFiles(output, failures if failed else None)


def lines(
    store: StorePlace, batch: str, *, after: int = 0, until: int | None = None, unordered: bool = False
) -> Iterator[str]:
    """Yield the results of the rows that are done, in their order or that of their ends, as lines without line ends."""
    with reading_store(store) as connection:
        if connection is not None:
            for result in batches.results(connection, batch, after=after, until=until, by_time=unordered):
                yield line_of(result)


def row_results(store: StorePlace, batch: str, *, failed: bool = False) -> Iterator[RowResult]:
    """Yield the rows of a batch that are done, or those that failed, in their order."""
    with reading_store(store) as connection:
        if connection is not None:
            yield from batches.results(connection, batch, failed=failed)


def line_of(result: RowResult) -> str:
    """Return one row as a line of JSON."""
    return json.dumps(result.as_dict(), ensure_ascii=False)


def _pieces(results: Iterable[RowResult]) -> Iterator[bytes]:
    waiting: list[str] = []
    for result in results:
        waiting.append(line_of(result))
        if len(waiting) >= _PIECE:
            yield ("\n".join(waiting) + "\n").encode("utf-8", "backslashreplace")
            waiting.clear()
    if waiting:
        yield ("\n".join(waiting) + "\n").encode("utf-8", "backslashreplace")


def _first(results: Iterator[RowResult]) -> Iterator[RowResult]:
    for result in results:
        yield result
        return


def batch_list(store: StorePlace) -> list[BatchStatus]:
    """Return all batches of a store, those that were made last first. Raises `StoreProblem`."""
    with reading_store(store) as connection:
        if connection is None:
            return []
        return list(statuses(store, connection, batches.batches(connection)))


def statuses(store: StorePlace, connection: Database, records: Iterable[BatchRecord]) -> Iterator[BatchStatus]:
    """Yield how far some batches of a store are."""
    for record in records:
        yield _status(store, record, batches.counts(connection, record.id, max(record.total, 0)))


def batch_status(store: StorePlace, name: str) -> BatchStatus:
    """Return one batch by its name, its id or the beginning of one. Raises `BatchRefused`, `StoreProblem`."""
    with reading_store(store) as connection:
        records = batches.batch_of(connection, name) if connection else []
        if connection is None or len(records) != 1:
            many = f": {', '.join(record.name for record in records)}" if records else ""
            message = f"several batches start with {name}{many}" if records else f"there is no batch {name[:60]!r}"
            raise BatchRefused(message, hint="prosa batch lists them")
        return _status(store, records[0], batches.counts(connection, records[0].id, max(records[0].total, 0)))


def known_batch(store: StorePlace, batch: str) -> BatchRecord | None:
    """Return the batch of an id, None where there is none yet. Raises `StoreProblem`."""
    with reading_store(store) as connection:
        records = batches.batch_of(connection, batch) if connection else []
        return next((record for record in records if record.id == batch), None)


def cancel_batch(store: StorePlace, name: str) -> BatchStatus:
    """End a batch: what it has is kept, and nothing of it is left to do. One that is done or cancelled stays as it is.
    A process that is at it in a file is to be ended first; workers of a server end the rows under way.

    Raises `BatchRefused`, `StoreProblem`."""
    status = batch_status(store, name)
    if status.batch.state in OVER:
        return status
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
        count = batches.begin_again(batch.id, kinds)(connection)
        if count:
            leases.open_for_work(batch.id, batch.options or "", invalidate=batch.state != "open")(connection)
            queue.make_queue(connection)
            numbers = list(leases.undone(connection, batch.id))
            queue.enqueue(connection, batch.id, [(number, number) for number in numbers])
        return count

    writer = writer_of(store)
    try:
        return status, writer.do(work).result()
    finally:
        writer.release()


async def cancel_rounds(store: StorePlace, name: str, options: Options, environment: Environment) -> int:
    """Ask the services to cancel the requests of a batch that they have not started, and return the number of service
    batches. Raises `BatchRefused`, `StoreProblem`, `ProviderError`."""
    batch = batch_status(store, name).batch
    with reading_store(store) as connection:
        parts = open_parts(connection, batch.id) if connection is not None else []
    sent = [part for part in parts if part.remote]
    for backend in {part.backend for part in sent}:
        port = backend_of(backend, options, environment)
        try:
            for part in sent:
                if part.backend == backend and part.service != port.service:
                    raise BatchRefused(f"{part.remote} is at {part.service}, and {port.service} is used now")
                if part.backend == backend:
                    await port.cancel(part.remote)
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
