"""A worker of batches on a server: it takes leases of rows, runs them through the one driver, and gives back what it
cannot end (X29).

In: batches that this process can run, a queue of leases. Out: rows that are over, each once. Every write shows the turn
of its lease, so a worker that was given up writes nothing more.
"""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from decimal import Decimal
from functools import partial
from os import urandom
from typing import TYPE_CHECKING, TypeVar

from msgspec import Struct, field
from msgspec.structs import replace

from prosa.adapters.store import leases
from prosa.adapters.store.batches import BEGUN
from prosa.adapters.store.holding import living
from prosa.adapters.store.leases import LeasedRow
from prosa.adapters.store.writer import FencedWriter
from prosa.adapters.store.writing import DamagedRecord, TakenOver
from prosa.app.batch.row_runs import RowJob, RowRuns
from prosa.app.batch.run import row_result, too_many
from prosa.app.options import Environment, JournalOptions, Options
from prosa.app.run.jobs import Driver, Progress, driving
from prosa.app.run.world import kept_servers, known_prices
from prosa.app.runs.engine import GRACE
from prosa.app.runs.job import Job, Outcome
from prosa.app.runs.record import Journals
from prosa.records.batch import ALONE_AFTER, BatchProgress, RowResult
from prosa.runtime.budget import Budget, Budgeted, Ledger
from prosa.runtime.deadlines import paused
from prosa.runtime.digest import stamp
from prosa.runtime.errors import BudgetSpent, RunError, StoreProblem
from prosa.runtime.events import Listener, ignore
from prosa.runtime.gate import WINDOW, Gated, GateLimits, Gates
from prosa.runtime.usage import NANO, nano

if TYPE_CHECKING:
    from concurrent.futures import Future

    from prosa.adapters.providers.table import ProviderRow
    from prosa.adapters.store.database import Database
    from prosa.adapters.store.queue import LeaseQueue, TakenLease
    from prosa.adapters.store.writer import Writer
    from prosa.records.batch import BatchRecord, SharedOptions
    from prosa.runtime.messages import ModelReply, ModelRequest
    from prosa.runtime.ports import Clock, OnText, Provider
    from prosa.runtime.program import Program

POLL = 1.0
"""Seconds after which a worker that has nothing to do looks again."""

LONGEST_LEASE = 200
"""Rows of one lease at most."""

SHARES = 8
"""Leases for each row at a time, where there are enough rows: those that work fast take more of them."""

USED_WITHIN = 1.0
"""Seconds in which a permit is to be used; after them another one is asked for."""

T = TypeVar("T")


