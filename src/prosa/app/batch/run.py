"""Run the rows of a batch that are not over, and choose the service that takes its rounds (X7, X29).

In: a batch that is prepared. Out: its end, with every row in the store. Keys follow the rules of every call: that of
the service that the user configured, and no other.

The same call again resumes a batch: an answer in the store is not asked for again. One process at a time has the
batches of a file.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, suppress
from decimal import Decimal
from functools import partial
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Protocol, TypeAlias

from msgspec import Struct, field
from msgspec.structs import replace

from prosa.adapters.providers.anthropic_batches import AnthropicBatches
from prosa.adapters.providers.endpoint import DEFAULT_BASE_URL
from prosa.adapters.providers.open_files import limit_of_files, most_connections
from prosa.adapters.providers.openai_batches import OpenAIBatches
from prosa.adapters.providers.table import provider_row
from prosa.adapters.store import batches
from prosa.adapters.store.batches import AGAIN, BEGUN, FAILED
from prosa.adapters.store.rounds import open_parts
from prosa.adapters.store.runs import TakenOver, forget_batch
from prosa.adapters.store.writer import Writer, host_name, is_alive, writer_of
from prosa.app.batch.inputs import RowInput, Survey, survey
from prosa.app.batch.prepare import Prepared
from prosa.app.batch.rounds import Lines, ProviderBatchRounds, Stopped
from prosa.app.batch.row_runs import CRASHES, R, RowJob, RowRuns
from prosa.app.journal.history import past_runs
from prosa.app.journal.place import file_beside
from prosa.app.options import JournalOptions
from prosa.app.run.jobs import Driver, Progress, driving
from prosa.app.run.service import account_of
from prosa.app.run.world import kept_servers, known_prices
from prosa.app.runs import Outcome
from prosa.app.runs.engine import GRACE, run_source
from prosa.app.runs.record import Journals, words_of
from prosa.records.batch import (
    ALONE_AFTER,
    BatchCounts,
    BatchProgress,
    BatchRecord,
    BatchState,
    RowResult,
    row_kind,
)
from prosa.records.run import RunRecord, StorePlace
from prosa.runtime.budget import Budget, Ledger
from prosa.runtime.digest import stamp
from prosa.runtime.errors import BatchRefused, BudgetSpent, ProviderError, RunError, StoreProblem
from prosa.runtime.events import Listener
from prosa.runtime.execute import ExitStack
from prosa.runtime.journal import Waits
from prosa.runtime.messages import BATCHED, NANO, nano
from prosa.runtime.pacing import Gated, GateLimits, Gates
from prosa.runtime.program import reachable

if TYPE_CHECKING:
    from prosa.adapters.providers.table import ProviderRow
    from prosa.adapters.store.writer import Work
    from prosa.app.options import Environment, Options
    from prosa.records.batch import ProviderBatches
    from prosa.runtime.messages import ModelReply, ModelRequest
    from prosa.runtime.ports import Clock, OnText, Prices, Provider, ToolServers


BACKENDS = ("live", "openai-batch", "anthropic-batch")


class Nobody(Struct, frozen=True):
    """Stands where a provider does while no call is made."""

    async def complete(self, request: ModelRequest, on_text: OnText | None = None) -> ModelReply:
        """Raise: no call is made live."""
        del on_text
        raise AssertionError(f"{request.model_name} is asked in a round")

    async def aclose(self) -> None:
        """Do nothing."""


NOBODY = Nobody()


def backend_of(
    name: str, options: Options, environment: Environment, row: ProviderRow | None = None
) -> ProviderBatches:
    """Return the batches of a service; ``row`` is the provider that a document names. Raises `BatchRefused` for replies
    that are no service's, `ProviderError` without a key."""
    if options.script is not None or options.is_here or options.lacks_script:
        raise BatchRefused(f"--backend {name} uses a service, and --model names none")
    if name == "anthropic-batch":
        return AnthropicBatches(account_of("anthropic", options, environment, row))
    endpoint = account_of("openai", options, environment, row)
    return OpenAIBatches(endpoint, api=options.api or environment.settings.api or "chat")


def provider_batches(prepared: Prepared) -> ProviderBatches:
    """Return the batches that a batch of rows goes to."""
    return backend_of(prepared.chosen.rounds.backend, prepared.options, prepared.environment, prepared.provider)


def batch_service(prepared: Prepared) -> str:
    """Return the base URL whose prices hold for a batch, for a plan: without a key too."""
    try:
        return provider_batches(prepared).service
    except ProviderError:
        own = provider_row(prepared.chosen.rounds.backend.removesuffix("-batch"), {})
        return (own.base_url if own is not None else None) or DEFAULT_BASE_URL


