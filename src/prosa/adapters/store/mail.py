"""The mailboxes in the store: messages, their holders and their results (L47, X29).

In: records. Out: pieces of work for the writer, and what they give. A message is leased to a run, and acknowledged with
its result: if its process dies, the next one takes it over, and later writes of an older holder are ignored.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from os import urandom
from typing import TYPE_CHECKING, TypeVar

from msgspec import Struct, convert
from msgspec.structs import astuple, replace

from prosa.adapters.store.database import deferred
from prosa.adapters.store.opening import open_memory
from prosa.adapters.store.runs import stored
from prosa.adapters.store.writer import Commit
from prosa.data import Value
from prosa.runtime.errors import RunError
from prosa.runtime.mail import (
    ENVELOPE,
    MAX_ATTEMPTS,
    MAX_HOPS,
    BoxCounts,
    Letter,
    MailRefused,
    MessageFilter,
    MessageRecord,
    require_size,
    too_many_hops,
)

if TYPE_CHECKING:
    from prosa.adapters.store.database import Database

T = TypeVar("T")

COLUMNS = MessageRecord.__struct_fields__

_SELECT = f"SELECT {', '.join(COLUMNS)} FROM message"  # noqa: S608 - names of ours
_INSERT = f"INSERT INTO message ({', '.join(COLUMNS)}) VALUES ({', '.join('?' * len(COLUMNS))})"  # noqa: S608
_LEASE = (
    "UPDATE message SET state = 'leased', run = ?, lease_path = ?, holder = ?, leased = ?, attempts = attempts + 1,"
    " ended = NULL, error = NULL WHERE id = ? AND state = 'new'"
)
_GIVE_BACK = (
    "UPDATE message SET state = ?, error = ?, ended = ?, holder = '', attempts = ?"
    " WHERE id = ? AND state = 'leased' AND holder = ?"
)
_ID_BYTES = 8
_AT_ONCE = 100
"""Messages that are looked at for one lease."""


class Lease(Struct, frozen=True):
    """What is asked of a mailbox, for the call ``path`` of a ``run``; both are "" for runs that messages start. At most
    ``most`` messages, and together at most ``room`` bytes, the first one always. What came before ``since`` has
    waited too long."""

    mailbox: str
    now: str
    run: str = ""
    path: str = ""
    most: int = 1
    room: int | None = None
    sender: str | None = None
    since: str | None = None


def new_id() -> str:
    """Return an id for a message, or for a run that one starts."""
    return urandom(_ID_BYTES).hex()


@deferred
def send(database: Database, letter: Letter, now: str) -> MessageRecord:
    """Put a message into a mailbox; the one that the same call of the same run has put there before is given again.
    Raises `MailRefused` for an address that is not allowed, and for one hop too many."""
    known = _of_origin(database, letter.run, letter.path)
    if known is not None:
        return known
    require_size(letter.payload)
    answered = _received(database, letter)
    to = _address(letter, answered)
    hops, thread = _behind(database, letter.run)
    if hops > MAX_HOPS:
        raise MailRefused(too_many_hops(hops))
    name = new_id()
    message = MessageRecord(
        id=name,
        mailbox=to,
        sender=letter.program,
        time=now,
        payload=letter.payload,
        thread=answered.thread if answered is not None else thread or name,
        origin_run=letter.run,
        origin_path=letter.path,
        returns=letter.mailbox or None,
        reply_to=letter.reply_to,
        hops=hops,
    )
    return _put(database, message)


@deferred
def deliver(database: Database, message: MessageRecord) -> MessageRecord | None:
    """Put a message of the runtime into a mailbox: an answer, or what a ticket stands for. The one that was there
    before is given again; None for one hop too many."""
    known = _of_origin(database, message.origin_run, message.origin_path)
    if known is not None:
        return known
    hops, thread = _behind(database, message.origin_run)
    if message.reader is None and hops > MAX_HOPS:
        return None
    hops = 0 if message.reader is not None else hops
    return _put(database, replace(message, hops=hops, thread=message.thread or thread or message.id))


def _put(database: Database, message: MessageRecord) -> MessageRecord:
    """Behind all that are in the mailbox."""
    text = "SELECT COALESCE(MAX(place), 0) + 1 FROM message WHERE mailbox = ?"
    (place,) = database.execute(text, (message.mailbox,)).fetchone()
    message = replace(message, place=place)
    database.execute(_INSERT, stored(astuple(message)))
    return message


def _of_origin(database: Database, run: str, path: str) -> MessageRecord | None:
    row = database.execute(f"{_SELECT} WHERE origin_run = ? AND origin_path = ?", (run, path)).fetchone()
    return None if row is None else _message(row)


def _received(database: Database, letter: Letter) -> MessageRecord | None:
    """Return the message that a letter answers. Raises `MailRefused` for one that its run never had."""
    if letter.reply_to is None:
        return None
    row = database.execute(f"{_SELECT} WHERE id = ? AND run = ?", (letter.reply_to, letter.run)).fetchone()
    if row is None:
        raise MailRefused(f"there is no message {letter.reply_to[:40]!r} among those that this run received")
    return _message(row)


def _address(letter: Letter, answered: MessageRecord | None) -> str:
    """Return where a letter goes. Raises `MailRefused`."""
    back = answered.returns if answered is not None else None
    to = letter.to if letter.to is not None else back
    if to is None and answered is not None:
        raise MailRefused(f"{answered.sender} has no mailbox, so its message cannot be answered")
    if to is None:
        raise MailRefused("`to` is missing: it names the mailbox, or `reply_to` the message that is answered")
    if to not in letter.allowed and (to != back or not letter.answers):
        known = ", ".join(letter.allowed) or "none"
        raise MailRefused(f"{letter.program} may not write to {to[:80]!r}; its addresses are {known}")
    return to


def _behind(database: Database, run: str) -> tuple[int, str | None]:
    """Return the hops of what a run sends, and the thread that it belongs to. What it waits for counts as none."""
    text = "SELECT hops, thread FROM message WHERE run = ? AND reader IS NULL ORDER BY hops DESC, place LIMIT 1"
    row = database.execute(text, (run,)).fetchone()
    return (0, None) if row is None else (int(row[0]) + 1, str(row[1]))


@deferred
def lease(
    database: Database, wanted: Lease, holder: Callable[[], str], alive: Callable[[str], bool]
) -> list[MessageRecord]:
    """Lease messages to a run in the order of arrival: those that the same call received before, otherwise unheld ones
    and those of dead processes."""
    mine = holder()
    if wanted.path:
        again = f"{_SELECT} WHERE run = ? AND lease_path = ? AND state = 'leased' ORDER BY place, id"
        rows = database.execute(again, (wanted.run, wanted.path)).fetchall()
        if rows:
            return [_message(row) for row in rows]
    take_back(database, wanted.mailbox, lambda name: name == mine or alive(name), wanted.now)
    if wanted.since is not None:
        late = (
            "UPDATE message SET state = 'dead', error = ?, ended = ?"
            " WHERE mailbox = ? AND state = 'new' AND COALESCE(leased, time) < ?"
        )
        why = "it expired before it was handled"
        database.execute(late, (why, wanted.now, wanted.mailbox, wanted.since))
    return list(_leased(database, wanted, mine))


def _leased(database: Database, wanted: Lease, holder: str) -> Iterator[MessageRecord]:
    text, values = f"{_SELECT} WHERE mailbox = ? AND state = 'new'", [wanted.mailbox]
    if wanted.path:
        text, values = f"{text} AND (reader IS NULL OR reader = ?)", [*values, wanted.run]
    else:
        text = f"{text} AND reader IS NULL"
    if wanted.sender is not None:
        text, values = f"{text} AND sender = ?", [*values, wanted.sender]
    rows = database.execute(f"{text} ORDER BY place, id LIMIT ?", (*values, min(wanted.most, _AT_ONCE))).fetchall()
    taken, size = 0, 0
    for row in rows:
        message = _message(row)
        size += len(message.payload.encode("utf-8", "surrogatepass")) + ENVELOPE
        if taken and wanted.room is not None and size > wanted.room:
            return
        run = wanted.run if wanted.path else _run_of(message)
        parameters = (run, wanted.path, holder, wanted.now, message.id)
        if database.execute(_LEASE, parameters).rowcount != 1:
            continue  # another process was quicker
        taken += 1
        attempts = message.attempts + 1
        leased = replace(message, state="leased", run=run, lease_path=wanted.path, holder=holder, leased=wanted.now)
        yield replace(leased, attempts=attempts, ended=None, error=None)


def _run_of(message: MessageRecord) -> str:
    """Return the run that a message starts: the one that it had started, if that can be resumed."""
    return message.run if message.run is not None and not message.lease_path else new_id()


def take_back(database: Database, mailbox: str, alive: Callable[[str], bool], now: str) -> None:
    """Return the messages of dead processes to the mailbox. After too many attempts, a message becomes a dead
    letter."""
    text = "SELECT DISTINCT holder FROM message WHERE mailbox = ? AND state = 'leased'"
    for (holder,) in database.execute(text, (mailbox,)).fetchall():
        if not alive(holder):
            left = f"{_SELECT} WHERE mailbox = ? AND state = 'leased' AND holder = ?"
            for row in database.execute(left, (mailbox, holder)).fetchall():
                message = _message(row)
                ended = f"its process ended {message.attempts} times while it was handled"
                _again(database, message, ended, now)


def _again(database: Database, message: MessageRecord, error: str, now: str) -> None:
    dead = message.attempts >= MAX_ATTEMPTS
    row = ("dead" if dead else "new", error, now if dead else None, message.attempts, message.id, message.holder)
    database.execute(_GIVE_BACK, stored(row))


@deferred
def hold_again(database: Database, run: str, holder: Callable[[], str], now: str) -> None:
    """Give a resumed run the messages that it held when it was interrupted, unless another run holds them now."""
    rows = database.execute(f"{_SELECT} WHERE run = ? AND state IN ('new', 'leased')", (run,)).fetchall()
    for message in map(_message, rows):
        if message.holder == holder():
            continue
        text = (
            "UPDATE message SET state = 'leased', holder = ?, leased = ?, attempts = attempts + 1"
            " WHERE id = ? AND state = ? AND holder = ?"
        )
        database.execute(text, (holder(), now, message.id, message.state, message.holder))


@deferred
def handled(database: Database, run: str, holder: Callable[[], str], now: str) -> None:
    """Mark the messages of a run that succeeded in this process as handled, and those that only this run may read."""
    text = (
        "UPDATE message SET state = 'handled', ended = ?, holder = '' WHERE run = ? AND state = 'leased' AND holder = ?"
    )
    database.execute(text, (now, run, holder()))
    rest = "UPDATE message SET state = 'handled', ended = ? WHERE reader = ? AND state = 'new'"
    database.execute(rest, (now, run))


@deferred
def given_back(
    database: Database,
    run: str,
    holder: Callable[[], str],
    now: str,
    *,
    error: str | None = None,
    below: str = "",
    final: bool = False,
    anew: bool = False,
) -> None:
    """Give back the messages that a run of this process, or its part ``below`` a path, did not handle. An ``error``
    counts against a message, and ``final`` makes it a dead letter at once. ``anew`` makes a further attempt another
    run."""
    text = f"{_SELECT} WHERE run = ? AND state = 'leased' AND holder = ?"
    for message in map(_message, database.execute(text, (run, holder())).fetchall()):
        if not message.lease_path.startswith(below):
            continue
        mine = (message.id, message.holder)
        if error is None:
            database.execute(_GIVE_BACK, ("new", None, None, max(message.attempts - 1, 0), *mine))
        elif final:
            database.execute(_GIVE_BACK, stored(("dead", error, now, message.attempts, *mine)))
        else:
            _again(database, message, error, now)
        if anew:
            database.execute("UPDATE message SET run = NULL WHERE id = ? AND state <> 'leased'", (message.id,))


@deferred
def moved_to(database: Database, message: MessageRecord) -> None:
    """Assign a message held by this process to another run than the one that it had started."""
    text = "UPDATE message SET run = ? WHERE id = ? AND state = 'leased' AND holder = ?"
    database.execute(text, (message.run, message.id, message.holder))


@deferred
def retry(database: Database, name: str, now: str) -> MessageRecord:
    """Requeue a dead letter as if it had never been leased. ``name`` is its id or the start of it. Raises
    `MailRefused`."""
    message = named(database, name)
    if message.state != "dead":
        raise MailRefused(f"the message {message.id} is not a dead letter: it is {message.state}")
    text = (
        "UPDATE message SET state = 'new', attempts = 0, run = NULL, lease_path = '', ended = NULL, error = NULL,"
        " leased = ? WHERE id = ?"
    )
    database.execute(text, (now, message.id))
    return replace(message, state="new", attempts=0, run=None, ended=None, error=None, leased=now)


def named(database: Database, name: str) -> MessageRecord:
    """Return the message of an id, or of the beginning of one. Raises `MailRefused`."""
    text = f"{_SELECT} WHERE id >= ? AND id < ? ORDER BY id LIMIT 2"
    rows = database.execute(text, (name, f"{name}\uffff")).fetchall() if name else []
    records = [_message(row) for row in rows]
    if len(records) > 1 and records[0].id != name:
        raise MailRefused(f"several messages start with {name[:40]!r}", hint="write more of the id")
    if not records:
        raise MailRefused(f"there is no message {name[:40]!r}", hint="prosa mail NAME lists them")
    return records[0]


def boxes(database: Database) -> list[BoxCounts]:
    """Return the mailboxes with messages, by name."""
    text = "SELECT mailbox, state, COUNT(*), MIN(time) FROM message GROUP BY mailbox, state ORDER BY mailbox, state"
    by_mailbox: dict[str, BoxCounts] = {}
    for mailbox, state, count, first in database.execute(text).fetchall():
        box = replace(by_mailbox.get(mailbox, BoxCounts(mailbox)), **{state: count})
        by_mailbox[mailbox] = replace(box, oldest=first) if state == "new" else box
    return list(by_mailbox.values())


def messages(database: Database, chosen: MessageFilter, *, after_place: int = 0) -> list[MessageRecord]:
    """Return the messages that are meant, in the order in which they came: the last ones where there is a limit.
    ``after_place`` leaves out those up to a place of their mailbox."""
    where, values = _conditions(chosen, after_place)
    order = "place DESC, id DESC" if chosen.mailbox is not None else "time DESC, id DESC"
    text = f"{_SELECT}{where} ORDER BY {order}"
    if chosen.limit is not None and not chosen.needs_content:
        text, values = f"{text} LIMIT ?", [*values, chosen.limit]
    records: list[MessageRecord] = []
    for row in database.execute(text, values):
        message = _message(row)
        if chosen.meets(message):
            records.append(message)
        if chosen.limit is not None and len(records) >= chosen.limit:
            break
    return records[::-1]


def last_place(database: Database, mailbox: str) -> int:
    """Return the place of the message that came last into a mailbox."""
    (place,) = database.execute("SELECT COALESCE(MAX(place), 0) FROM message WHERE mailbox = ?", (mailbox,)).fetchone()
    return int(place)


def _conditions(chosen: MessageFilter, after_place: int) -> tuple[str, list[str | int]]:
    conditions: list[tuple[str, list[str | int]]] = [("place > ?", [after_place])]
    for column, value in (("mailbox = ?", chosen.mailbox), ("sender = ?", chosen.sender)):
        if value is not None:
            conditions.append((column, [value]))
    for column, value in (("time >= ?", chosen.after), ("time < ?", chosen.before)):
        if value is not None:
            conditions.append((column, [value]))
    if chosen.states:
        conditions.append((f"state IN ({', '.join('?' * len(chosen.states))})", [*chosen.states]))
    return f" WHERE {' AND '.join(text for text, _ in conditions)}", [value for _, some in conditions for value in some]


def _message(row: Sequence[Value]) -> MessageRecord:
    values = dict(zip(COLUMNS, row, strict=True))
    return convert(values | {"failed": bool(values["failed"])}, MessageRecord)


class MemoryStore:
    """Mailboxes that end with the process that created them: the same tables, in memory."""

    holder = "memory"

    def __init__(self) -> None:
        self._database = open_memory()

    def do(self, work: Callable[[Database], T]) -> Commit[T]:
        """Return what ``work`` gives, at once."""
        future: Commit[T] = Commit()
        try:
            future.set_result(work(self._database))
        except RunError as error:
            future.set_exception(error)
        return future
