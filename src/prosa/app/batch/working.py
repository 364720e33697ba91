"""Rows that are leased from a server, as a source of jobs (X29).

In: batches that this process can run, a queue of leases. Out: rows that are over, each once; the others go back. Every
write shows the fencing token of its lease, so a worker that was given up writes nothing more.
"""

from __future__ import annotations

import asyncio
from collections import defaultdict, deque
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
from prosa.adapters.store.leases import LeasedRow
from prosa.adapters.store.runs import DamagedRecord, TakenOver
from prosa.adapters.store.writer import LATER, FencedWriter, living
from prosa.app.batch.row_runs import RowJob, RowRuns
from prosa.app.batch.run import row_ended, row_result
from prosa.app.options import Environment, JournalOptions, Options
from prosa.app.run.jobs import Driver, Progress, driving
from prosa.app.run.world import kept_servers, known_prices
from prosa.app.runs import Job
from prosa.app.runs.engine import GRACE, run_source
from prosa.app.runs.record import Journals
from prosa.records.batch import ALONE_AFTER, BatchProgress, RowResult
from prosa.runtime.budget import Budget, Budgeted, Ledger
from prosa.runtime.digest import stamp
from prosa.runtime.errors import BudgetSpent, RunError, StoreProblem
from prosa.runtime.events import Listener, ignore
from prosa.runtime.messages import NANO, nano
from prosa.runtime.pacing import WINDOW, Gated, GateLimits, Gates, paused

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

FEWEST_LEASES = 32
"""Leases of a batch at least, where it has so many rows: other workers may join at any time."""

TOGETHER = 64
"""Rows of one lease at most because so many run at once: a worker that runs fewer at once may take it."""

USED_WITHIN = 1.0
"""Seconds in which a permit is to be used; after them another one is asked for."""

T = TypeVar("T")


