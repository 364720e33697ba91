"""What is written of runs: pieces of work for the writer, each for one run and refused where another process has it.

In: records. Out: functions of a connection. A run belongs to the process whose attempt is the last; what an older one
still wants to write is refused (the fence), however long that one was frozen.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from msgspec.structs import astuple, replace

from prosa.adapters.store.schema import CALL_COLUMNS, RUN_COLUMNS
from prosa.records.run import CallRecord, RunRecord, RunState
from prosa.runtime.errors import RunError, StoreProblem

if TYPE_CHECKING:
    from prosa.adapters.store.database import Database


class TakenOver(RunError):
    """Another process has taken over the run."""


class Unwritable(RunError):
    """A store does not take one record as it is; what was to be written beside it is."""


class DamagedRecord(StoreProblem):
    """What the store has of one run or batch is none of ours; the rest may well be."""


_INSERT_RUN = f"INSERT INTO run ({', '.join(RUN_COLUMNS)}) VALUES ({', '.join('?' * len(RUN_COLUMNS))})"  # noqa: S608
_INSERT_CALL = (
    f"INSERT INTO call ({', '.join(CALL_COLUMNS)}) VALUES ({', '.join('?' * len(CALL_COLUMNS))})"  # noqa: S608
    f" ON CONFLICT (run, path, attempt) DO UPDATE SET {', '.join(f'{each} = excluded.{each}' for each in CALL_COLUMNS)}"
)
"""A call that failed may be asked for once more at its place, as when the budget leaves room for an answer alone."""

_ANSWER = (
    "UPDATE call SET state = ?, answer = ?, reply = ?, is_error = ?, error = ?, answered_by = ?, service = ?,"
    " finish = ?, input_tokens = ?, output_tokens = ?, cached_tokens = ?, seconds = ?"
    " WHERE run = ? AND path = ? AND attempt = ?"
)
_CLAIM = (
    "UPDATE run SET attempts = attempts + 1, crashes = crashes + ?, holder = ?, host = ?, state = 'open',"
    " ended = NULL, kind = NULL, error = NULL WHERE id = ? AND attempts = ?"
)
_END = (
    "UPDATE run SET state = ?, kind = ?, error = ?, output = ?, ended = ?, seconds = COALESCE(seconds, 0) + ?,"
    " calls = ?, tools = ?, input_tokens = ?, output_tokens = ?, cached_tokens = ?, cost = ?, priced = ?"
    " WHERE id = ?"
)
_TOTALS = (
    "SELECT COALESCE(SUM(CASE WHEN kind = 'model' THEN 1 ELSE 0 END), 0),"
    " COALESCE(SUM(CASE WHEN kind NOT IN ('model', 'program') THEN 1 ELSE 0 END), 0),"
    " COALESCE(SUM(input_tokens), 0), COALESCE(SUM(output_tokens), 0), COALESCE(SUM(cached_tokens), 0)"
    " FROM call WHERE run = ? AND state = 'answered'"
)
FORGET_CONTENT = (
    "UPDATE call SET request = NULL, reply = NULL WHERE run = ?",
    "UPDATE run SET input = NULL, again = NULL, whole = 0 WHERE id = ?",
)
"""What `summary` takes away: messages, answers, arguments, the input."""


def begin(run: RunRecord, holder: Callable[[], str]) -> Callable[[Database], None]:
    """Record the start of a run; ``holder`` names this process once the store is open."""

    def work(connection: Database) -> None:
        connection.execute(_INSERT_RUN, stored(astuple(replace(run, holder=holder()))))

    return work


def claim(run: RunRecord, holder: Callable[[], str], host: str, *, crashed: bool = False) -> Callable[[Database], None]:
    """Take over a run, unless another process has done so since ``run`` was read. ``crashed`` says that its previous
    process ended for an unknown reason."""

    def work(connection: Database) -> None:
        if connection.execute(_CLAIM, (crashed, holder(), host, run.id, run.attempts)).rowcount != 1:
            raise TakenOver(f"another process has already taken over run {run.id}")

    return work


def ask(call: CallRecord) -> Callable[[Database], None]:
    """Record a call that is about to be made."""
    row = stored(astuple(call))

    def work(connection: Database) -> None:
        _require_held(connection, call.run, call.attempt)
        connection.execute(_INSERT_CALL, row)

    return work


def answer(call: CallRecord) -> Callable[[Database], None]:
    """Record the answer or the failure of a call."""
    said = (call.state, call.answer, call.reply, call.is_error, call.error, call.answered_by, call.service, call.finish)
    took = (call.input_tokens, call.output_tokens, call.cached_tokens, call.seconds)
    row = stored((*said, *took, call.run, call.path, call.attempt))

    def work(connection: Database) -> None:
        _require_held(connection, call.run, call.attempt)
        if connection.execute(_ANSWER, row).rowcount != 1:
            raise Unwritable(f"call {call.path} of run {call.run} is not in the store, so its answer cannot be")

    return work


def end(
    run: RunRecord,
    state: RunState,
    *,
    ended: str,
    seconds: float,
    kind: str | None = None,
    error: str | None = None,
    output: str | None = None,
    cost: float | None = None,
    priced: str | None = None,
    forget: bool,
) -> Callable[[Database], None]:
    """Record the end of a run; ``forget`` keeps only a summary. Its totals are those of its answered calls."""

    def work(connection: Database) -> None:
        _require_held(connection, run.id, run.attempts)
        totals = connection.execute(_TOTALS, (run.id,)).fetchone()
        row = (state, kind, error, output, ended, seconds, *totals, cost, priced, run.id)
        connection.execute(_END, stored(row))
        if forget:
            for statement in FORGET_CONTENT:
                connection.execute(statement, (run.id,))

    return work


def stored(values: Sequence[object]) -> list[object]:
    """Return values as SQLite takes them: half of a surrogate pair, as in a path that is no UTF-8, becomes its
    escape."""
    return [each if not isinstance(each, str) or each.isascii() else _text(each) for each in values]


def _text(text: str) -> str:
    return text.encode("utf-8", "backslashreplace").decode()


def _require_held(connection: Database, run: str, attempt: int) -> None:
    gone = f"run {run} is no longer in the store: it was forgotten while it went on"
    taken = f"another process has taken over run {run}; this one stops"
    require_token(connection, "SELECT attempts FROM run WHERE id = ?", (run,), attempt, taken, gone)


def require_token(
    connection: Database, text: str, row: Sequence[str | int], token: str | int, taken: str, gone: str | None = None
) -> None:
    """Raise `TakenOver` where the row of a lease has another fencing token than the one it was taken with, or is
    ``gone``. Until the transaction ends it keeps the one that it has."""
    found = connection.execute(f"{text}{connection.shared}", row).fetchone()
    if found is None or found[0] != token:
        raise TakenOver(gone if found is None and gone else taken)