def round_folder(prepared: Prepared) -> Path:
    """Return where requests stand until they are sent: beside the store, for this user alone."""
    beside = file_beside(prepared.store, prepared.environment.environ)
    return beside.with_name(f"{beside.name}.waves")


def turns_of(prepared: Prepared, prices: Prices) -> float | None:
    """Model calls of a run of the program, by earlier runs of this version; None where there are none."""
    past = past_runs(prepared.inputs.program, prepared.options.journal, prepared.environment, prices)
    return median(run.calls for run in past) if past else None


def require_few_turns(prepared: Prepared, prices: Prices) -> None:
    """Raise `BatchRefused` for a program that needs more rounds than it gets: each may take a day."""
    plan = prepared.chosen.rounds
    turns = None if plan.agreed else turns_of(prepared, prices)
    if turns is not None and turns > plan.most:
        message = f"a run of {prepared.inputs.program.name} takes {turns:g} model calls, by earlier runs, and each is a"
        message += f" wave that may take a day; {plan.most} are allowed"
        raise BatchRefused(message, hint=f"allow more with --waves {int(turns + 0.5)}, or continue with --yes")


MOST_AT_ONCE = 1_000
FEWEST_JUDGED = 20
"""Rows that are over before a share of failures stops a batch."""

DRAWN_AT_ONCE = 8
"""Calls for whose worst case money is drawn from the budget at a time."""

_CHUNK = 500


class BatchEnd(Struct, frozen=True):
    """What came of a call: the batch, how far it is now, why it stopped early, empty where it did not."""

    batch: BatchRecord
    store: StorePlace
    counts: BatchCounts
    reason: str = ""

    @property
    def ok(self) -> bool:
        """Return whether every row is done."""
        return not self.reason and self.counts.done == self.counts.total


Agree: TypeAlias = Callable[["Survey", "BatchCounts"], None]
"""Is asked before the first call; raises `RunError` to leave it."""


def agreed(summary: Survey, counts: BatchCounts) -> None:
    """Agree without a question."""
    del summary, counts


@asynccontextmanager
async def held_alone(prepared: Prepared) -> AsyncIterator[tuple[Writer, BatchRecord]]:
    """Open the store, in which this process has the batch. Raises `BatchesHeld`, `StoreProblem`."""
    writer = writer_of(prepared.store)
    try:
        hold = batches.hold(
            prepared.batch, lambda: writer.holder, host_name(), lambda holder: is_alive(writer.place, holder)
        )
        yield writer, await writer.do(hold)
    finally:
        writer.release()


class BatchRows(Protocol):
    """What runs the rows of a batch that are left: this process alone, or with the workers of a server."""

    async def run(self, batch: BatchRun, counts: BatchCounts) -> None:
        """Run them, until all are over or something stops the batch. Raises `RunError`."""
        ...

    def leaving(self, batch: BatchRun, state: BatchState) -> Work[None] | None:
        """Return what is written as this process leaves the batch."""
        ...


class BatchGrants(Struct):
    """The budget of a batch, of which this process alone draws parts: what it has drawn is spent where it dies."""

    writer: Writer
    batch: str
    cap: Decimal
    drawn: int = 0

    async def draw(self, wanted: Decimal) -> Decimal:
        """Draw money for some calls, else for the one that asks."""
        least = nano(wanted)
        work = batches.draw(self.batch, self.writer.holder, least, least * DRAWN_AT_ONCE, int(self.cap / NANO))
        amount = await self.writer.do(work)
        self.drawn += amount
        return amount * NANO


