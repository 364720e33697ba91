"""Rounds: the model calls of all rows go to a service in batches, at half the price; rows restart with the answers.

In: the interface of a service, a pass over the rows, the store. Out: why it is over. A pass runs every row as far as
its answers go; each call without one becomes a line of a file. The files are sent, waited for, and what comes is
written into the journals of the rows; then comes the next pass. What expired is asked for again by that pass.

Everything is stored before it is sent: the part that is about to be sent, then the id that the service gave. A process
that died between the two left a batch with an unknown id, which is looked up at the service before anything is sent.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from contextlib import suppress
from decimal import Decimal
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Literal, TypeAlias, TypeVar

from msgspec import Struct, field
from msgspec.structs import replace

from prosa.adapters.store import rounds
from prosa.records.batch import ProviderBatches, RemoteBatch, RoundPart, custom_id
from prosa.records.summary import cost_of
from prosa.runtime.budget import Budget, Ledger
from prosa.runtime.digest import request_digest, stamp
from prosa.runtime.errors import BatchRefused, BudgetSpent, ProviderError
from prosa.runtime.journal import Waits
from prosa.runtime.messages import BATCHED, NANO, nano

if TYPE_CHECKING:
    from io import BufferedWriter

    from prosa.adapters.store.writer import Writer
    from prosa.app.journal.stored import StoredJournal
    from prosa.records.batch import BackendName, LineResult
    from prosa.records.run import RunRecord
    from prosa.runtime.journal import Ask, ModelStep, ToolStep, Use
    from prosa.runtime.messages import ModelReply, ModelRequest
    from prosa.runtime.ports import Clock, Prices, ToolResult

T = TypeVar("T")

ROUNDS = 3
"""Default number of round trips of a batch."""

FIRST_POLL, LONGEST_POLL = 5.0, 60.0
"""Seconds between two looks at a batch of the service; they double."""

TRIES = 8
"""Attempts at one request to the interface of batches, where the failure passes."""

_CHUNK = 200
_FILE = 0o600

Then: TypeAlias = Literal["fail", "live"]


class RoundPlan(Struct, frozen=True):
    """How rows go through a service in rounds: ``most`` of them, ``then`` what becomes of rows that are not done.
    ``agreed`` says that the user knows how many turns a row takes."""

    backend: BackendName = "live"
    most: int = ROUNDS
    then: Then = "fail"
    agreed: bool = False

    @property
    def is_live(self) -> bool:
        """Return whether there are no rounds."""
        return self.backend == "live"


class Lines(Struct, eq=False):
    """The requests of one pass, in files of what fits into one batch of the service. ``closed`` is why no further one
    is taken, ``alone`` what a row may cost."""

    port: ProviderBatches
    folder: Path
    budget: Budget | None
    prices: Prices
    alone: Decimal | None = None
    closed: str = ""
    parts: list[OpenPart] = field(default_factory=list)
    _turn: asyncio.Lock = field(default_factory=asyncio.Lock)

    async def add(self, run: RunRecord, path: str, request: ModelRequest, spent: Decimal) -> None:
        """Take a request of a run that has ``spent`` so much. Raises `BudgetSpent`, and `ProviderError` where no
        further round is sent."""
        if self.closed:
            raise ProviderError(self.closed, kind="server", retryable=False)
        request, cost = await self._reserved(request, spent)
        line = self.port.line(custom_id(run.id, path), request)
        if len(line) + 1 > self.port.bounds.size:
            raise ProviderError(
                "the request is larger than a batch of the service", kind="bad-request", retryable=False
            )
        self._part_for(request.model_name, len(line) + 1).write(line, cost)

    async def _reserved(self, request: ModelRequest, spent: Decimal) -> tuple[ModelRequest, Decimal]:
        """Return the request with its bound, and what it may cost, which is held for it until its batch is over."""
        service = self.port.service + BATCHED
        if self.alone is not None:
            own = Budget(self.prices, Ledger(self.alone)).quote(request, service)
            if own is not None and spent + own.cost > self.alone:
                raise BudgetSpent(f"the next call of the row may cost more than what is left of ${self.alone}")
            request = request if own is None else own.request
        quote = self.budget.quote(request, service) if self.budget is not None else None
        if self.budget is None or quote is None:
            return request, Decimal(0)
        try:
            async with self._turn:  # what is drawn for one is there for the next
                await self.budget.reserve(quote, service)
        except BudgetSpent as error:
            error.later = True
            raise
        self.budget.charge(quote, quote.cost)
        return quote.request, quote.cost

    def _part_for(self, model: str, size: int) -> OpenPart:
        bounds = self.port.bounds
        latest = next((part for part in reversed(self.parts) if part.model == model), None)
        if latest is None or latest.lines >= bounds.lines or latest.size + size > bounds.size:
            latest = OpenPart(model, self.folder / f"{os.urandom(8).hex()}.jsonl")
            self.parts.append(latest)
        return latest

    def drop(self) -> None:
        """Delete the files and release the amounts reserved for requests that will not be sent."""
        for part in self.parts:
            part.drop()
            if self.budget is not None and not part.known:
                self.budget.ledger.charge(Decimal(0), -part.held)


class OpenPart(Struct, eq=False):
    """A file of requests that grows. It is ``known`` when the store knows that it is about to be sent."""

    model: str
    path: Path
    lines: int = 0
    size: int = 0
    held: Decimal = Decimal(0)
    known: bool = False
    _file: BufferedWriter | None = None

    def write(self, line: bytes, cost: Decimal) -> None:
        """Write a request."""
        if self._file is None:
            self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            opened = os.open(self.path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, _FILE)
            self._file = os.fdopen(opened, "wb")
        self._file.write(line + b"\n")
        self.lines, self.size, self.held = self.lines + 1, self.size + len(line) + 1, self.held + cost

    def close(self) -> None:
        """Everything is in the file."""
        if self._file is not None:
            self._file.close()
            self._file = None

    def drop(self) -> None:
        """Take the file away."""
        self.close()
        with suppress(OSError):
            self.path.unlink()


class WaitingCalls(Struct, frozen=True):
    """Is asked within the journal of a row whose calls go to a service in rounds: a call without an answer becomes a
    line, and waits."""

    journal: StoredJournal
    lines: Lines
    prices: Prices

    async def reply(self, step: ModelStep, ask: Ask) -> ModelReply:
        """Raise `Waits`, or `ProviderError` where the service refused the request."""
        del ask
        earlier = self.journal.known.get(step.path)
        refused = earlier is not None and earlier.finish == rounds.REFUSED
        if earlier is not None and refused and earlier.digest == request_digest(step.request):
            raise ProviderError(earlier.error or "the service refused it", kind="bad-request", retryable=False)
        spent = cost_of(self.journal.answered, self.prices) or Decimal(0)
        await self.lines.add(self.journal.run, step.path, step.request, spent)
        raise Waits

    async def result(self, step: ToolStep, use: Use) -> ToolResult:
        """Call the tool."""
        del step
        return await use()


class Stopped(Exception):
    """The user ended it while a service was at work."""


class ProviderBatchRounds(Struct, eq=False):
    """The rounds of one call for the batch of an id. ``run_pass`` runs all rows that are left:
    with lines to write to, or with None live."""

    batch: str
    plan: RoundPlan
    port: ProviderBatches
    folder: Path
    clock: Clock
    prices: Prices
    notice: Callable[[str], None]
    store: Writer
    run_pass: Callable[[Lines | None], Awaitable[None]]
    stop: asyncio.Event | None = None
    budget: Budget | None = None
    alone: Decimal | None = None
    sent: int = 0
    mine: set[str] = field(default_factory=set)

    async def all(self) -> None:
        """Send and fetch until no row waits any more. Raises `Stopped`, `ProviderError`, `BatchRefused`."""
        parts = await self._adopted()
        if parts:
            self.sent = 1
            await self._fetch(parts)
        while True:
            over = self.sent >= self.plan.most
            if over and self.plan.then == "live":
                await self.run_pass(None)
                return
            why = f"not done after {self.plan.most} waves" if over else ""
            lines = Lines(self.port, self.folder, self.budget, self.prices, self.alone, why)
            try:
                await self.run_pass(lines)
                if self._is_stopped():
                    raise Stopped
                if not lines.parts:
                    return
                self.sent += 1
                await self._fetch([await self._send(part) for part in lines.parts])
            finally:
                lines.drop()

    # What an earlier process left.

    async def _adopted(self) -> list[RoundPart]:
        """Return the parts that the service is processing, including those whose id a dead process did not record."""
        open_parts = await self.store.do(lambda connection: rounds.open_parts(connection, self.batch))
        parts: list[RoundPart] = []
        for part in open_parts:
            if part.backend != self.plan.backend or part.service != self.port.service:
                hint = f"continue with --backend {part.backend}, or end it: prosa batch NAME --cancel"
                message = f"requests of this batch are under way at {part.service} ({part.backend})"
                raise BatchRefused(message, hint=hint)
            remote = part.remote or await self._lost(part)
            if not remote:
                await self._end(part, "dropped", "it was never sent", Decimal(0))
                continue
            if not part.remote:
                await self.store.do(rounds.sent(part.id, remote))
            parts.append(replace(part, remote=remote, state="sent"))
        if parts:
            self.notice(f"note: {_count(parts)} sent before; waiting for the answers")
        return parts

    async def _lost(self, part: RoundPart) -> str:
        """Return the id of a batch that was started but not recorded; empty if there is none."""
        known = await self.store.do(rounds.known_remotes)
        for remote in await self._tried(lambda: self.port.find(part, known)):
            if remote.is_sure or await self._is_ours(remote):
                return remote.id
        return ""

    async def _is_ours(self, remote: RemoteBatch) -> bool:
        """Return whether a batch of which the service does not say whose it is answers calls of ours; it has to end
        first."""
        ended = await self._ended(remote.id)
        async for result in self.port.results(ended):
            return await self.store.do(partial(rounds.is_asked, name=result.custom_id))
        return False

    # Sending.

    async def _send(self, opened: OpenPart) -> RoundPart:
        opened.close()
        part = RoundPart(
            os.urandom(8).hex(),
            self.batch,
            self.sent,
            self.plan.backend,
            self.port.service,
            opened.model,
            opened.lines,
            nano(opened.held),
            stamp(self.clock.now()),
        )
        await self.store.do(rounds.put(part))
        opened.known = True
        self.mine.add(part.id)
        try:
            file = await self._tried(lambda: self.port.upload(part, opened.path))
            if file:
                await self.store.do(rounds.uploaded(part.id, file))
            remote = await self._created(part, opened.path, file)
        except ProviderError as error:
            if not error.retryable:  # otherwise it is unknown whether it was created
                await self._end(part, "dropped", error.message, Decimal(0))
            raise
        await self.store.do(rounds.sent(part.id, remote))
        opened.drop()
        self.notice(f"note: wave {self.sent}: {part.lines:,} requests sent as {remote}")
        return replace(part, remote=remote, state="sent", file=file)

    async def _created(self, part: RoundPart, lines: Path, file: str) -> str:
        """Create the batch. After an inconclusive failure, look for it before creating it again."""
        tried = 0
        while True:
            try:
                if tried and (lost := await self._lost(part)):
                    return lost
                return await self.port.create(part, lines, file)
            except ProviderError as error:
                tried += 1
                if not error.retryable or tried >= TRIES:
                    raise
                await self._pause(error.retry_after or FIRST_POLL)

    # Waiting and fetching.

    async def _fetch(self, parts: Iterable[RoundPart]) -> None:
        """Wait for all parts and write what came into the journals of the rows, that of each as soon as it is there."""
        waiting, seconds, cancelled = list(parts), FIRST_POLL, ""
        while waiting:
            for part in list(waiting):
                remote = await self._tried(partial(self.port.state, part.remote))
                if remote.state == "working":
                    continue
                waiting.remove(part)
                await self._taken(part, remote)
                cancelled = part.remote if remote.cancelled else cancelled
            if waiting:
                await self._pause(seconds)
                seconds = min(seconds * 2, LONGEST_POLL)
        if cancelled:
            message = f"the batch {cancelled} was cancelled at the service"
            raise ProviderError(message, kind="server", retryable=False, hint="the same command sends the rest again")

    async def _ended(self, remote: str) -> RemoteBatch:
        seconds = FIRST_POLL
        while (batch := await self._tried(partial(self.port.state, remote))).state == "working":
            await self._pause(seconds)
            seconds = min(seconds * 2, LONGEST_POLL)
        return batch

    async def _taken(self, part: RoundPart, remote: RemoteBatch) -> None:
        if remote.state == "refused":
            await self._end(part, "dropped", remote.reason, Decimal(0))
            message = f"the service refused the batch {part.remote}: {remote.reason or 'it does not say why'}"
            raise ProviderError(message, kind="bad-request", retryable=False, hint="see the limits of your account")
        cost, again = await self._tried(lambda: self._journaled(part, remote))
        reason = f"{again:,} are sent again" if again else None
        await self._end(part, "done", reason, cost)
        self.notice(f"note: {part.remote} is done{f': {reason}' if reason else ''}")

    async def _journaled(self, part: RoundPart, remote: RemoteBatch) -> tuple[Decimal, int]:
        """Write all results, and return what they cost and how many are to be sent again. Twice is once."""
        cost, seen, again = Decimal(0), 0, 0
        async for chunk in _chunks(self.port.results(remote)):
            chunk = [self._marked(result) for result in chunk]
            await self.store.do(rounds.journal(chunk))
            for result in chunk:
                seen, again = seen + 1, again + result.again
                cost += self._cost(part, result)
        return cost, again + max(part.lines - seen, 0)

    def _marked(self, result: LineResult) -> LineResult:
        if result.reply is None:
            return result
        return replace(result, reply=replace(result.reply, service=self.port.service + BATCHED))

    def _cost(self, part: RoundPart, result: LineResult) -> Decimal:
        if result.reply is None or self.budget is None:
            return Decimal(0)
        for name in (result.reply.model_name or "", part.model):
            cost = self.budget.price(name, result.reply.usage, self.port.service + BATCHED)
            if cost is not None:
                return cost
        return part.held * NANO / part.lines

    async def _end(self, part: RoundPart, state: str, reason: str | None, cost: Decimal) -> None:
        """End a part; what was held and not spent is free again, in the store where an earlier process had drawn it."""
        back, mine = max(part.held - nano(cost), 0), part.id in self.mine
        await self.store.do(rounds.end(part, state, stamp(self.clock.now()), reason, 0 if mine else back))
        if mine and self.budget is not None:
            self.budget.ledger.charge(Decimal(0), -back * NANO)

    async def _tried(self, ask: Callable[[], Awaitable[T]]) -> T:
        """Return what can be asked twice without harm, asked until it is answered."""
        tried, wait = 0, FIRST_POLL
        while True:
            try:
                return await ask()
            except ProviderError as error:
                tried += 1
                if not error.retryable or tried >= TRIES:
                    raise
                await self._pause(error.retry_after or wait)
                wait = min(wait * 2, LONGEST_POLL)

    async def _pause(self, seconds: float) -> None:
        """Wait. Raises `Stopped`, at once where the user ends it meanwhile."""
        if self._is_stopped():
            raise Stopped
        tasks = [asyncio.create_task(self.clock.sleep(seconds))]
        if self.stop is not None:
            tasks.append(asyncio.create_task(_until(self.stop)))
        try:
            await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for task in tasks:
                task.cancel()
        if self._is_stopped():
            raise Stopped

    def _is_stopped(self) -> bool:
        return self.stop is not None and self.stop.is_set()


async def _until(stop: asyncio.Event) -> None:
    await stop.wait()


async def _chunks(results: AsyncIterator[LineResult]) -> AsyncIterator[list[LineResult]]:
    waiting: list[LineResult] = []
    async for result in results:
        waiting.append(result)
        if len(waiting) >= _CHUNK:
            yield waiting
            waiting = []
    if waiting:
        yield waiting


def _count(parts: list[RoundPart]) -> str:
    lines = sum(part.lines for part in parts)
    return f"{lines:,} requests in {len(parts):,} {'batch' if len(parts) == 1 else 'batches'} of the service were"