def lease_size(rows: int, at_once: int) -> int:
    """Return how many rows are one lease: those that run at once, which all end with the last call, more where there
    are many rows, fewer where there are few."""
    few = min(at_once, TOGETHER, rows // FEWEST_LEASES)
    return max(1, min(LONGEST_LEASE, max(rows // (SHARES * at_once), few)))


def ranges(numbers: Sequence[int], size: int) -> list[tuple[int, int]]:
    """Return leases of so many rows each: the first and the last number."""
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
            pace = await self.writer.do(work)
            if pace.wait:
                await self.clock.sleep(pace.wait)
            elif self.clock.monotonic() - asked <= USED_WITHIN:
                return pace.id

    def used(self, permit: str, tokens: int) -> None:
        """Count the tokens that a call took."""
        if self.tpm is not None:
            self.writer.do(leases.count_tokens(permit, tokens), within=LATER)


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
        """Return the name of what this process has of the budget."""
        return f"{self.writer.holder}:{self._name}"

    async def draw(self, wanted: Decimal) -> Decimal | None:
        """Draw money for one call; 0 where it does not fit now, None where nothing will come back."""
        alive = partial(living, self.writer.place)
        drawing = self.writer.do(leases.draw_part(self.batch, self.part, nano(wanted), int(self.cap / NANO), alive))
        try:
            amount = await asyncio.shield(drawing)
        except asyncio.CancelledError:
            drawing.add_done_callback(self._not_wanted)
            raise
        if amount is None:
            return None
        self.drawn += amount
        return amount * NANO

    def charged(self, unused: Decimal, cost: Decimal) -> None:
        """Give back what a call did not cost."""
        self.drawn -= nano(unused)
        self.writer.do(leases.charge_part(self.batch, self.part, nano(unused), nano(cost)), within=LATER)

    async def wait(self) -> None:
        """Wait a moment: calls of other processes may turn out cheaper."""
        with paused():
            await self.clock.sleep(POLL)

    def _not_wanted(self, drawing: Future[int | None]) -> None:
        """Give back an amount whose request was cancelled."""
        if not drawing.cancelled() and drawing.exception() is None and (amount := drawing.result()):
            self.writer.do(leases.charge_part(self.batch, self.part, amount, 0), within=LATER)


class BatchSession(Struct, eq=False):
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
    def job(self) -> Job:
        """Return a job like those of its rows."""
        most = self.options.cap_per_row
        return Job("", self.program, None, self.provider, max_cost=None if most is None else most * NANO)

    async def keep_within(self, ledger: Ledger) -> None:
        """Bound what this process may spend. Raises `PriceUnknown`."""
        prices = known_prices(self.environment.settings)
        self.own = Budget(prices, ledger, notice=self.environment.notice, of_worker=True)
        await replace(self.driver, budget=self.own).require_prices([self.job])

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
) -> AsyncIterator[BatchSession]:
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
        arguments = record, shared, program, row, environment, journal, driver, gates, pool
        share = BatchSession(*arguments, states=defaultdict(int), progress=progress)
        await driver.require_prices([share.job])
        progress.since = clock.monotonic()
        progress.cap = None if shared.cap is None else shared.cap * NANO
        try:
            yield share
        finally:
            if pool is not None:
                ending = leases.end_part(record.id, pool.part, share.money_back())
                await asyncio.shield(writer.do(ending))


class Slots:
    """How many rows run at a time; a row that runs alone has all slots."""

    def __init__(self, most: int) -> None:
        self.most = self.free = most
        self._turn = asyncio.Lock()
        self._changed = asyncio.Condition()

    @asynccontextmanager
    async def taken(self, wanted: int) -> AsyncIterator[None]:
        """Wait for so many slots, in the order in which they are asked for."""
        if self._turn.locked() or self.free < wanted:
            async with self._turn, self._changed:
                await self._changed.wait_for(lambda: self.free >= wanted)
                self.free -= wanted
        else:
            self.free -= wanted
        try:
            yield
        finally:
            self.free += wanted
            if self._turn.locked():  # by the one that waits for enough of them
                async with self._changed:
                    self._changed.notify_all()


class _Guarded(Struct, frozen=True):
    """A provider that sends no request once another worker may hold the lease."""

    provider: Provider
    check: Callable[[], Awaitable[None]]

    async def complete(self, request: ModelRequest, on_text: OnText | None = None) -> ModelReply:
        """Return one attempt."""
        await self.check()
        return await self.provider.complete(request, on_text)

    async def aclose(self) -> None:
        """Close the other one."""
        await self.provider.aclose()


class HeldLease(Struct, eq=False):
    """A lease that this process has. ``left`` counts its rows that are not over, ``beat`` tells other workers that it
    is worked at, until it is closed."""

    share: BatchSession
    lease: TakenLease
    driver: Driver
    runs: RowRuns
    beat: AsyncExitStack = field(default_factory=AsyncExitStack)
    left: int = 1
    again: bool = False

    @property
    def is_wanted(self) -> bool:
        """Return whether a further row of it may begin."""
        return not self.share.ended and not self.lease.lost


class LeasedJob(RowJob, frozen=True, kw_only=True):
    """A row of a lease, as the store has it."""

    held: HeldLease
    row_in_store: LeasedRow


class LeaseWorker(Struct, eq=False):
    """The rows of leases, as a source of jobs. ``shares`` are the batches by their ids; ``spent`` is why nothing more
    is taken where that is a matter of money. ``broken`` hears of a batch that cannot be run here, and why; without it
    that ends the worker."""

    writer: Writer
    queue: LeaseQueue
    at_once: int
    clock: Clock
    stop: asyncio.Event = field(default_factory=asyncio.Event)
    shares: dict[str, BatchSession] = field(default_factory=dict)
    broken: Callable[[BatchSession, Exception], None] | None = None
    spent: str = ""
    slots: Slots = field(default_factory=lambda: Slots(1))
    changed: asyncio.Event = field(default_factory=asyncio.Event)
    _held: list[HeldLease] = field(default_factory=list)
    _waiting: deque[LeasedJob] = field(default_factory=deque)
    _taking: asyncio.Lock = field(default_factory=asyncio.Lock)

    def __post_init__(self) -> None:
        self.slots = Slots(self.at_once)

    async def work(self, watch: Callable[[], Awaitable[None]]) -> None:
        """Run rows until ``watch`` returns, which it does after a stop; then give the leases back. After an error they
        go back when their signs of life end. Raises `StoreProblem`."""
        rows = asyncio.create_task(run_source(self, self.at_once, stop=self.stop, grace=GRACE))
        rows.add_done_callback(lambda _: self.stop.set())
        try:
            await watch()  # in this task: what it opens is closed here too
            self.stop.set()
            await rows
            for held in list(self._held):
                held.again = True
                await self._end(held)
        finally:
            rows.cancel()
            await asyncio.gather(rows, return_exceptions=True)
            for held in self._held:
                await held.beat.aclose()

    async def rest(self, seconds: float) -> None:
        """Wait until a lease has ended or the worker is to stop, not longer than some seconds."""
        waits = [asyncio.ensure_future(event.wait()) for event in (self.stop, self.changed)]
        try:
            await asyncio.wait(waits, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for wait in waits:
                wait.cancel()

    def wake(self) -> None:
        """End a rest: there may be something to do."""
        changed, self.changed = self.changed, asyncio.Event()
        changed.set()

    async def next(self) -> LeasedJob | None:
        """Return the next row, of a further lease where this process has none that waits. Raises `StoreProblem`."""
        while not self.stop.is_set():
            while self._waiting:
                job = self._waiting.popleft()
                if job.held.is_wanted:
                    return job
                await self._left(job.held)
            async with self._taking:
                if not self._waiting and not self.stop.is_set() and not await self._take():
                    await self.rest(POLL)
        return None

    async def run(self, job: LeasedJob, /) -> None:
        """Run a row, which is over then, or left."""
        held, alone = job.held, job.row_in_store.crashes >= ALONE_AFTER
        try:
            async with self.slots.taken(self.at_once if alone else 1):
                again = self.stop.is_set() or not held.is_wanted or await self._row(job)
            await self._left(held, again=again)
        except Exception as error:
            await self._failed(held, error)

    async def _take(self) -> bool:
        """Take a lease; give whether there was one."""
        names = [batch for batch, share in self.shares.items() if not share.ended]
        taken = await self.queue.take(names, 1) if names else []
        for lease in taken:
            share = self.shares.get(lease.key.batch)
            if share is None:  # it was closed meanwhile
                await self.queue.end(lease, again=True)
                continue
            held = self._held_lease(share, lease)
            self._held.append(held)
            share.leases += 1
            try:
                await held.beat.enter_async_context(self.queue.kept(lease))
                rows = await self.writer.do(leases.items_of(lease.key))
                held.left = len(rows)
                self._waiting.extend(self._job(held, row) for row in rows)
                if not rows:
                    await self._end(held)
            except Exception as error:
                await self._failed(held, error)
        return bool(taken)

    def _held_lease(self, share: BatchSession, lease: TakenLease) -> HeldLease:
        runs = RowRuns(share.record, share.states, fresh=lease.key.fencing_token == 1)
        journals = Journals(share.journal, share.environment, self.clock, runs, share.record.id)
        journals.write_with(FencedWriter(self.writer, lambda connection: leases.require_lease(connection, lease.key)))

        def gate(provider: Provider, service: str | None) -> Provider:
            paid = provider if share.own is None else Budgeted(provider, share.own, service)
            return _Guarded(Gated(paid, share.gates, service), lambda: self._require_held(lease))

        return HeldLease(share, lease, replace(share.driver, journals=journals, gate=gate), runs)

    def _job(self, held: HeldLease, row: LeasedRow) -> LeasedJob:
        like = held.share.job
        about = str(row.number), like.program, row.input_value, like.row
        return LeasedJob(*about, max_cost=like.max_cost, number=row.number, id=row.id, held=held, row_in_store=row)

    async def _row(self, job: LeasedJob) -> bool:
        """Run a row; give whether it is left. Raises `TakenOver`, `StoreProblem`."""
        held, row = job.held, job.row_in_store
        share, driver = held.share, held.driver
        share.states[job.number - 1] = BEGUN if row.begun else 0
        if row.problem:
            await held.runs.set_aside(driver.journals, job, "input", row.problem)
            return await self._over(share, RowResult(job.number, job.id, None, "input", row.problem))
        outcome = await driver.outcome(job, share.listens(job.number))
        error = outcome.error
        if isinstance(error, TakenOver | StoreProblem):
            raise error
        if isinstance(error, BudgetSpent) and error.of_worker:
            self.spent = error.message
            self.stop.set()
            return True
        if isinstance(error, BudgetSpent) and error.whole:
            await self._stop_batch(share, error.message)
            return True
        return await self._over(share, row_result(outcome))

    async def _over(self, share: BatchSession, result: RowResult) -> bool:
        """Count a row that is over; give that it is not left."""
        reason = row_ended(result, share.progress, self.clock.monotonic(), share.options.max_failures)
        if reason:
            await self._stop_batch(share, reason)
        share.on_row(result)
        return False

    async def _left(self, held: HeldLease, *, again: bool = True) -> None:
        """Count a row off its lease, which ends with the last one."""
        held.left -= 1
        held.again = held.again or again
        if not held.left:
            await self._end(held)

    async def _failed(self, held: HeldLease, error: Exception) -> None:
        """Leave a lease to others, without a word; another worker may have it already. Raises the error where that does
        not concern one batch alone."""
        held.lease.lost = True
        await self._left(held)
        if isinstance(error, TakenOver):
            return
        if self.broken is None or (isinstance(error, StoreProblem) and not isinstance(error, DamagedRecord)):
            raise error
        self.broken(held.share, error)

    async def _end(self, held: HeldLease) -> None:
        if held not in self._held:
            return
        self._held.remove(held)
        held.share.leases -= 1
        try:
            if not held.lease.lost:
                await self.queue.end(held.lease, again=held.again)
        finally:
            await held.beat.aclose()
            if held.again or not held.share.leases:
                self.wake()

    async def _stop_batch(self, share: BatchSession, reason: str) -> None:
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
        """Raise `TakenOver` for a lease that another worker holds. Waits while the store is unavailable."""
        if lease.lost:
            raise TakenOver("another worker has taken over the rows")
        if self.writer.away or not self.queue.is_heard(lease):
            await self.writer.do(lambda connection: leases.require_lease(connection, lease.key))


def as_problem(error: Exception) -> str:
    """Return why a batch is not run here, in one line."""
    if not isinstance(error, RunError):
        return f"its stored data is damaged: {type(error).__name__}: {error}"
    return "; ".join(filter(None, (error.message, error.hint)))