class BatchRun(Struct, eq=False):
    """One call for a batch. ``ended`` is why no further row begins; ``on_row`` hears of each row that ends here,
    ``on_progress`` of how far the batch is, ``listens`` gives the listener for the events of a row, by its number.
    ``fresh`` is false once an earlier call has looked at all rows."""

    prepared: Prepared
    record: BatchRecord
    writer: Writer
    rows: BatchRows
    on_progress: Callable[[BatchProgress], None]
    on_row: Callable[[RowResult], None]
    listens: Callable[[int], Listener]
    stop: asyncio.Event | None
    clock: Clock
    progress: BatchProgress = field(default_factory=BatchProgress)
    states: bytearray = field(default_factory=bytearray)
    fresh: bool = True
    ended: str = ""

    async def all(self, agree: Agree) -> BatchEnd:
        """Look at the rows, run those that are left, and say how far the batch is."""
        state: BatchState = "stopped"
        try:
            summary = await self._look()
            if self.prepared.chosen.rounds.is_live:
                await self._require_no_rounds()
            counts = await self.counts()
            agree(summary, counts)
            await self.rows.run(self, counts)
            counts = await self.counts()
            if not counts.left:
                state, self.ended = "done", ""
        except GeneratorExit:
            self.ended = "interrupted"
            if (leaving := self.rows.leaving(self, state)) is not None:
                self.writer.do(leaving)  # it is written as the writer is released
            raise
        except BaseException as error:
            self.ended = self.ended or words_of(error)
            await self._let_go(state)
            raise
        await self._let_go(state)
        return BatchEnd(replace(self.record, state=state), self.prepared.store, counts, self.ended)

    async def _look(self) -> Survey:
        """Look at all rows, where that was not done to its end before; those without a valid input fail here."""
        if self.record.total >= 0:
            self.fresh, summary = False, Survey(self.record.total)
        else:
            summary = await self._survey()
            self.record = replace(self.record, total=summary.total)
        retry, again = self.prepared.chosen.retry, self.record.state != "done"
        if retry:
            await self.writer.do(batches.begin_again(self.record.id, retry))
        self.states = await self.writer.do(
            lambda connection: batches.row_states(connection, self.record.id, summary.total)
        )
        if not again:
            self.states = self.states.replace(bytes((AGAIN,)), bytes((FAILED,)))
        self.progress.wanted = summary.total
        return summary

    async def _survey(self) -> Survey:
        waiting: list[RunRecord] = []
        journals, runs = self.journals(), RowRuns(self.record, self.states)

        def refused(row: RowInput) -> None:
            waiting.append(runs.refused(journals, self.job(row), "input", row.problem))
            if len(waiting) >= _CHUNK:
                self.writer.do(batches.put_rows(waiting[:])).result()
                waiting.clear()

        try:
            summary = await asyncio.to_thread(survey, self.prepared.inputs, refused, self.prepared.chosen.seed)
        except RunError:
            await self.writer.do(lambda connection: forget_batch(connection, self.record.id))
            raise
        await self.writer.do(batches.put_rows(waiting))
        await self.writer.do(batches.set_total(self.record.id, summary.total))
        return summary

    def journals(self, lines: Lines | None = None) -> Journals:
        """Return what keeps the runs of its rows."""
        prepared = self.prepared
        kind = RowRuns(self.record, self.states, lines, prepared.chosen.at_once > 1, self.fresh)
        options = prepared.options.journal or JournalOptions("batch")
        return Journals(options, prepared.environment, self.clock, kind, self.record.id)

    def job(self, row: RowInput) -> RowJob:
        """Return a row as a job."""
        prepared, most = self.prepared, self.prepared.chosen.max_cost_per_row
        about = str(row.number), prepared.inputs.program, row.input_value, prepared.provider
        return RowJob(*about, max_cost=most, number=row.number, id=row.id)

    async def _require_no_rounds(self) -> None:
        """Raise `BatchRefused` where calls are under way at a service: they would be paid twice."""
        parts = await self.writer.do(lambda connection: open_parts(connection, self.record.id))
        if parts:
            message = f"requests of this batch are under way at {parts[0].service}"
            hint = f"continue with --backend {parts[0].backend}, or end it: prosa batch {self.record.name} --cancel"
            raise BatchRefused(message, hint=hint)

    def waiting(self, only: frozenset[int] | None, but: frozenset[int]) -> Iterator[RowInput]:
        """Yield the rows that are not over, in their order."""
        chosen, drawn = self.prepared.chosen, self._drawn()
        wanted = (0, BEGUN, AGAIN)
        for row in self.prepared.inputs:
            if row.number > len(self.states):
                return
            if chosen.limit is not None and row.number > chosen.limit:
                return
            if self.states[row.number - 1] not in wanted or (drawn is not None and row.number not in drawn):
                continue
            if row.number in but or (only is not None and row.number not in only):
                continue
            yield row

    def _drawn(self) -> frozenset[int] | None:
        """Return the numbers of a sample; None for all rows."""
        sample, total = self.prepared.chosen.sample, len(self.states)
        if sample is None or sample >= total:
            return None
        return frozenset(random.Random(self.prepared.chosen.seed).sample(range(1, total + 1), sample))  # noqa: S311

    def hear_stop(self) -> None:
        """End the batch here after a stop."""
        if self.stop is not None and self.stop.is_set():
            self.ended = self.ended or "stopped"

    async def counts(self) -> BatchCounts:
        """Count the rows as the store has them, for the progress too."""
        counts = await self.writer.do(lambda connection: batches.counts(connection, self.record.id, len(self.states)))
        self.progress.done, self.progress.failed = counts.done, counts.failures
        self.progress.spent = Decimal(str(counts.cost))
        return counts

    async def _let_go(self, state: BatchState) -> None:
        """Let the next process take the batch."""
        with suppress(StoreProblem, TakenOver):  # the reason for the failed write is already reported
            if (leaving := self.rows.leaving(self, state)) is not None:
                await asyncio.shield(self.writer.do(leaving))


