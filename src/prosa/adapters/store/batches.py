"""What the store has of batches: the batch itself, and its rows, which are runs (X29).

In: a connection, records. Out: pieces of work for the writer, and what they give. One process at a time has the batches
of a store; a batch that a dead one left is taken over with its lock file as the witness.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, TypeAlias

from msgspec import convert
from msgspec.structs import astuple, replace

from prosa.adapters.store.database import deferred
from prosa.adapters.store.runs import insertion, require_token, stored
from prosa.adapters.store.schema import RUN_COLUMNS
from prosa.data import Value
from prosa.records.batch import BatchCounts, BatchRecord, BatchState, RowResult
from prosa.records.run import RunRecord
from prosa.runtime.errors import RunError

if TYPE_CHECKING:
    from prosa.adapters.store.database import Database

BATCH_COLUMNS = BatchRecord.__struct_fields__

_BATCH = f"SELECT {', '.join(BATCH_COLUMNS)} FROM batch"  # noqa: S608 - names of ours
_INSERT = f"INSERT INTO batch ({', '.join(BATCH_COLUMNS)}) VALUES ({', '.join('?' * len(BATCH_COLUMNS))})"  # noqa: S608
_INSERT_ROW = insertion("run", RUN_COLUMNS, more=" ON CONFLICT (id) DO NOTHING")
_REPLACE_ROW = insertion(
    "run",
    RUN_COLUMNS,
    more=f" ON CONFLICT (id) DO UPDATE SET {', '.join(f'{column} = excluded.{column}' for column in RUN_COLUMNS[1:])}",
)
_RESULT = "SELECT number, job, state, kind, error, output, cost, calls, seconds, attempts FROM run"

MOST_WRITTEN = 16
"""Files of results of one batch that are known again."""

BEGUN, DONE, FAILED, AGAIN = 1, 2, 3, 4
"""What is known of a row: a process was at it; it has its output; it failed; it failed and may be tried again."""


LEFT = "left"
"""The kind of a row that ended since the budget of the whole batch was spent: it is not over."""


class BatchesHeld(RunError):
    """Another process runs batches of the same store."""


def batches(connection: Database) -> list[BatchRecord]:
    """Return all batches, those that were made last first."""
    rows = connection.execute(f"{_BATCH} ORDER BY created DESC, id").fetchall()
    return [_batch(row) for row in rows]


def open_batches(connection: Database) -> list[BatchRecord]:
    """Return the batches that workers may be at, those that were made first first."""
    text = f"{_BATCH} WHERE state = 'open' AND options IS NOT NULL ORDER BY created, id"
    return [_batch(row) for row in connection.execute(text).fetchall()]


def batch_of(connection: Database, name: str) -> list[BatchRecord]:
    """Return the batch of an id or a name, or those that begin so; at most ten."""
    exact = connection.execute(f"{_BATCH} WHERE id = ? OR name = ?", (name, name)).fetchall()
    text = f"{_BATCH} WHERE (id >= ? AND id < ?) OR (name >= ? AND name < ?) ORDER BY created DESC, id LIMIT 10"
    rows = exact or connection.execute(text, (name, f"{name}\uffff") * 2).fetchall()
    return [_batch(row) for row in rows]


@deferred
def hold(
    connection: Database, batch: BatchRecord, holder: Callable[[], str], host: str, alive: Callable[[str], bool]
) -> BatchRecord:
    """Hold the batch for this process, insert it if it is new, and return its previous record. Raises `BatchesHeld`
    where another process holds a batch of the same store."""
    mine = holder()
    running = connection.execute("SELECT name, holder, host FROM batch WHERE state = 'open' AND holder <> ?", (mine,))
    for name, other, where in running.fetchall():
        if alive(other):
            message = f"the batch {name} runs in another process on {where}, and one process at a time has a store"
            raise BatchesHeld(message, hint="wait for it, end it, or name another store with --store")
    row = connection.execute(f"{_BATCH} WHERE id = ?", (batch.id,)).fetchone()
    if row is None:
        insert_batch(connection, replace(batch, holder=mine, host=host))
        return batch
    again = "UPDATE batch SET state = 'open', holder = ?, host = ?, ended = NULL, reason = NULL WHERE id = ?"
    connection.execute(again, (mine, host, batch.id))
    return _batch(row)


def insert_batch(connection: Database, batch: BatchRecord) -> None:
    """Insert the batch unless it is already in the store."""
    connection.execute(f"{_INSERT} ON CONFLICT (id) DO NOTHING", stored(astuple(batch)))


@deferred
def let_go(
    connection: Database, batch: str, holder: str, state: BatchState, reason: str | None, ended: str, given_back: int
) -> None:
    """Release the batch from this process. ``given_back`` is the part of the budget that it drew and did not spend."""
    _require_held(connection, batch, holder)
    text = "UPDATE batch SET state = ?, reason = ?, ended = ?, granted = granted - ?, holder = '' WHERE id = ?"
    connection.execute(text, (state, reason, ended, given_back, batch))


@deferred
def draw(connection: Database, batch: str, holder: str | None, least: int, wanted: int, cap: int) -> int:
    """Draw ``wanted`` of a budget, or what is left of it if that is ``least`` at least, and return how much. The
    ``holder`` has the batch alone; None where several do."""
    if holder is not None:
        _require_held(connection, batch, holder)
    text = f"SELECT granted FROM batch WHERE id = ?{connection.locked}"  # noqa: S608
    (granted,) = connection.execute(text, (batch,)).fetchone()
    drawn = min(wanted, cap - int(granted))
    if drawn < least:
        return 0
    connection.execute("UPDATE batch SET granted = granted + ? WHERE id = ?", (drawn, batch))
    return drawn


@deferred
def count_spent(connection: Database, batch: str, spent: int) -> None:
    """Count as drawn, at least, what the rows of a batch are known to have cost."""
    connection.execute("UPDATE batch SET granted = ? WHERE id = ? AND granted < ?", (spent, batch, spent))


@deferred
def note_written(connection: Database, batch: str, path: str, digest: str) -> None:
    """Remember a file that was written of a batch, so that it is known again: the last `MOST_WRITTEN` of them."""
    row = connection.execute("SELECT written FROM batch WHERE id = ?", (batch,)).fetchone()
    others = [part for part in (row[0] or "").split("\n") if part and not part.startswith(f"{path} ")] if row else []
    written = "\n".join((*others[1 - MOST_WRITTEN :], f"{path} {digest}"))
    connection.execute("UPDATE batch SET written = ? WHERE id = ?", (written, batch))


@deferred
def set_state(connection: Database, batch: str, state: BatchState, ended: str) -> None:
    """Set the state of a batch that no process holds."""
    connection.execute("UPDATE batch SET state = ?, ended = ?, holder = '' WHERE id = ?", (state, ended, batch))


def put_rows(rows: Sequence[RunRecord]) -> Callable[[Database], None]:
    """Write rows that are known without a run: those whose input is refused."""
    values = [stored(astuple(row)) for row in rows]

    def work(connection: Database) -> None:
        if values:
            connection.change_all(_INSERT_ROW, values)

    return work


def put_failed(row: RunRecord) -> Callable[[Database], None]:
    """Write how a row failed in place of all that is known of it."""
    values = stored(astuple(row))

    def work(connection: Database) -> None:
        connection.change_all(_REPLACE_ROW, (values,))

    return work


@deferred
def set_total(connection: Database, batch: str, total: int) -> None:
    """All rows of a batch have been looked at."""
    connection.execute("UPDATE batch SET total = ? WHERE id = ?", (total, batch))


def often_crashed(connection: Database, batch: str, times: int) -> frozenset[int]:
    """Return the rows that were under way whenever a process ended, so many times with the last one."""
    text = "SELECT number FROM run WHERE batch = ? AND state = 'open' AND crashes >= ?"
    return frozenset(number for (number,) in connection.execute(text, (batch, times - 1)))


def row_states(connection: Database, batch: str, total: int) -> bytearray:
    """Return what is known of each row, by its number less one; 0 where nothing is."""
    states = bytearray(total)
    text = "SELECT number, state, kind FROM run WHERE batch = ? AND number IS NOT NULL"
    for number, state, kind in connection.stream(text, (batch,)):
        if 0 < number <= total:
            if state == "done":
                states[number - 1] = DONE
            elif state == "failed":
                states[number - 1] = AGAIN if kind == "provider" else BEGUN if kind == LEFT else FAILED
            else:
                states[number - 1] = BEGUN
    return states


def counts(connection: Database, batch: str, total: int) -> BatchCounts:
    """Return how far a batch has come."""
    text = (
        "SELECT state, kind, COUNT(*), SUM(calls), SUM(input_tokens), SUM(output_tokens), SUM(cost), SUM(seconds),"
        " SUM(CASE WHEN cost IS NULL AND calls > 0 THEN 1 ELSE 0 END)"
        " FROM run WHERE batch = ? AND number IS NOT NULL GROUP BY state, kind"
    )
    done = begun = calls = tokens_in = tokens_out = unpriced = 0
    cost = seconds = 0.0
    failed: dict[str, int] = {}
    for state, kind, count, asked, sent, written, dollars, took, unknown in connection.execute(text, (batch,)):
        calls, tokens_in, tokens_out = calls + (asked or 0), tokens_in + (sent or 0), tokens_out + (written or 0)
        cost, seconds = cost + (dollars or 0.0), seconds + (took or 0.0)
        unpriced += unknown
        if state == "done":
            done += count
        elif state == "failed" and kind != LEFT:
            failed[kind or "refused"] = failed.get(kind or "refused", 0) + count
        else:
            begun += count
    return BatchCounts(total, done, failed, begun, calls, tokens_in, tokens_out, cost, seconds, unpriced)


def results(
    connection: Database,
    batch: str,
    *,
    failed: bool = False,
    by_time: bool = False,
    after: int = 0,
    until: int | None = None,
) -> Iterator[RowResult]:
    """Yield what came of the rows that are over, in their order or in that of their ends: those that are done, or those
    that ``failed``. ``after`` and ``until`` bound their numbers."""
    wanted = f"state = 'failed' AND kind <> '{LEFT}'" if failed else "state = 'done'"
    order = "ended, number" if by_time else "number"
    last = 2**62 if until is None else until
    text = f"{_RESULT} WHERE batch = ? AND number > ? AND number <= ? AND {wanted} ORDER BY {order}"
    for row in connection.stream(text, (batch, after, last)):
        yield _result(row)


@deferred
def begin_again(connection: Database, batch: str, kinds: Sequence[str]) -> int:
    """Queue the rows that failed in these ways again, and return their number. Rows keep their answers if they can be
    resumed; a row that was refused or reached a limit starts over."""
    marks = ", ".join("?" * len(kinds))
    text = f"SELECT id, kind FROM run WHERE batch = ? AND state = 'failed' AND kind IN ({marks})"  # noqa: S608
    rows = connection.execute(text, (batch, *kinds)).fetchall()
    for run, kind in rows:
        if kind in ("refused", "limit", "input"):
            connection.execute("UPDATE call SET state = 'failed' WHERE run = ?", (run,))
        connection.execute("UPDATE run SET state = 'interrupted', kind = NULL, crashes = 0 WHERE id = ?", (run,))
    return len(rows)


def _require_held(connection: Database, batch: str, holder: str) -> None:
    taken = f"another process has taken over the batch {batch}; this one stops"
    require_token(connection, "SELECT 1 FROM batch WHERE id = ? AND holder = ?", (batch, holder), taken)


def _batch(row: Sequence[Value]) -> BatchRecord:
    return convert(dict(zip(BATCH_COLUMNS, row, strict=True)), BatchRecord)


_ResultRow: TypeAlias = "tuple[int, str, str, str | None, str | None, str | None, float | None, int, float | None, int]"


def _result(row: _ResultRow) -> RowResult:
    number, job, state, kind, error, output, cost, calls, seconds, attempts = row
    name: Value = number
    value: Value = None
    try:
        name = json.loads(str(job))
        value = json.loads(output) if state == "done" and output is not None else None
    except (ValueError, RecursionError):
        state, kind, error = "failed", "crashed", "the stored data of this row is damaged"
    values: dict[str, Value] = {
        "row": number,
        "id": name,
        "output": value,
        "error": error,
        "cost": cost,
        "calls": calls,
    }
    values |= {"kind": None if state == "done" else kind, "seconds": seconds or 0.0, "attempts": attempts}
    return convert(values, RowResult)
