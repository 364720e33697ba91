"""A batch on a server, where several workers may run its rows (X29).

In: a prepared batch, or a store in which other processes started some. Out: the progress. The process that starts a
batch keeps its inputs in the store and runs rows as any worker does. A worker runs the batches that it finds, where its
program is that of the batch and its settings allow it.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from decimal import Decimal
from functools import partial
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

import msgspec
from msgspec import Struct, field
from msgspec.structs import replace

from prosa.adapters.store import batches, leases
from prosa.adapters.store.writer import host_name, writer_of
from prosa.app.batch.prepare import AT_ONCE, Prepared, Subject, closure_of, subject_of
from prosa.app.batch.run import Agree, BatchEnd, BatchRun, OwnRows, agreed, at_once_here, held_alone
from prosa.app.batch.working import POLL, BatchSession, LeaseWorker, as_problem, lease_size, open_share, ranges
from prosa.app.journal.history import reading_store
from prosa.app.options import LIMITS, Environment, JournalOptions, Options, limits_in
from prosa.app.run.world import system_clock
from prosa.records.batch import BatchProgress, BatchRecord, BatchState, RowResult, SharedOptions
from prosa.records.run import StorePlace, StoreServer
from prosa.render.plain import safe
from prosa.runtime.budget import Ledger
from prosa.runtime.digest import as_json, stamp
from prosa.runtime.errors import BatchRefused, RunError, StoreProblem
from prosa.runtime.events import Listener, ignore
from prosa.runtime.messages import NANO, nano

if TYPE_CHECKING:
    from prosa.adapters.store.database import Database
    from prosa.adapters.store.writer import Work, Writer
    from prosa.records.batch import BatchCounts
    from prosa.runtime.ports import Clock, Provider

_CHUNK = 500
_BROKEN = "broken"

Opening = Callable[[Path], Environment]
"""The environment of a program."""


async def begin_batch(
    prepared: Prepared,
    *,
    listener: Listener = ignore,
    on_progress: Callable[[BatchProgress], None] | None = None,
    on_row: Callable[[RowResult], None] | None = None,
    listens: Callable[[int], Listener] | None = None,
    agree: Agree = agreed,
    provider: Provider | None = None,
    stop: asyncio.Event | None = None,
    clock: Clock | None = None,
) -> BatchEnd:
    """Run what is left of a batch, alone or with the workers of its server; one whose calls go to batches of a service
    has nothing to share. ``on_row`` hears of each row that ends here, ``on_progress`` of how far the batch is;
    ``listens`` gives the listener for the events of a row, by its number. Setting ``stop`` ends the batch, and rows
    under way get a moment to end. Raises `RunError` for what keeps it from running, such as `PriceUnknown`,
    `StoreProblem` and what ``agree`` raises."""
    alone = not isinstance(prepared.store, StoreServer) or not prepared.chosen.rounds.is_live
    rows = OwnRows(listener, provider) if alone else SharedRows(listener, provider)
    async with held_alone(prepared) if alone else _joined(prepared) as (writer, record):
        hears = on_progress or (lambda _: None), on_row or (lambda _: None), listens or (lambda _: ignore)
        run = BatchRun(prepared, record, writer, rows, *hears, stop, clock or system_clock())
        return await run.all(agree)


@asynccontextmanager
async def _joined(prepared: Prepared) -> AsyncIterator[tuple[Writer, BatchRecord]]:
    """Open the store, in which others may be at the batch too. Raises `StoreProblem`."""
    from prosa.adapters.store.queue import make_queue

    writer = writer_of(prepared.store)
    try:
        await writer.do(make_queue)
        yield writer, await writer.do(leases.join(prepared.batch))
    finally:
        await asyncio.to_thread(writer.release)


class SharedRows(Struct, eq=False):
    """The rows of a batch that other workers may be at too."""

    listener: Listener
    provider: Provider | None
    joined: bool = False
    told: bytearray = field(default_factory=bytearray)

    async def run(self, batch: BatchRun, counts: BatchCounts) -> None:
        """Run them with all who are at the batch; each process draws its own part of the budget."""
        from prosa.adapters.store.queue import LeaseQueue

        prepared, store, cap = batch.prepared, batch.prepared.store, batch.prepared.options.max_cost
        assert isinstance(store, StoreServer)
        if isinstance(cap, Ledger):
            raise BatchRefused("a ledger cannot be shared with other workers", hint="name an amount: max_cost")
        batch.progress.cap = cap
        if cap is not None:
            await batch.writer.do(batches.count_spent(batch.record.id, nano(Decimal(str(counts.cost)))))
        at_once = at_once_here(prepared.chosen.at_once, prepared.environment.notice)
        self.told = bytearray(state == batches.DONE for state in batch.states)
        shared = shared_options(prepared, self.provider)
        await asyncio.to_thread(_keep_inputs, batch)
        queue = LeaseQueue(store, batch.writer.holder, host_name())
        await queue.open()
        try:
            share_of = open_share(
                batch.record,
                shared,
                prepared.inputs.program,
                prepared.provider,
                writer=batch.writer,
                at_once=at_once,
                options=prepared.options,
                environment=prepared.environment,
                clock=batch.clock,
                listener=self.listener,
                provider=self.provider,
            )
            async with share_of as share:
                share.listens, share.on_row = batch.listens, partial(self._row, batch)
                await batch.writer.do(self._published(batch.record.id, shared, at_once))
                stop = batch.stop or asyncio.Event()
                worker = LeaseWorker(batch.writer, queue, at_once, batch.clock, stop, {batch.record.id: share})
                await self._work(batch, worker, share)
        finally:
            await queue.aclose()

    async def _work(self, batch: BatchRun, worker: LeaseWorker, share: BatchSession) -> None:
        """Work until the batch is over, or is to stop here."""

        async def watch() -> None:
            while (
                state := await batch.writer.do(close_finished(batch.record.id, worker.at_once, batch.clock))
            ).state == "open":
                if worker.stop.is_set():
                    batch.ended = batch.ended or "stopped"
                    return
                await self._show(batch, share)
                await worker.rest(POLL)
            batch.ended = batch.ended or share.ended or state.reason or ("cancelled" * (state.state == "cancelled"))

        await worker.work(watch)
        await self._tell_others(batch)

    async def _show(self, batch: BatchRun, share: BatchSession) -> None:
        """Report how far all workers are."""
        await batch.counts()
        batch.progress.here, batch.progress.since = share.progress.here, share.progress.since
        batch.progress.now = batch.clock.monotonic()
        batch.on_progress(batch.progress)

    def _row(self, batch: BatchRun, result: RowResult) -> None:
        self.told[result.row - 1] = 1
        batch.on_row(result)

    async def _tell_others(self, batch: BatchRun) -> None:
        """Tell of the rows that other workers ended."""

        def others() -> list[RowResult]:
            with reading_store(batch.prepared.store) as connection:
                if connection is None:
                    return []
                results = batches.results(connection, batch.record.id)
                return [result for result in results if not self.told[result.row - 1]]

        for result in await asyncio.to_thread(others):
            self._row(batch, result)

    def _published(self, batch: str, shared: SharedOptions, at_once: int) -> Work[None]:
        """Queue leases for the rows that have not finished, unless they are already queued: other workers run them."""
        from prosa.adapters.store import queue

        options = msgspec.json.encode(shared).decode()

        def work(connection: Database) -> None:
            record = locked_batch(connection, batch)
            self.joined = record.state == "open" and queue.waiting(connection, batch) > 0
            if self.joined:
                return
            if record.state != "done":
                batches.begin_again(batch, ("provider",))(connection)
            leases.open_for_work(batch, options, invalidate=True)(connection)
            queue.drop(connection, batch)
            numbers = list(leases.undone(connection, batch))
            queue.enqueue(connection, batch, ranges(numbers, lease_size(len(numbers), at_once)))

        return work

    def leaving(self, batch: BatchRun, state: BatchState) -> None:
        """Leave it to others: nothing is to be written."""
        del batch, state


def _keep_inputs(batch: BatchRun) -> None:
    """Keep the inputs of the rows that are wanted, so that any worker has them. Raises `StoreProblem`."""
    waiting: list[tuple[int, str, str]] = []
    size = 0
    for row in batch.waiting(None, frozenset()):
        waiting.append((row.number, json.dumps(row.id), as_json(row.input_value)))
        size += len(waiting[-1][2])
        if len(waiting) >= _CHUNK or size > 2**24:
            batch.writer.do(leases.put_items(batch.record.id, waiting[:])).result()
            waiting.clear()
            size = 0
    batch.writer.do(leases.put_items(batch.record.id, waiting)).result()


class BatchOutcome(Struct, frozen=True):
    """What a batch is now, and why it stopped."""

    state: BatchState
    reason: str


def locked_batch(connection: Database, batch: str) -> BatchRecord:
    """Return a batch, locked until the transaction ends. Raises `BatchRefused` if it was deleted."""
    text = f"SELECT id FROM batch WHERE id = ?{connection.locked}"  # noqa: S608 - a word of ours
    if connection.execute(text, (batch,)).fetchone() is None:
        raise BatchRefused(f"the batch {batch} is no longer in the store")
    return next(record for record in batches.batch_of(connection, batch) if record.id == batch)


def close_finished(batch: str, at_once: int, clock: Clock) -> Work[BatchOutcome]:
    """Return what a batch is; one whose rows are all over ends here, and rows that no lease holds get one."""
    from prosa.adapters.store import queue

    now = stamp(clock.now())

    def work(connection: Database) -> BatchOutcome:
        record = locked_batch(connection, batch)
        if record.state != "open" or record.total < 0 or queue.waiting(connection, batch):
            return BatchOutcome(record.state, record.reason or "")
        numbers = list(leases.undone(connection, batch))
        if numbers:
            queue.enqueue(connection, batch, ranges(numbers, lease_size(len(numbers), at_once)))
            return BatchOutcome("open", "")
        left = batches.counts(connection, batch, record.total).left
        state: BatchState = "stopped" if left else "done"
        leases.close_batch(batch, state, None, now)(connection)
        queue.drop(connection, batch)
        return BatchOutcome(state, "")

    return work


def shared_options(prepared: Prepared, provider: Provider | None) -> SharedOptions:
    """Return what other workers of a batch need to know: no key, and no address of a service."""
    options, chosen, cap = prepared.options, prepared.chosen, prepared.options.max_cost
    alone = "its replies are scripted" if options.script is not None else ""
    alone = alone or ("its model is on the machine that started it" if options.is_here else "")
    alone = alone or ("its provider is in the process that started it" if provider is not None else "")
    return SharedOptions(
        path=_below(Path(prepared.batch.file), Path.cwd()) if prepared.batch.file else "",
        model=None if alone else options.model,
        provider=options.provider,
        script=json.loads(prepared.batch.mapping).get("script", ""),
        cap=None if cap is None or isinstance(cap, Ledger) else int(cap / NANO),
        cap_per_row=None if chosen.max_cost_per_row is None else int(chosen.max_cost_per_row / NANO),
        rpm=chosen.rpm,
        tpm=chosen.tpm,
        max_failures=chosen.max_failures,
        rerun_in_doubt=bool(options.journal and options.journal.rerun_in_doubt),
        allow_cut=options.allow_cut,
        limits=limits_in(options),
        alone=alone,
    )


def shared_in(record: BatchRecord) -> SharedOptions:
    """Return what a batch in a store says of itself. Raises `BatchRefused` for what no Prosa wrote."""
    try:
        return msgspec.json.decode(record.options or "", type=SharedOptions)
    except (msgspec.DecodeError, RecursionError) as error:
        raise BatchRefused(f"its options are damaged: {error}") from None


def _below(path: Path, folder: Path) -> str:
    """Return a file as it is called below a folder, else its name alone."""
    return path.relative_to(folder).as_posix() if path.is_relative_to(folder) else path.name


class RowsWorker(Struct, frozen=True):
    """What a worker does: which batch alone, empty for all; how many rows at once; below which folder its programs
    are. ``options`` say which service it asks; what a row may do and cost is a matter of the batch. ``max_cost`` is the
    most that all its rows may cost, in US dollars. With ``until_empty`` it ends when no batch is left that it can run.
    """

    root: Path
    options: Options = Options()
    at_once: int = AT_ONCE
    batch: str = ""
    until_empty: bool = False
    max_cost: Decimal | None = None


async def work_batches(
    place: StorePlace,
    chosen: RowsWorker,
    environment: Opening,
    *,
    say: Callable[[str], None],
    stop: asyncio.Event,
    clock: Clock | None = None,
) -> str:
    """Take leases of batches until stopped or until the worker's own budget is spent, and return the reason. ``say``
    receives the batches that it runs, and those that it refuses with the reason. Raises `StoreProblem` where the store
    is no server or stays away."""
    if not isinstance(place, StoreServer):
        hint = "--store postgresql://HOST/DATABASE; one process at a time has the batches of a file"
        raise StoreProblem(f"a worker takes rows from a server, and {place} is a file", hint=hint)
    writer = writer_of(place)
    try:
        from prosa.adapters.store.queue import LeaseQueue, make_queue

        await writer.do(make_queue)
        queue = LeaseQueue(place, writer.holder, host_name())
        await queue.open()
        try:
            clock = clock or system_clock()
            worker = LeaseWorker(writer, queue, at_once_here(chosen.at_once, say), clock, stop)
            await _Finder(worker, chosen, environment, say).work()
            return worker.spent
        finally:
            await queue.aclose()
    finally:
        await asyncio.to_thread(writer.release)


class _Finder(Struct, eq=False):
    """Finds the batches that one worker can be at. ``known`` are those that it has looked at, by id and options;
    ``ledger`` is what the worker may spend."""

    worker: LeaseWorker
    chosen: RowsWorker
    environment: Opening
    say: Callable[[str], None]
    known: dict[str, str] = field(default_factory=dict)
    open: dict[str, AsyncExitStack] = field(default_factory=dict)
    ledger: Ledger | None = None

    async def work(self) -> None:
        """Work until the worker is stopped."""
        worker, cap = self.worker, self.chosen.max_cost
        worker.broken, self.ledger = self._broken, None if cap is None else Ledger(cap, whole=cap)
        try:
            await worker.work(self._watch)
        finally:
            for batch in list(self.open):
                await self._close(batch)

    async def _watch(self) -> None:
        while not self.worker.stop.is_set():
            await self._look()
            if self.chosen.until_empty and not self.worker.shares:
                return
            await self._close_finished()
            await self.worker.rest(POLL)

    async def _look(self) -> None:
        """Open what can be run here, and close what is over."""
        records = {item.id: item for item in await self.worker.writer.do(batches.open_batches) if self._is_meant(item)}
        for batch, share in list(self.worker.shares.items()):
            record = records.get(batch)
            if record is None or record.options != self.known[batch]:
                share.ended = share.ended or "over"
            if (record is None or share.ended in ("over", _BROKEN)) and not share.leases:
                await self._close(batch)
        for record in records.values():
            if record.id not in self.worker.shares and record.options and self.known.get(record.id) != record.options:
                self.known[record.id] = record.options
                await self._open(record)

    def _is_meant(self, record: BatchRecord) -> bool:
        name = self.chosen.batch
        return not name or record.name == name or record.id.startswith(name) or record.name.startswith(name)

    async def _open(self, record: BatchRecord) -> None:
        stack = AsyncExitStack()
        try:
            shared = shared_in(record)
            subject, options, environment = await asyncio.to_thread(self._subject, record, shared)
            script = subject.script
            share = open_share(
                record,
                shared,
                subject.program,
                script.provider if script is not None else None,
                writer=self.worker.writer,
                at_once=self.worker.at_once,
                options=options,
                environment=environment,
                clock=self.worker.clock,
            )
            opened = await stack.enter_async_context(share)
            if self.ledger is not None:
                await opened.keep_within(self.ledger)
            self.worker.shares[record.id] = opened
            self.worker.wake()
        except StoreProblem:
            raise
        except Exception as error:  # bad content in the store must not end a worker
            await stack.aclose()
            self._refuse(record, error)
            return
        self.open[record.id] = stack
        self.say(f"{safe(record.name)}: at work")

    def _refuse(self, record: BatchRecord, error: Exception) -> None:
        self.say(safe(f"{record.name}: not run here: {as_problem(error)}"))

    def _broken(self, share: BatchSession, error: Exception) -> None:
        """Leave a batch alone that cannot be run here."""
        if not share.ended:
            share.ended = _BROKEN
            self._refuse(share.record, error)

    def _subject(self, record: BatchRecord, shared: SharedOptions) -> tuple[Subject, Options, Environment]:
        """Return the program of a batch, as this machine has it. Raises `RunError` where it has another one or none."""
        if shared.alone:
            raise BatchRefused(shared.alone)
        if shared.model is not None and Options(model=shared.model).model_name is None:
            raise BatchRefused(f"its model {shared.model} is one that only its user may choose")
        path = self._path(shared)
        environment = self.environment(path)
        options = replace(
            self.chosen.options,
            model=shared.model,
            provider=shared.provider or self.chosen.options.provider,
            allow_cut=shared.allow_cut,
            max_cost=None,
            journal=JournalOptions("batch", self.worker.writer.place),
            **{name: shared.limits.get(name) for name in LIMITS},
        )
        subject = subject_of(path, shared.script, options, environment, named=False)
        here = as_json(closure_of(subject))
        if here != record.closure:
            raise BatchRefused(f"{path} is another version than that of the batch: {_changed(record.closure, here)}")
        if subject.program.model_name != record.model:
            asked = f"the batch asks {record.model}, and the settings here {subject.program.model_name}"
            raise BatchRefused(asked, hint="name the model where the batch is started: --model")
        if (environment.settings.history or "summary") == "off":
            raise BatchRefused('`history = "off"` stores nothing here, and a batch is stored')
        return subject, options, environment

    def _path(self, shared: SharedOptions) -> Path:
        """Return the file of a program below the folder of this worker. Raises `BatchRefused`."""
        root = self.chosen.root.resolve()
        below = PurePosixPath(shared.path)
        path = (root / below).resolve()
        if not shared.path or below.is_absolute() or not path.is_relative_to(root) or not path.is_file():
            raise BatchRefused(f"there is no program {shared.path or '?'} below {root}", hint="--root names the folder")
        return path

    async def _close_finished(self) -> None:
        """Close batches whose rows have all finished, even if the process that started them has exited."""
        for batch, share in list(self.worker.shares.items()):
            if share.leases or share.ended:
                continue
            try:
                await self.worker.writer.do(close_finished(batch, self.worker.at_once, self.worker.clock))
            except StoreProblem:
                raise
            except RunError as error:
                self._broken(share, error)

    async def _close(self, batch: str) -> None:
        self.worker.shares.pop(batch, None)
        stack = self.open.pop(batch, None)
        if stack is not None:
            await stack.aclose()


def _changed(before: str, now: str) -> str:
    old, new = dict(json.loads(before)), dict(json.loads(now))
    names = sorted(name for name in {*old, *new} if old.get(name) != new.get(name))
    return f"{', '.join(names[:5])} changed" if names else "the order of its imports changed"
