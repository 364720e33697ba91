"""The mailboxes of one run, and of their user, in the store of runs (L47, X29).

In: a program and the journal of its run, or a store. Out: the port `Mail`, which sends at once and acknowledges what it
received with the result of the run; lists, messages, dead letters that are tried again. What a run that is only played
sends goes nowhere, and a test has mailboxes of its own, which end with it.

Looking leases nothing, and starts nothing.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, TypeVar

from msgspec import Struct
from msgspec.structs import replace

from prosa.adapters.store import mail
from prosa.adapters.store.mail import Lease, MemoryStore
from prosa.adapters.store.writer import living, writer_of
from prosa.app.journal.history import reading_store
from prosa.app.runs.record import JobJournal, Journals, words_of
from prosa.data import Value
from prosa.dialects.markdownlang.fields import USER
from prosa.records.run import StorePlace
from prosa.runtime.digest import as_json, stamp
from prosa.runtime.errors import RunError, StoreProblem
from prosa.runtime.mail import (
    MAX_WAIT,
    POLL_SECONDS,
    SERVER_POLL_SECONDS,
    BoxCounts,
    Delivery,
    Letter,
    MailRefused,
    MessageFilter,
    MessageRecord,
    OpenTickets,
    Wanted,
    address_of,
    payload_of,
)
from prosa.runtime.program import Program, reachable

if TYPE_CHECKING:
    from prosa.adapters.store.writer import Commit, Work
    from prosa.runtime.mail import Mail
    from prosa.runtime.ports import Clock


T = TypeVar("T")

_SEEN_SECONDS = 3.0


class Store(Protocol):
    """What writes a store: that of runs, or one in memory."""

    @property
    def holder(self) -> str:
        """Return the name of this process in it."""
        ...

    def do(self, work: Work[T]) -> Commit[T]:
        """Return what ``work`` gives, once it is committed."""
        ...


def poll_seconds(place: StorePlace) -> float:
    """Return how often who waits looks at a mailbox of that store."""
    return POLL_SECONDS if isinstance(place, Path) else SERVER_POLL_SECONDS


class LivingHolders(Struct):
    """Which processes write a store at ``place``: one that was seen there counts for a moment, any other is asked for
    anew."""

    place: StorePlace
    clock: Clock
    _known: Callable[[str], bool] | None = None
    _until: float = 0.0

    def __call__(self, name: str) -> bool:
        """Return whether the process of that name is there. Raises `StoreProblem`."""
        now = self.clock.monotonic()
        if self._known is None or now >= self._until or not self._known(name):
            self._known, self._until = living(self.place), now + _SEEN_SECONDS
        return self._known(name)


class StoredMail(Struct):
    """Meets the port `Mail` with a store. ``run`` is the run that sends and receives."""

    run: str
    store: Callable[[], Store]
    clock: Clock
    alive: Callable[[str], bool]
    poll: float = POLL_SECONDS

    async def send(self, letter: Letter) -> MessageRecord:
        """Put a message into its mailbox. Raises `MailRefused`, `StoreProblem`."""
        return await self.store().do(mail.send(replace(letter, run=self.run), self._now()))

    async def receive(self, wanted: Wanted, tickets: OpenTickets) -> Sequence[MessageRecord]:
        """Lease messages to the run. Where tickets are open it waits for what they stand for; else, if it is to wait,
        for the first message."""
        wait = wanted.wait if wanted.wait is not None else MAX_WAIT if tickets.awaited(wanted.sender) else 0
        until = self.clock.monotonic() + min(wait, MAX_WAIT)
        while tickets.awaited(wanted.sender) and (left := until - self.clock.monotonic()) > 0:
            await self._pause(tickets, left)
        while True:
            tickets.changed.clear()
            records = await self.store().do(self._lease(wanted))
            left = until - self.clock.monotonic()
            if records or left <= 0:
                return records
            await self._pause(tickets, min(left, self.poll))

    async def query(self, chosen: MessageFilter) -> Sequence[MessageRecord]:
        """Find messages."""
        return await self.store().do(lambda database: mail.messages(database, chosen))

    async def deliver(self, output: Delivery) -> None:
        """Leave the output of a call for this run."""
        payload, failed = payload_of(output)
        message = MessageRecord(
            id=mail.new_id(),
            mailbox=output.mailbox,
            sender=output.sender,
            time=self._now(),
            payload=payload,
            thread="",
            origin_run=self.run,
            origin_path=output.path,
            reply_to=output.path,
            reader=self.run,
            failed=failed,
        )
        await self.store().do(mail.deliver(message))

    async def give_back(self, below: str, reason: str) -> None:
        """Give back what a program of the run had received and failed with; it counts against the messages."""
        await self.store().do(mail.given_back(self.run, self._holder, self._now(), error=reason, below=below))

    async def held_again(self) -> None:
        """Take again what the run had, as it is resumed."""
        await self.store().do(mail.hold_again(self.run, self._holder, self._now()))

    def acknowledgement(self, error: BaseException | None, output: Value = None) -> Work[None]:
        """Return what becomes of the messages that the run has when it ends. One that failed by itself counts against
        them, one that was interrupted does not."""
        del output
        if error is None:
            return mail.handled(self.run, self._holder, self._now())
        why = words_of(error) if isinstance(error, RunError) else None
        return mail.given_back(self.run, self._holder, self._now(), error=why)

    async def acknowledge(self, error: BaseException | None) -> None:
        """Acknowledge the messages of a run without a journal."""
        with suppress(StoreProblem):  # messages that are not acknowledged are available again after this process ends
            await asyncio.shield(self.store().do(self.acknowledgement(error)))

    def _lease(self, wanted: Wanted) -> Work[list[MessageRecord]]:
        now = self.clock.now()
        since = None if wanted.expires is None else stamp(now - timedelta(seconds=min(wanted.expires, 1e9)))
        lease = Lease(wanted.box, stamp(now), self.run, wanted.path, wanted.most, wanted.room, wanted.sender, since)
        return mail.lease(lease, self._holder, self.alive)

    async def _pause(self, tickets: OpenTickets, seconds: float) -> None:
        """Wait until a ticket is there, and so many seconds at most."""
        tickets.changed.clear()
        waits = (asyncio.ensure_future(tickets.changed.wait()), asyncio.ensure_future(self.clock.sleep(seconds)))
        try:
            await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for wait in waits:
                wait.cancel()

    def _holder(self) -> str:
        return self.store().holder

    def _now(self) -> str:
        return stamp(self.clock.now())


class PlayedMail(Struct, frozen=True):
    """The mailboxes of a run that is only played: its results are recorded, and nothing goes anywhere."""

    async def send(self, letter: Letter) -> MessageRecord:
        """Raise `MailRefused`."""
        del letter
        raise MailRefused("a run that is only played sends nothing")

    async def receive(self, wanted: Wanted, tickets: OpenTickets) -> Sequence[MessageRecord]:
        """Return nothing."""
        del wanted, tickets
        return ()

    async def query(self, chosen: MessageFilter) -> Sequence[MessageRecord]:
        """Return nothing."""
        del chosen
        return ()

    async def deliver(self, output: Delivery) -> None:
        """Deliver nothing: what is received is recorded."""
        del output

    async def give_back(self, below: str, reason: str) -> None:
        """Give back nothing: nothing was received."""
        del below, reason


@asynccontextmanager
async def open_mail(
    program: Program, kept: JobJournal, journals: Journals, *, played: bool, private: bool
) -> AsyncIterator[Mail | None]:
    """Return the mailboxes of a run; None where no program of it has one. ``played`` says that its calls are answered
    from a recording, ``private`` that its mailboxes end with it. Raises `MailRefused` for what may not be kept."""
    programs = reachable(program)
    if not any(reached.mailbox for reached in programs):
        yield None
        return
    if played:
        yield PlayedMail()
        return
    if private:
        memory = MemoryStore()
        yield StoredMail(kept.run or mail.new_id(), lambda: memory, journals.clock, lambda _: True)
        return
    secret = next((reached for reached in programs if reached.classified), None)
    if secret is not None:
        message = f"{secret.file or secret.name} is confidential, and a mailbox is stored on disk"
        raise MailRefused(message, hint="leave `mailbox` out, or the classification")
    place = journals.writer_in_use().place
    alive, poll = LivingHolders(place, journals.clock), poll_seconds(place)
    stored = StoredMail(kept.run or mail.new_id(), journals.writer_in_use, journals.clock, alive, poll)
    if kept.stored is not None:
        kept.acknowledge = kept.acknowledge or stored.acknowledgement
        if kept.stored.begun:
            await stored.held_again()
        yield stored
        return
    try:
        yield stored
    except GeneratorExit:
        raise  # the run stops; its messages are available again after this process ends
    except BaseException as error:
        await stored.acknowledge(error)
        raise
    await stored.acknowledge(None)


def box_list(store: StorePlace) -> list[BoxCounts]:
    """Return the mailboxes of a store that hold messages, by name. Raises `StoreProblem`."""
    with reading_store(store) as database:
        return mail.boxes(database) if database else []


def message_list(store: StorePlace, chosen: MessageFilter) -> list[MessageRecord]:
    """Return the messages that are meant, the oldest first. Raises `StoreProblem`."""
    with reading_store(store) as database:
        return mail.messages(database, chosen) if database else []


def send_message(store: StorePlace, box: str, payload: Value) -> MessageRecord:
    """Return the user sends a message, to which answers go into their own mailbox. Raises `MailRefused`,
    `StoreProblem`."""
    to = address_of(box)
    letter = Letter(USER, USER, as_json(payload), "0", run=f"{USER}-{mail.new_id()}", to=to, allowed=(to,))
    return _written(store, mail.send(letter, stamp(datetime.now(UTC))))


def retry_message(store: StorePlace, name: str) -> MessageRecord:
    """Requeue a dead letter. Raises `MailRefused`, `StoreProblem`."""
    return _written(store, mail.retry(name, stamp(datetime.now(UTC))))


async def coming(store: StorePlace, chosen: MessageFilter, clock: Clock) -> AsyncIterator[MessageRecord]:
    """Yield the messages that are meant and come into a mailbox from now on, for ever. Raises `StoreProblem`."""
    place = await asyncio.to_thread(_last_place, store, chosen.mailbox or "")
    while True:
        await clock.sleep(poll_seconds(store))
        for record in await asyncio.to_thread(_after, store, chosen, place):
            place = max(place, record.place)
            yield record


def _last_place(store: StorePlace, box: str) -> int:
    with reading_store(store) as database:
        return mail.last_place(database, box) if database else 0


def _after(store: StorePlace, chosen: MessageFilter, place: int) -> list[MessageRecord]:
    with reading_store(store) as database:
        return mail.messages(database, replace(chosen, limit=None), after_place=place) if database else []


def _written(store: StorePlace, work: Work[MessageRecord]) -> MessageRecord:
    writer = writer_of(store)
    try:
        return writer.do(work).result()
    finally:
        writer.release()
