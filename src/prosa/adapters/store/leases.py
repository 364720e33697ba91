"""What a server keeps for several workers of a batch: inputs of rows, fenced leases, the pace of calls (X29).

In: records. Out: pieces of work for the writer. A lease is a range of rows. Its fencing token grows whenever it is
taken, and every write for one of its rows shows the token: a worker that was frozen meanwhile writes nothing.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from os import urandom
from typing import TYPE_CHECKING

from msgspec import Struct

from prosa.adapters.store.batches import LEFT, batch_of, insert_batch
from prosa.adapters.store.database import deferred
from prosa.adapters.store.runs import insertion, parts_note, put_note, require_token, stored
from prosa.data import Value
from prosa.records.batch import BatchRecord, BatchState

if TYPE_CHECKING:
    from prosa.adapters.store.database import Database
    from prosa.adapters.store.writer import Work

UNDONE = (
    f"(run.state IS NULL OR run.state IN ('open', 'interrupted') OR (run.state = 'failed' AND run.kind = '{LEFT}'))"
)
"""The rows that are not over."""

_JOINED = "FROM item LEFT JOIN run ON run.batch = item.batch AND run.number = item.number WHERE item.batch = ?"

_INSERT_ITEM = insertion("item", ("batch", "number", "job", "input"), more=" ON CONFLICT (batch, number) DO NOTHING")


class LeaseKey(Struct, frozen=True):
    """A lease of rows ``first`` to ``last`` of a batch, as it was taken. ``fencing_token`` grows with every taking."""

    batch: str
    first: int
    last: int
    fencing_token: int


class LeasedRow(Struct, frozen=True):
    """An unfinished row. ``begun`` says whether a process has started it, ``crashes`` how many processes ended during
    it, including the last; ``problem`` says why its stored input is invalid."""

    number: int
    id: Value
    input_value: Value
    begun: bool
    crashes: int
    problem: str = ""


def put_items(batch: str, rows: Sequence[tuple[int, str, str]]) -> Work[None]:
    """Keep inputs: the number of each row, its id and its input as JSON."""
    values = [stored((batch, *row)) for row in rows]

    def work(connection: Database) -> None:
        if values:
            connection.change_all(_INSERT_ITEM, values)

    return work


@deferred
def items_of(connection: Database, lease: LeaseKey) -> list[LeasedRow]:
    """Return the rows of a lease that are not over."""
    require_lease(connection, lease)
    text = (
        "SELECT item.number, item.job, item.input, run.state, run.crashes"
        f" {_JOINED} AND item.number >= ? AND item.number <= ? AND {UNDONE} ORDER BY item.number"
    )
    rows = connection.execute(text, (lease.batch, lease.first, lease.last)).fetchall()
    return [_item(row) for row in rows]


def undone(connection: Database, batch: str) -> Iterator[int]:
    """Yield the numbers of the rows that are not over, as far as their inputs are kept."""
    text = f"SELECT item.number {_JOINED} AND {UNDONE} ORDER BY item.number"
    for (number,) in connection.stream(text, (batch,)):
        yield int(number)


def require_lease(connection: Database, lease: LeaseKey) -> None:
    """Raise `TakenOver` if the lease was given away. It stays held for the rest of the transaction."""
    text = "SELECT 1 FROM lease WHERE batch = ? AND first = ? AND turn = ?"
    taken = f"another worker has taken over rows {lease.first} to {lease.last} of the batch {lease.batch}"
    require_token(connection, text, (lease.batch, lease.first, lease.fencing_token), taken)


@deferred
def join(connection: Database, batch: BatchRecord) -> BatchRecord:
    """Return the batch, which is made if it is new."""
    insert_batch(connection, batch)
    return next(record for record in batch_of(connection, batch.id) if record.id == batch.id)


@deferred
def open_for_work(connection: Database, batch: str, options: str, *, invalidate: bool) -> None:
    """Open the batch for workers. With ``invalidate``, earlier leases become invalid."""
    text = "UPDATE batch SET state = 'open', ended = NULL, reason = NULL, options = ? WHERE id = ?"
    connection.execute(text, (options, batch))
    if invalidate:
        connection.execute("UPDATE lease SET turn = turn + 1, holder = '' WHERE batch = ?", (batch,))


@deferred
def close_batch(connection: Database, batch: str, state: BatchState, reason: str | None, ended: str) -> bool:
    """End the work at a batch that is open, and return whether it was. Inputs of rows that are done are kept no
    longer."""
    text = "UPDATE batch SET state = ?, reason = ?, ended = ? WHERE id = ? AND state = 'open'"
    if connection.execute(text, (state, reason, ended, batch)).rowcount != 1:
        return False
    connection.execute("UPDATE lease SET holder = '' WHERE batch = ?", (batch,))
    if state == "done":
        text = (
            "DELETE FROM item WHERE batch = ? AND number IN (SELECT number FROM run WHERE batch = ? AND state = 'done')"
        )
        connection.execute(text, (batch, batch))
    return True


@deferred
def draw_part(
    connection: Database, batch: str, part: str, wanted: int, cap: int, alive: Callable[[], Callable[[str], bool]]
) -> int | None:
    """Draw of a budget that several processes share; 0 where it does not fit, None where no other process that is
    ``alive`` has drawn something that it has not spent. ``part`` names what one process has of it, and begins with the
    name of the process."""
    text = f"SELECT granted FROM batch WHERE id = ?{connection.locked}"  # noqa: S608 - a word of ours
    (granted,) = connection.execute(text, (batch,)).fetchone()
    if wanted > cap - int(granted):
        return 0 if _others_have_parts(connection, batch, part, alive) else None
    connection.execute("UPDATE batch SET granted = granted + ? WHERE id = ?", (wanted, batch))
    _change_part(connection, batch, part, wanted)
    return wanted


@deferred
def charge_part(connection: Database, batch: str, part: str, unused: int, spent: int) -> None:
    """Record the drawn amount as spent, and give ``unused`` back."""
    connection.execute("UPDATE batch SET granted = granted - ? WHERE id = ?", (unused, batch))
    _change_part(connection, batch, part, -unused - spent)


@deferred
def end_part(connection: Database, batch: str, part: str, unused: int) -> None:
    """Remove the part of a budget that a process holds."""
    connection.execute("UPDATE batch SET granted = granted - ? WHERE id = ?", (unused, batch))
    _change_part(connection, batch, part, None)


def _others_have_parts(connection: Database, batch: str, part: str, alive: Callable[[], Callable[[str], bool]]) -> bool:
    others = [name for name, left in _parts(connection, batch).items() if left > 0 and name != part]
    lives = alive() if others else None
    return lives is not None and any(lives(name.partition(":")[0]) for name in others)


def _parts(connection: Database, batch: str) -> dict[str, int]:
    row = connection.execute("SELECT value FROM note WHERE name = ?", (parts_note(batch),)).fetchone()
    return {} if row is None else json.loads(row[0])


def _change_part(connection: Database, batch: str, part: str, by: int | None) -> None:
    """Change a part of the budget. The caller has locked the row of the batch."""
    parts = _parts(connection, batch)
    left = 0 if by is None else parts.pop(part, 0) + by
    parts = {name: share for name, share in parts.items() if name != part} | ({part: left} if left else {})
    put_note(connection, parts_note(batch), json.dumps(parts))


@deferred
def take_pace(
    connection: Database, batch: str, service: str, *, rpm: int | None, tpm: int | None, tokens: int, window: float
) -> Pace:
    """Return whether a call may be made now or after some seconds, so that no ``window`` of seconds exceeds the calls
    or tokens allowed for all workers. The clock is that of the server."""
    text = f"SELECT id FROM batch WHERE id = ?{connection.locked}"  # noqa: S608
    connection.execute(text, (batch,)).fetchone()
    (now,) = connection.execute("SELECT EXTRACT(EPOCH FROM clock_timestamp())::float8").fetchone()
    connection.execute("DELETE FROM pace WHERE batch = ? AND service = ? AND at <= ?", (batch, service, now - window))
    text = "SELECT at, tokens FROM pace WHERE batch = ? AND service = ? ORDER BY at"
    sent = connection.execute(text, (batch, service)).fetchall()
    waits = []
    if rpm is not None and len(sent) >= rpm:
        waits.append(sent[len(sent) - rpm][0] + window - now)
    if tpm is not None and sent and sum(count for _, count in sent) + tokens > tpm:
        waits.append(sent[0][0] + window - now)
    if waits:
        return Pace("", max(*waits, 0.001))
    name = urandom(8).hex()
    text = "INSERT INTO pace (id, batch, service, at, tokens) VALUES (?, ?, ?, ?, ?)"
    connection.execute(text, (name, batch, service, now, tokens))
    return Pace(name, 0.0)


class Pace(Struct, frozen=True):
    """A call that may be made, by its ``id``; or the seconds to ``wait`` before that is asked again."""

    id: str
    wait: float


@deferred
def count_tokens(connection: Database, pace: str, tokens: int) -> None:
    """Record the actual tokens of a call that was allowed."""
    connection.execute("UPDATE pace SET tokens = ? WHERE id = ?", (tokens, pace))


@deferred
def draw_together(
    connection: Database, name: str, holder: str, alive: Callable[[str], bool], least: int, wanted: int, cap: int
) -> int:
    """Draw of a budget that all processes share which are alive together, as `draw` does of that of a batch. It is
    whole again when the first one comes after the last has ended."""
    connection.execute("INSERT INTO note (name, value) VALUES (?, '{}') ON CONFLICT (name) DO NOTHING", (name,))
    text = f"SELECT value FROM note WHERE name = ?{connection.locked}"  # noqa: S608 - a word of ours
    (value,) = connection.execute(text, (name,)).fetchone()
    known = json.loads(value)
    holders = [other for other in known.get("holders", []) if other == holder or alive(other)]
    granted = int(known.get("granted", 0)) if holders else 0
    drawn = min(wanted, cap - granted)
    drawn = drawn if drawn >= least else 0
    value = {"granted": granted + drawn, "holders": [*holders, *([holder] if holder not in holders else [])]}
    connection.execute("UPDATE note SET value = ? WHERE name = ?", (json.dumps(value), name))
    return drawn


def hosts_at(connection: Database, batch: str, alive: Callable[[str], bool]) -> tuple[str, ...]:
    """Return the machines whose workers have leases of a batch."""
    rows = connection.execute("SELECT DISTINCT holder, host FROM lease WHERE batch = ? AND holder <> ''", (batch,))
    return tuple(sorted({host for holder, host in rows.fetchall() if alive(holder)}))


def _item(row: Sequence[Value]) -> LeasedRow:
    number, job, input_value, state, crashes = row
    ended = int(str(crashes or 0)) + (state == "open")
    at, begun = int(str(number)), state is not None
    try:
        return LeasedRow(at, json.loads(str(job)), json.loads(str(input_value)), begun, ended)
    except (ValueError, RecursionError) as error:
        return LeasedRow(at, at, None, begun, ended, f"its stored input is damaged: {error}")