def lease_size(rows: int, at_once: int) -> int:
    """Return how many rows are one lease."""
    return max(1, min(LONGEST_LEASE, rows // (SHARES * at_once)))


def ranges(numbers: Sequence[int], size: int) -> list[tuple[int, int]]:
    """Leases of so many rows each: the first and the last number."""
    return [(numbers[at], numbers[min(at + size, len(numbers)) - 1]) for at in range(0, len(numbers), size)]


class ServerPermits(Struct, frozen=True):
    """Calls and tokens a minute that all workers of a batch share."""

    writer: Writer
    batch: str
    clock: Clock
    rpm: int | None
    tpm: int | None

    async def permit(self, service: str, tokens: int) -> str:
        """Return a permit, as soon as there is one."""
        work = leases.take_pace(
            self.batch, service, rpm=self.rpm, tpm=self.tpm, tokens=tokens, window=WINDOW + USED_WITHIN
        )
        while True:
            asked = self.clock.monotonic()
            found = await self.writer.do(work)
            if found.wait:
                await self.clock.sleep(found.wait)
            elif self.clock.monotonic() - asked <= USED_WITHIN:
                return found.id

    def used(self, permit: str, tokens: int) -> None:
        """What the call took."""
        if self.tpm is not None:
            self.writer.do(leases.count_tokens(permit, tokens), soon=False)


class BatchPool(Struct):
    """The budget of a batch, of which several processes draw parts: a call draws its worst case, and what it did not
    take is there again for all. What a process has drawn and not given back is spent where it dies."""

    writer: Writer
    batch: str
    cap: Decimal
    clock: Clock
    drawn: int = 0
    _name: str = field(default_factory=lambda: urandom(4).hex())

    @property
    def part(self) -> str:
        """The name of what this process has of the budget."""
        return f"{self.writer.holder}:{self._name}"

    async def draw(self, wanted: Decimal) -> Decimal | None:
        """Money for one call; 0 where it does not fit now, None where nothing will come back."""
        alive = partial(living, self.writer.place)
        drawing = self.writer.do(leases.draw_part(self.batch, self.part, nano(wanted), int(self.cap / NANO), alive))
        try:
            found = await asyncio.shield(drawing)
        except asyncio.CancelledError:
            drawing.add_done_callback(self._not_wanted)
            raise
        if found is None:
            return None
        self.drawn += found
        return found * NANO

    def settled(self, unused: Decimal, cost: Decimal) -> None:
        """What was not taken is there again."""
        self.drawn -= nano(unused)
        self.writer.do(leases.settle_part(self.batch, self.part, nano(unused), nano(cost)), soon=False)

    async def wait(self) -> None:
        """Wait a moment: calls of other processes may turn out cheaper."""
        with paused():
            await self.clock.sleep(POLL)

    def _not_wanted(self, drawing: Future[int | None]) -> None:
        """Nobody is there any more who asked for it."""
        if not drawing.cancelled() and drawing.exception() is None and (found := drawing.result()):
            self.writer.do(leases.settle_part(self.batch, self.part, found, 0), soon=False)


class Share(Struct, eq=False):
    """One batch, as far as this process is at it. ``ended`` is why it takes no more of it; ``leases`` counts those that
    it has; ``own`` is what this process may spend, whatever the batch may."""

    record: BatchRecord
    options: SharedOptions
    program: Program
    provider: ProviderRow | None
    environment: Environment
    journal: JournalOptions
    driver: Driver
    gates: Gates
    pool: BatchPool | None
    states: defaultdict[int, int]
    progress: BatchProgress
    listens: Callable[[int], Listener] = lambda _: ignore
    on_row: Callable[[RowResult], None] = lambda _: None
    ended: str = ""
    leases: int = 0
    own: Budget | None = None

    @property
    def per_row(self) -> Decimal | None:
        """What one row may cost."""
        return None if self.options.cap_per_row is None else self.options.cap_per_row * NANO

    async def require_prices(self) -> None:
        """Raise `PriceUnknown` where one of the budgets cannot hold."""
        job = Job("", self.program, None, self.provider)
        await self.driver.require_prices([job])
        if self.per_row is not None:
            prices = known_prices(self.environment.settings)
            await replace(self.driver, budget=Budget(prices, Ledger(self.per_row))).require_prices([job])

    async def keep_within(self, ledger: Ledger) -> None:
        """What this process may spend. Raises `PriceUnknown`."""
        prices = known_prices(self.environment.settings)
        self.own = Budget(prices, ledger, notice=self.environment.notice, of_worker=True)
        await replace(self.driver, budget=self.own).require_prices([Job("", self.program, None, self.provider)])

    def money_back(self) -> int:
        """Return what was drawn and not spent."""
        if self.pool is None or self.driver.budget is None:
            return 0
        return max(self.pool.drawn - nano(self.driver.budget.ledger.spent), 0)


@asynccontextmanager
async def open_share(
    record: BatchRecord,
    shared: SharedOptions,
    program: Program,
    row: ProviderRow | None,
    *,
    writer: Writer,
    at_once: int,
    options: Options,
    environment: Environment,
    clock: Clock,
    listener: Listener = ignore,
    provider: Provider | None = None,
) -> AsyncIterator[Share]:
    """Return one batch at which this process works within the block; then what it drew and did not spend is there
    again. Raises `PriceUnknown`."""
    pool = budget = None
    if shared.cap is not None:
        cap = shared.cap * NANO
        pool = BatchPool(writer, record.id, cap, clock)
        ledger = Ledger(Decimal(0), whole=cap, pool=pool)
        budget = Budget(known_prices(environment.settings), ledger, notice=environment.notice)
    bounded = shared.rpm is not None or shared.tpm is not None
    permits = ServerPermits(writer, record.id, clock, shared.rpm, shared.tpm) if bounded else None
    journal = replace(options.journal or JournalOptions("batch"), rerun_in_doubt=shared.rerun_in_doubt)
    async with AsyncExitStack() as stack:
        driver = await stack.enter_async_context(
            driving(
                replace(options, max_cost=None, journal=None),
                environment,
                listener=listener,
                provider=provider,
                progress=Progress(clock=clock, whole=False),
                budget=budget,
                servers=await stack.enter_async_context(kept_servers(program, options, environment)),
            )
        )
        gates, progress = Gates(GateLimits(at_once), clock, permits), BatchProgress(record.total)
        given = record, shared, program, row, environment, journal, driver, gates, pool
        share = Share(*given, states=defaultdict(int), progress=progress)
        await share.require_prices()
        progress.since = clock.monotonic()
        progress.cap = None if shared.cap is None else shared.cap * NANO
        try:
            yield share
        finally:
            if pool is not None:
                ending = leases.end_part(record.id, pool.part, share.money_back())
                await asyncio.shield(writer.do(ending))


class Seats:
    """How many rows run at a time; a row that runs alone has all seats."""

    def __init__(self, most: int) -> None:
        self.most = self.free = most
        self._turn = asyncio.Lock()
        self._changed = asyncio.Condition()

    @asynccontextmanager
    async def taken(self, wanted: int) -> AsyncIterator[None]:
        """Wait for so many seats, in the order in which they are asked for."""
        async with self._turn, self._changed:
            await self._changed.wait_for(lambda: self.free >= wanted)
            self.free -= wanted
        try:
            yield
        finally:
            self.free += wanted
            async with self._changed:
                self._changed.notify_all()


class _Guarded(Struct, frozen=True):
    """A provider that asks nobody for a lease that may be another worker's."""

    provider: Provider
    check: Callable[[], Awaitable[None]]

    async def complete(self, request: ModelRequest, on_text: OnText | None = None) -> ModelReply:
        """Return one attempt."""
        await self.check()
        return await self.provider.complete(request, on_text)

    async def aclose(self) -> None:
        """Close the other one."""
        await self.provider.aclose()


class LeaseWorker(Struct, eq=False):
    """What takes leases and runs their rows in this process. ``shares`` are the batches by their ids; ``failed`` is why
    nothing more is taken, ``spent`` why that is a matter of money. ``broken`` hears of a batch that cannot go on here,
    and why; without it nothing can."""

    writer: Writer
    queue: LeaseQueue
    at_once: int
    clock: Clock
    stop: asyncio.Event = field(default_factory=asyncio.Event)
    shares: dict[str, Share] = field(default_factory=dict)
    failed: Exception | None = None
    broken: Callable[[Share, Exception], None] | None = None
    spent: str = ""
    seats: Seats = field(default_factory=lambda: Seats(1))
    _rows: dict[int, int] = field(default_factory=dict)
    _tasks: set[asyncio.Task[None]] = field(default_factory=set)
    _running: set[asyncio.Task[bool]] = field(default_factory=set)

    def __post_init__(self) -> None:
        self.seats = Seats(self.at_once)

    async def turn(self) -> bool:
        """Take leases while there is room for their rows, and return whether there was one. Raises `StoreProblem`."""
        found = False
        while not self.stop.is_set() and sum(self._rows.values()) < self.at_once:
            names = [batch for batch, share in self.shares.items() if not share.ended]
            taken = await self.queue.take(names, 1) if names else []
            for lease in taken:
                self._rows[lease.job.id] = lease.key.last - lease.key.first + 1
                self.shares[lease.key.batch].leases += 1
                task = asyncio.create_task(self._lease(self.shares[lease.key.batch], lease))
                self._tasks.add(task)
                task.add_done_callback(self._tasks.discard)
            if not taken:
                break
            found = True
        if self.failed is not None:
            raise self.failed
        return found

    async def rest(self, seconds: float) -> None:
        """Wait until a lease has ended or the worker is to stop, not longer than some seconds."""
        stopping = asyncio.create_task(self.stop.wait())
        try:
            await asyncio.wait({stopping, *self._tasks}, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
        finally:
            stopping.cancel()
        if self.failed is not None:
            raise self.failed

    async def leave(self, grace: float = GRACE) -> None:
        """Take nothing more, give the rows under way a moment to end, and give the leases back."""
        self.stop.set()
        if self._tasks:
            await asyncio.wait(set(self._tasks), timeout=grace)
        for each in list(self._running):
            each.cancel()
        if self._tasks:
            await asyncio.gather(*self._tasks, return_exceptions=True)

    async def drop(self) -> None:
        """End everything at once; leases go back when nobody hears of them any more."""
        for each in (*self._running, *self._tasks):
            each.cancel()
        await asyncio.gather(*self._running, *self._tasks, return_exceptions=True)

    async def _lease(self, share: Share, lease: TakenLease) -> None:
        try:
            async with self.queue.kept(lease):
                rows = await self.writer.do(leases.items_of(lease.key))
                self._rows[lease.job.id] = len(rows)
                again = await self._all(share, lease, rows)
                await self.queue.end(lease, again=again)
        except TakenOver:
            return  # another worker goes on with it
        except Exception as error:
            if self.broken is None or (isinstance(error, StoreProblem) and not isinstance(error, DamagedRecord)):
                self.failed = self.failed or error
            else:
                self.broken(share, error)
        finally:
            share.leases -= 1
            self._rows.pop(lease.job.id, None)

    async def _all(self, share: Share, lease: TakenLease, rows: Sequence[LeasedRow]) -> bool:
        """Run the rows of a lease, and return whether some are left."""
        runs = RowRuns(share.record, share.states)
        journals = Journals(share.journal, share.environment, self.clock, runs, share.record.id)
        journals.write_with(FencedWriter(self.writer, lambda connection: leases.require_lease(connection, lease.key)))

        def gate(provider: Provider, service: str | None) -> Provider:
            paid = provider if share.own is None else Budgeted(provider, share.own, service)
            return _Guarded(Gated(paid, share.gates, service), lambda: self._require_held(lease))

        driver = replace(share.driver, journals=journals, gate=gate)
        tasks = [asyncio.create_task(self._row(share, lease, each, driver, runs)) for each in rows]
        self._running.update(tasks)
        try:
            found = await asyncio.gather(*tasks, return_exceptions=True)
        finally:
            for each in tasks:
                each.cancel()
            self._running.difference_update(tasks)
        for one in found:
            if isinstance(one, Exception):
                raise one
        return any(one is not False for one in found)

    async def _row(self, share: Share, lease: TakenLease, item: LeasedRow, driver: Driver, runs: RowRuns) -> bool:
        """Run a row, and return whether it is left."""
        async with self.seats.taken(self.at_once if item.crashes >= ALONE_AFTER else 1):
            if self.stop.is_set() or share.ended or lease.lost:
                return True
            share.states[item.number - 1] = BEGUN if item.begun else 0
            about = str(item.number), share.program, item.given, share.provider
            job = RowJob(*about, max_cost=share.per_row, number=item.number, id=item.id)
            if item.problem:
                await runs.set_aside(driver.journals, job, "input", item.problem)
                result = RowResult(item.number, item.id, None, "input", item.problem, None, 0, 0.0)
                return await self._over(share, lease, result)
            return await self._heard(share, lease, await driver.outcome(job, share.listens(item.number)))

    async def _heard(self, share: Share, lease: TakenLease, outcome: Outcome[RowJob]) -> bool:
        """Count a row that has ended, and return whether the batch is left."""
        error = outcome.error
        if isinstance(error, TakenOver | StoreProblem):
            lease.lost = True
            raise error
        if isinstance(error, BudgetSpent) and error.of_worker:
            self.spent = error.message
            self.stop.set()
            return True
        if isinstance(error, BudgetSpent) and error.whole:
            await self._stop_batch(share, error.message)
            return True
        return await self._over(share, lease, row_result(outcome))

    async def _over(self, share: Share, lease: TakenLease, result: RowResult) -> bool:
        """Count a row that is over, and return that the batch is not left."""
        if lease.job.id in self._rows:
            self._rows[lease.job.id] -= 1
        progress = share.progress
        progress.here += 1
        progress.failed_here += result.kind is not None
        progress.now = self.clock.monotonic()
        if result.kind is not None and too_many(share.options.max_failures, progress):
            await self._stop_batch(share, f"{progress.failed_here:,} of {progress.here:,} rows failed")
        share.on_row(result)
        return False

    async def _stop_batch(self, share: Share, reason: str) -> None:
        """No worker begins a further row of a batch."""
        if share.ended:
            return
        share.ended = reason
        from prosa.adapters.store import queue

        now = stamp(self.clock.now())

        def work(connection: Database) -> None:
            if leases.close_batch(share.record.id, "stopped", reason, now)(connection):
                queue.drop(connection, share.record.id)

        await self.writer.do(work)

    async def _require_held(self, lease: TakenLease) -> None:
        """Raise `TakenOver` for a lease that another worker has. Nobody is asked while the store is away."""
        if lease.lost:
            raise TakenOver("another worker goes on with the rows")
        if self.writer.away or not self.queue.is_heard(lease):
            await self.writer.do(lambda connection: leases.require_lease(connection, lease.key))


def as_problem(error: Exception) -> str:
    """Return why a batch is not run here, in one line."""
    if not isinstance(error, RunError):
        return f"what the store has of it is damaged: {type(error).__name__}: {error}"
    return "; ".join(filter(None, (error.message, error.hint)))
