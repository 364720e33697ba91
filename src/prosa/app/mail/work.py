"""A worker of a mailbox: it runs a program for each message, whose payload is the input and whose sender gets the
output (L47, X29).

In: a program with a mailbox, what the user chose. Out: what became of each message, until the worker is stopped. A
message and the run that it starts end in one transaction: handled with the answer sent, or available again. An
interrupted run continues from its journal, so that nothing is asked or sent twice.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import suppress
from datetime import timedelta
from functools import partial
from typing import TYPE_CHECKING

from msgspec import Struct, field
from msgspec.structs import replace

from prosa.adapters.store import mail
from prosa.adapters.store.runs import TakenOver
from prosa.app.mail.post import LivingHolders, poll_seconds
from prosa.app.options import JournalOptions
from prosa.app.run.jobs import Driver, Progress, driving
from prosa.app.run.world import kept_servers, system_clock
from prosa.app.runs import Job, Outcome
from prosa.app.runs.engine import GRACE, run_source
from prosa.app.runs.record import JobJournal, Journals, kind_of, require_same, words_of
from prosa.data import Value
from prosa.runtime.digest import as_json, stamp
from prosa.runtime.errors import (
    AgreementRequired,
    BudgetSpent,
    InputRefused,
    LimitExceeded,
    NotResumed,
    OutputRefused,
    PriceUnknown,
    ProviderError,
    RunError,
    SandboxError,
    StoreProblem,
    TemplateRefused,
    ToolServerError,
)
from prosa.runtime.events import Listener, ignore
from prosa.runtime.mail import (
    MAX_ATTEMPTS,
    Delivery,
    MailRefused,
    MessageEnd,
    MessageRecord,
    Worked,
    WorkerEnd,
    payload_of,
    too_many_hops,
)
from prosa.runtime.pacing import Gated, GateLimits, Gates
from prosa.runtime.program import reachable

if TYPE_CHECKING:
    from prosa.adapters.store.database import Database
    from prosa.adapters.store.writer import AnyWriter, Work
    from prosa.app.options import Environment, Options
    from prosa.runtime.ports import Clock, Provider
    from prosa.runtime.program import Program

DOOR = "mail"
_OUTPUT = "output"
"""The path from which the answer of a run is sent: no call has it."""

_ANEW = (OutputRefused, LimitExceeded)
"""Failures that the same answers would lead to again: a further attempt begins from the beginning."""

_ELSEWHERE = (AgreementRequired, BudgetSpent, PriceUnknown, SandboxError, StoreProblem, ToolServerError)
"""What is no fault of a message, and would be the same with the next one."""


class WorkerOptions(Struct, frozen=True):
    """How a worker works: so many messages at once, in their order where it is one. ``until_empty`` ends it when
    nothing is left."""

    at_once: int = 1
    until_empty: bool = False


async def work_mail(
    program: Program,
    chosen: WorkerOptions,
    options: Options,
    environment: Environment,
    *,
    listener: Listener = ignore,
    on_message: Callable[[Worked], None] = lambda _: None,
    provider: Provider | None = None,
    stop: asyncio.Event | None = None,
    clock: Clock | None = None,
) -> WorkerEnd:
    """Handle messages until ``stop`` is set; those under way get a moment to end, and what is left is given back.
    Raises `RunError` for what keeps it from beginning."""
    clock = clock or system_clock()
    require_mailbox(program)
    journal = options.journal or JournalOptions(DOOR)
    journals = Journals(journal, environment, clock)
    journals.kind = runs = MessageRuns(clock, journals.writer_in_use)
    if journals.history == "off":
        raise MailRefused(
            'a worker stores its runs, and `history = "off"` stores nothing', hint="see docs/mailboxes.md"
        )
    gates = Gates(GateLimits(chosen.at_once), clock)
    async with (
        kept_servers(program, options, environment) as servers,
        driving(
            replace(options, journal=journal),
            environment,
            listener=listener,
            provider=provider,
            progress=Progress(clock=clock, whole=False),
            gate=lambda answers, service: Gated(answers, gates, service),
            journals=journals,
            servers=servers,
        ) as driver,
    ):
        await driver.require_prices([Job("", program, None)])
        working = _Working(program, chosen, driver, runs, on_message, stop or asyncio.Event(), clock)
        return await working.all()


def require_mailbox(program: Program) -> None:
    """Raise `MailRefused` for a program without a mailbox, and for one whose messages may not be kept."""
    name = program.file or program.name
    if program.mailbox is None:
        raise MailRefused(f"{name} has no mailbox", hint="write `mailbox: true` in its front matter")
    secret = next((reached for reached in reachable(program) if reached.classified), None)
    if secret is not None:
        message = f"{secret.file or secret.name} is confidential, and a mailbox is stored on disk"
        raise MailRefused(message, hint="leave `mailbox` out, or the classification")


class MessageRuns(Struct):
    """The runs that messages start. ``messages`` are those being handled, ``unsent`` the reason why an answer was not
    sent, until it is read."""

    clock: Clock
    writer: Callable[[], AnyWriter]
    messages: dict[str, MessageRecord] = field(default_factory=dict)
    unsent: dict[str, str] = field(default_factory=dict)

    async def begin(self, journals: Journals, job: Job, program: Program, kept: JobJournal) -> None:
        """Begin the run of a message, or resume the one that broke off with it; the message ends with it."""
        message = self.messages[job.name]
        name = message.run or mail.new_id()
        run = await journals.find(name)
        if run is not None:
            with suppress(NotResumed):
                require_same(run, program, job.input_value)
                if run.whole and run.state != "done":
                    kept.stored = await journals.resume(run, crashed=run.state == "open")
            if kept.stored is None:
                name = mail.new_id()
                message = self.messages[job.name] = replace(message, run=name)
                await self.writer().do(mail.moved_to(message))
        kept.acknowledge = partial(self._acknowledged, message, program)
        if kept.stored is None:
            kept.stored = await journals.begin(journals.new(job, program, name, name, input=message.payload))

    def error_of(self, error: BaseException) -> BaseException:
        """Return it as it is."""
        return error

    def kind_of(self, error: BaseException) -> str:
        """Return the word of `kind_of`."""
        return kind_of(error)

    async def require_acknowledged(self, job: str, error: RunError) -> None:
        """Acknowledge a message whose run failed before it began; one that is acknowledged stays as it is."""
        with suppress(StoreProblem):  # it is there again when this process has ended
            await self.writer().do(self._failed(self.messages[job], error))

    def _acknowledged(
        self, message: MessageRecord, program: Program, error: BaseException | None, output: Value
    ) -> Work[None]:
        return self._handled(message, program, output) if error is None else self._failed(message, error)

    def _handled(self, message: MessageRecord, program: Program, output: Value) -> Work[None]:
        now, run = stamp(self.clock.now()), message.run or ""
        handled, box = mail.handled(run, self._holder, now), program.mailbox
        if message.returns is None or box is None:
            return handled
        payload, failed = payload_of(Delivery(message.returns, program.name, _OUTPUT, as_json(output)))
        answer = MessageRecord(
            id=mail.new_id(),
            mailbox=message.returns,
            sender=program.name,
            time=now,
            payload=payload,
            thread=message.thread,
            origin_run=run,
            origin_path=_OUTPUT,
            returns=box.name,
            reply_to=message.id,
            failed=failed,
        )

        def work(database: Database) -> None:
            if mail.deliver(answer)(database) is None:
                self.unsent[message.id] = too_many_hops(message.hops + 1)
            handled(database)

        return work

    def _failed(self, message: MessageRecord, error: BaseException) -> Work[None]:
        now, run = stamp(self.clock.now()), message.run or ""
        if not counts(error):
            return mail.given_back(run, self._holder, now)
        final = isinstance(error, InputRefused | TemplateRefused)
        return mail.given_back(
            run, self._holder, now, error=words_of(error), final=final, anew=isinstance(error, _ANEW)
        )

    def _holder(self) -> str:
        return self.writer().holder


def counts(error: BaseException) -> bool:
    """Return whether an error counts against a message: it is not the fault of the machine, the service or the user."""
    if isinstance(error, ProviderError):
        return not (error.is_absent or error.kind == "auth")
    return isinstance(error, RunError) and not isinstance(error, _ELSEWHERE)


class _Working(Struct, eq=False):
    """One worker. ``busy`` counts the messages under way."""

    program: Program
    chosen: WorkerOptions
    driver: Driver
    runs: MessageRuns
    on_message: Callable[[Worked], None]
    stop: asyncio.Event
    clock: Clock
    busy: int = 0
    failed: Exception | None = None
    ended: WorkerEnd = field(default_factory=WorkerEnd)
    alive: LivingHolders | None = None
    poll: float = 0.0

    async def all(self) -> WorkerEnd:
        """Work until the worker is stopped, or an error stops it."""
        place = self.runs.writer().place
        self.alive, self.poll = LivingHolders(place, self.clock), poll_seconds(place)
        await run_source(self, self.chosen.at_once, stop=self.stop, grace=GRACE)
        if self.failed is not None:
            raise self.failed
        return self.ended

    async def next(self) -> MessageRecord | None:
        """Return the next message, as soon as there is one."""
        while not self.stop.is_set():
            try:
                record = await self._lease()
            except Exception as error:
                self._fail(error)
                return None
            if record is not None or (self.chosen.until_empty and not self.busy):
                return record
            await self._pause()
        return None

    async def run(self, message: MessageRecord, /) -> None:
        """Handle a message."""
        try:
            await self._handle(message)
        except Exception as error:
            self._fail(error)

    def _fail(self, error: Exception) -> None:
        """Stop for an error; messages under way get their moment to end in all the same."""
        self.failed = self.failed or error
        self.stop.set()

    async def _lease(self) -> MessageRecord | None:
        """Return the next message. What is under way counts from here on."""
        box, writer, now = self.program.mailbox, self.runs.writer(), self.clock.now()
        assert box is not None
        assert self.alive is not None
        since = None if box.expires is None else stamp(now - timedelta(seconds=min(box.expires, 1e9)))
        self.busy += 1
        try:
            work = mail.lease(mail.Lease(box.name, stamp(now), since=since), lambda: writer.holder, self.alive)
            records = await writer.do(work)
        finally:
            self.busy -= 1
        return records[0] if records else None

    async def _pause(self) -> None:
        """Wait a moment, or until it is stopped."""
        waits = (asyncio.ensure_future(self.stop.wait()), asyncio.ensure_future(self.clock.sleep(self.poll)))
        try:
            await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for wait in waits:
                wait.cancel()

    async def _handle(self, message: MessageRecord) -> None:
        self.runs.messages[message.id] = message
        self.busy += 1
        try:
            outcome = await self.driver.outcome(Job(message.id, self.program, message.value))
            if outcome.error is not None:
                await self.runs.require_acknowledged(message.id, outcome.error)
        finally:
            self.busy -= 1
            self.runs.messages.pop(message.id, None)
        self._ended(message, outcome)

    def _ended(self, message: MessageRecord, outcome: Outcome[Job]) -> None:
        error, summary = outcome.error, outcome.summary
        if isinstance(error, TakenOver):
            return  # it is another worker's by now
        if error is not None and not counts(error):
            if isinstance(error, BudgetSpent):
                self.ended.reason = error.message
                self.stop.set()
                return
            raise error
        final = isinstance(error, InputRefused | TemplateRefused) or message.attempts >= MAX_ATTEMPTS
        end: MessageEnd = "handled" if error is None else "dead" if final else "again"
        cost = summary.total_cost
        self.ended.handled += error is None
        self.ended.failed += error is not None
        self.ended.dead += end == "dead"
        worked = Worked(
            message,
            end,
            outcome.output,
            "" if error is None else error.message,
            self.runs.unsent.pop(message.id, ""),
            None if cost is None else float(cost),
            len(summary.answered) + len(summary.below),
            summary.seconds,
        )
        self.on_message(worked)
