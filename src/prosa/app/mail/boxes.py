"""Mailboxes as their user sees them: which there are, what is in one, sending, and dead letters that are tried again
(L47).

In: the place of the store and what is asked. Out: records. Looking leases nothing, and starts nothing.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from msgspec.structs import replace

from prosa.adapters.store import mail
from prosa.adapters.store.writer import writer_of
from prosa.app.journal.history import reading_store
from prosa.app.mail.post import poll_seconds
from prosa.data import Value
from prosa.dialects.markdownlang.fields import USER
from prosa.records.run import StorePlace
from prosa.runtime.digest import as_json, stamp
from prosa.runtime.mail import BoxCounts, Letter, MessageFilter, MessageRecord, address_of

if TYPE_CHECKING:
    from prosa.adapters.store.writer import Work
    from prosa.runtime.ports import Clock


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
        for each in await asyncio.to_thread(_after, store, chosen, place):
            place = max(place, each.place)
            yield each


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