class OwnRows(Struct, eq=False):
    """The rows of a batch that this process has alone. ``spent_up`` says that the budget ended it."""

    listener: Listener
    provider: Provider | None
    grants: BatchGrants | None = None
    budget: Budget | None = None
    spent_up: bool = False
    passes: int = 0

    async def run(self, batch: BatchRun, counts: BatchCounts) -> None:
        """Run them: live, or in rounds through the batches of a service."""
        prepared, self.budget = batch.prepared, await self._budget(batch, counts)
        async with kept_servers(prepared.inputs.program, prepared.options, prepared.environment) as servers:
            if prepared.chosen.rounds.is_live:
                await self._pass(batch, servers, None)
                return
            async with self._rounds(batch, servers) as rounds:
                try:
                    await rounds.all()
                except Stopped:
                    batch.ended = batch.ended or "stopped"

    def leaving(self, batch: BatchRun, state: BatchState) -> Work[None]:
        """Let the batch go; what was drawn and not spent is there again."""
        back = 0
        if self.grants is not None and self.budget is not None:
            back = max(self.grants.drawn - nano(self.budget.ledger.spent), 0)
        ended = stamp(batch.clock.now())
        return batches.let_go(batch.record.id, batch.writer.holder, state, batch.ended or None, ended, back)

    async def _budget(self, batch: BatchRun, counts: BatchCounts) -> Budget | None:
        """Return the budget of the batch, of which earlier processes have spent, those without one too."""
        cap = batch.prepared.options.max_cost
        settings = batch.prepared.environment.settings
        batch.progress.cap = None if cap is None else cap.named if isinstance(cap, Ledger) else cap
        if cap is None:
            return None
        if isinstance(cap, Ledger):
            return Budget(known_prices(settings), cap, notice=batch.prepared.environment.notice)
        await batch.writer.do(batches.count_spent(batch.record.id, nano(Decimal(str(counts.cost)))))
        self.grants = BatchGrants(batch.writer, batch.record.id, cap)
        ledger = Ledger(Decimal(0), grants=self.grants, whole=cap)
        return Budget(known_prices(settings), ledger, notice=batch.prepared.environment.notice)

    async def _pass(self, batch: BatchRun, servers: ToolServers, lines: Lines | None) -> None:
        """Run all rows that are left, once."""
        prepared, chosen = batch.prepared, batch.prepared.chosen
        journals = batch.journals(lines)
        limits = GateLimits(at_once_here(chosen.at_once, prepared.environment.notice), chosen.rpm, chosen.tpm)
        gates = Gates(limits, batch.clock)
        opening = driving(
            replace(prepared.options, max_cost=None),
            prepared.environment,
            listener=self.listener,
            provider=self.provider if lines is None else NOBODY,
            progress=Progress(clock=batch.clock, whole=False),
            budget=self.budget if lines is None else None,
            gate=lambda provider, service: Gated(provider, gates, service),
            journals=journals,
            servers=servers,
        )
        async with opening as driver:
            if lines is None:
                await driver.require_prices([batch.job(RowInput(0, 0, ""))])
            batch.progress.since = batch.clock.monotonic()
            alone = await batch.writer.do(
                lambda connection: batches.often_crashed(connection, batch.record.id, ALONE_AFTER)
            )
            for only, but, at_once in ((alone, frozenset[int](), 1), (None, alone, limits.at_once)):
                if only is None or only:
                    source = _FileRows(self, batch, driver, batch.waiting(only, but))
                    await run_source(source, at_once, stop=batch.stop, grace=GRACE)
            batch.hear_stop()

    @asynccontextmanager
    async def _rounds(self, batch: BatchRun, servers: ToolServers) -> AsyncIterator[ProviderBatchRounds]:
        """Return the rounds of the batch, at the service that its backend names. Raises `PriceUnknown`,
        `BatchRefused`."""
        prepared, chosen = batch.prepared, batch.prepared.chosen
        prices = known_prices(prepared.environment.settings)
        async with ExitStack() as stack:
            port = provider_batches(prepared)
            stack.push_async_callback(port.aclose)
            if self.budget is not None or chosen.max_cost_per_row is not None:
                budget = self.budget or Budget(prices, Ledger(Decimal(0)))
                for program in reachable(prepared.inputs.program):
                    budget.require_price(program.model_name, port.service + BATCHED, program.parameters)
            require_few_turns(prepared, prices)
            yield ProviderBatchRounds(
                batch.record.id,
                chosen.rounds,
                port,
                round_folder(prepared),
                batch.clock,
                prices,
                prepared.environment.notice,
                batch.writer,
                partial(self._round_pass, batch, servers),
                batch.stop,
                self.budget,
                chosen.max_cost_per_row,
            )

    async def _round_pass(self, batch: BatchRun, servers: ToolServers, lines: Lines | None) -> None:
        """Run what is left now, once. Raises `Stopped` where no further round makes sense."""
        batch.ended, self.spent_up = "", False
        states = await batch.writer.do(
            lambda connection: batches.row_states(connection, batch.record.id, len(batch.states))
        )
        if self.passes:
            states = states.replace(bytes((AGAIN,)), bytes((FAILED,)))  # what failed here is not tried again here
            batch.states = states
        self.passes += 1
        await self._pass(batch, servers, lines)
        await batch.counts()
        if batch.ended and not self.spent_up:
            raise Stopped


class _FileRows(Struct, frozen=True):
    """The rows of a file that are not over, as a source of jobs."""

    rows: OwnRows
    batch: BatchRun
    driver: Driver
    waiting: Iterator[RowInput]

    async def next(self) -> RowJob | None:
        """Return the next row, unless the batch has ended."""
        row = None if self.batch.ended else next(self.waiting, None)
        return None if row is None else self.batch.job(row)

    async def run(self, job: RowJob, /) -> None:
        """Run a row, and count it. One whose calls wait for a round is not over. Raises `StoreProblem`."""
        batch = self.batch
        try:
            outcome = await self.driver.outcome(job, batch.listens(job.number))
        except Waits:
            return
        batch.hear_stop()
        error, progress = outcome.error, batch.progress
        if isinstance(error, BudgetSpent) and error.whole:
            self.rows.spent_up = self.rows.spent_up or not batch.ended
            batch.ended = batch.ended or error.message
            return
        if isinstance(error, StoreProblem):
            raise error
        result = row_result(outcome)
        progress.held = self.driver.budget.ledger.held if self.driver.budget is not None else Decimal(0)
        reason = row_ended(result, progress, batch.clock.monotonic(), batch.prepared.chosen.max_failures)
        batch.ended = batch.ended or reason
        batch.on_row(result)
        batch.on_progress(progress)


def at_once_here(wanted: int, notice: Callable[[str], None]) -> int:
    """Return how many rows run at once: fewer than are wanted where this process may not open so many files."""
    most, room = min(wanted, MOST_AT_ONCE), most_connections()
    if room < most:
        notice(
            f"note: {room} rows at once, and not {most:,}: this process may have {limit_of_files()} files open"
            " (`ulimit -n` raises that)"
        )
    return min(most, room)


def row_result(outcome: Outcome[R]) -> RowResult:
    """Return the result to report for a row that has ended."""
    job, error, summary = outcome.job, outcome.error, outcome.summary
    kind = None if error is None else "crashed" if isinstance(error, CRASHES) else row_kind(error)
    why = None if error is None else error.message
    calls = len(summary.answered) + len(summary.below)
    return RowResult(job.number, job.id, outcome.output, kind, why, outcome.cost, calls, summary.seconds)


def row_ended(result: RowResult, progress: BatchProgress, now: float, most: str) -> str:
    """Count a row that has ended; return why the batch stops by itself, empty where it does not: too many rows of this
    process failed."""
    failed = result.kind is not None
    progress.here += 1
    progress.done += not failed
    progress.failed += failed
    progress.failed_here += failed
    progress.now = now
    progress.spent += Decimal(str(result.cost or 0))
    if not failed or not _too_many(most, progress):
        return ""
    return f"{progress.failed_here:,} of {progress.here:,} rows failed"


def _too_many(most: str, progress: BatchProgress) -> bool:
    if most.endswith("%"):
        share = Decimal(most[:-1]) / 100
        return progress.here >= FEWEST_JUDGED and progress.failed_here > share * progress.here
    return progress.failed_here > int(most)
