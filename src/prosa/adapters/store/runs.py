"""What a store has of runs: pieces of work that write one, lists and calls that are read, and sweeping of what is old
(X25).

A run belongs to the process whose attempt is the last; what an older one still wants to write is refused (the fence),
however long that one was frozen. A list reads an index and no call, so that it is quick among a hundred thousand runs.
A run held by a living process is never swept. A clock that is briefly wrong deletes nothing: a process that finds more
time passed than a run is kept only records that, and the next sweep, an hour later, acts on it.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from msgspec import Struct, convert
from msgspec.structs import astuple, replace

from prosa.adapters.store.database import BESIDE, GIVEN, SHARED, Change, Changes, Statement, deferred
from prosa.adapters.store.schema import CALL_COLUMNS, RUN_COLUMNS
from prosa.data import Value
from prosa.records.run import CallRecord, RunFilter, RunRecord, RunState
from prosa.runtime.digest import stamp
from prosa.runtime.errors import RunError, StoreProblem

if TYPE_CHECKING:
    from prosa.adapters.store.database import Database


class TakenOver(RunError):
    """Another process has taken over the run."""


class Unwritable(RunError):
    """A store does not take one record as it is; what was to be written beside it is."""


class DamagedRecord(StoreProblem):
    """What the store has of one run or batch is none of ours; the rest may well be."""


def insertion(table: str, columns: Sequence[str], rank: int = 0, more: str = "") -> Statement:
    """Return the statement that inserts rows of a table; ``more`` says what happens to those that are there."""
    text = f"INSERT INTO {table} ({', '.join(columns)}) SELECT {', '.join('?' * len(columns))}{GIVEN} WHERE true{more}"
    return Statement(text, tuple(columns), rank)


_HELD = "FROM run WHERE id = ? AND attempts = ?"
"""The fence: a run whose attempt is that of the writer."""

_BEGIN, _ASK, _ANSWER, _END, _FORGET = range(5)
"""The order of what is written of one run."""

_INSERT_RUN = insertion("run", RUN_COLUMNS, _BEGIN)
_INSERT_CALL = Statement(
    f"INSERT INTO call ({', '.join(CALL_COLUMNS)}) SELECT {', '.join('?' * len(CALL_COLUMNS))}"  # noqa: S608
    f" FROM {BESIDE}run WHERE id = ? AND attempts = ?{SHARED} ON CONFLICT (run, path, attempt)"
    f" DO UPDATE SET {', '.join(f'{column} = excluded.{column}' for column in CALL_COLUMNS)}",
    (*CALL_COLUMNS, "id", "attempts"),
    _ASK,
)
"""A call that failed may be asked for once more at its place, as when the budget leaves room for an answer alone."""

_SAID = ("state", "answer", "reply", "is_error", "error", "answered_by", "service", "finish")
_TOOK = ("input_tokens", "output_tokens", "cached_tokens", "seconds")


def _answering(more: str) -> Statement:
    changed = ", ".join(f"{column} = ?" for column in (*_SAID, *_TOOK))
    at = f"run = ? AND path = ? AND attempt = ? AND EXISTS (SELECT 1 {_HELD}{SHARED})"
    columns = (*_SAID, *_TOOK, "run", "path", "attempt", "id", "attempts")
    return Statement(f"UPDATE call SET {changed}{more}{GIVEN} WHERE {at}", columns, _ANSWER)  # noqa: S608


_ANSWER_CALL, _ANSWER_FORGOTTEN = _answering(""), _answering(", request = NULL")
_CLAIM = (
    "UPDATE run SET attempts = attempts + 1, crashes = crashes + ?, holder = ?, host = ?, state = 'open',"
    " ended = NULL, kind = NULL, error = NULL WHERE id = ? AND attempts = ?"
)
_TOTALS = (
    "SELECT COALESCE(SUM(CASE WHEN kind = 'model' THEN 1 ELSE 0 END), 0),"
    " COALESCE(SUM(CASE WHEN kind NOT IN ('model', 'program') THEN 1 ELSE 0 END), 0),"
    " COALESCE(SUM(input_tokens), 0), COALESCE(SUM(output_tokens), 0), COALESCE(SUM(cached_tokens), 0)"
    " FROM call WHERE run = ? AND state = 'answered'"
)
_TOTALS_SO_FAR = _TOTALS.replace("SELECT", "SELECT run,", 1).removesuffix("run = ? AND state = 'answered'")
"""The totals of several runs; which ones follows."""

_COUNTED = f"(calls, tools, input_tokens, output_tokens, cached_tokens) = ({_TOTALS}), cost = ?, priced = ?"
_OUTCOME = "state = ?, kind = ?, error = ?, output = ?, ended = ?, seconds = COALESCE(seconds, 0) + ?"
_FORGOTTEN = f"UPDATE call SET request = NULL, reply = NULL{GIVEN} WHERE run = ?"  # noqa: S608 - a word of ours
_FORGET_CALLS = Statement(_FORGOTTEN, ("run",), _FORGET)
_NO_INPUT = "input = NULL, again = NULL, whole = 0"
FORGET_CONTENT = (_FORGET_CALLS.single(""), f"UPDATE run SET {_NO_INPUT} WHERE id = ?")  # noqa: S608 - names of ours
"""What `summary` takes away: messages, answers, arguments, the input."""


def _ending(more: str) -> Statement:
    text = f"UPDATE run SET {_OUTCOME}, {_COUNTED}{more}{GIVEN} WHERE id = ? AND attempts = ?"  # noqa: S608
    columns = ("state", "kind", "error", "output", "ended", "seconds", "run", "cost", "priced", "id", "attempts")
    return Statement(text, columns, _END)


_END_RUN, _END_FORGOTTEN = _ending(""), _ending(f", {_NO_INPUT}")


def begin(run: RunRecord, holder: Callable[[], str]) -> Changes:
    """Record the start of a run; ``holder`` names this process once the store is open."""
    return Changes(run.id, lambda: (Change(_INSERT_RUN, stored(astuple(replace(run, holder=holder())))),))


@deferred
def claim(connection: Database, run: RunRecord, holder: Callable[[], str], host: str, *, crashed: bool = False) -> None:
    """Take over a run, unless another process has done so since ``run`` was read. ``crashed`` says that its previous
    process ended for an unknown reason."""
    if connection.execute(_CLAIM, (crashed, holder(), host, run.id, run.attempts)).rowcount != 1:
        raise TakenOver(f"another process has already taken over run {run.id}")


def ask(call: CallRecord) -> Changes:
    """Record a call that is about to be made."""
    row = stored((*astuple(call), call.run, call.attempt))
    change = Change(_INSERT_CALL, row, lambda connection: _not_held(connection, call.run))
    return Changes(call.run, lambda: (change,))


def answer(call: CallRecord) -> Changes:
    """Record the answer or the failure of a call."""
    change = _answer(call)
    return Changes(call.run, lambda: (change,))


def _answer(call: CallRecord, *, forget: bool = False) -> Change:
    """Return what records the answer of a call; ``forget`` keeps neither what was asked nor what was said."""
    reply, statement = (None, _ANSWER_FORGOTTEN) if forget else (call.reply, _ANSWER_CALL)
    call_columns = (
        call.state,
        call.answer,
        reply,
        call.is_error,
        call.error,
        call.answered_by,
        call.service,
        call.finish,
    )
    took = (call.input_tokens, call.output_tokens, call.cached_tokens, call.seconds)
    row = stored((*call_columns, *took, call.run, call.path, call.attempt, call.run, call.attempt))

    def refused(connection: Database) -> RunError:
        if connection.execute(f"SELECT 1 {_HELD}", (call.run, call.attempt)).fetchone() is None:
            return _not_held(connection, call.run)
        return Unwritable(f"call {call.path} of run {call.run} is not in the store, so its answer cannot be")

    return Change(statement, row, refused)


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
    answered: CallRecord | None = None,
) -> Changes:
    """Record the end of a run; ``forget`` keeps only a summary. Its totals are those of its answered calls. The answer
    of its only call, ``answered``, is recorded first, where it is not yet."""
    row = stored((state, kind, error, output, ended, seconds, run.id, cost, priced, run.id, run.attempts))
    statement = _END_FORGOTTEN if forget else _END_RUN
    ends = Change(statement, row, lambda connection: _not_held(connection, run.id))
    if answered is not None:
        changes = [_answer(answered, forget=forget), ends]
    else:
        changes = [ends, Change(_FORGET_CALLS, (run.id,))] if forget else [ends]
    return Changes(run.id, lambda: changes)


def stored(values: Sequence[object]) -> list[object]:
    """Return values as SQLite takes them: half of a surrogate pair, as in a path that is no UTF-8, becomes its
    escape."""
    return [value if not isinstance(value, str) or value.isascii() else _text(value) for value in values]


def _text(text: str) -> str:
    return text.encode("utf-8", "backslashreplace").decode()


def _not_held(connection: Database, run: str) -> TakenOver:
    """Return why a run is not that of its writer any more."""
    if connection.execute("SELECT 1 FROM run WHERE id = ?", (run,)).fetchone() is None:
        return TakenOver(f"run {run} is no longer in the store: it was deleted while it was in progress")
    return TakenOver(f"another process has taken over run {run}; this one stops")


def require_token(
    connection: Database, text: str, row: Sequence[str | int], lost: Callable[[], TakenOver] | str
) -> None:
    """Raise `TakenOver`, with ``lost`` as its words, where no row has the fencing token that is asked for. Until the
    transaction ends it keeps the one that it has."""
    otherwise = (lambda: TakenOver(lost)) if isinstance(lost, str) else lost
    connection.change(f"{text}{connection.shared}", row, otherwise)


_RUN = f"SELECT {', '.join(RUN_COLUMNS)} FROM run"  # noqa: S608 - names of ours
_SLIM = ", ".join("NULL" if name in ("request", "reply") else name for name in CALL_COLUMNS)
_CALL = f"SELECT {', '.join(CALL_COLUMNS)} FROM call"  # noqa: S608
_NOT_ASKED = (
    "SELECT 1 FROM call WHERE call.run = run.id AND call.kind = 'model' AND call.state = 'answered'"
    " AND call.service IS NULL"
)
_AT_ONCE = 500
_SEARCHED = ("id", "program", "file", "model", "error")
_JSON = ("input", "again", "output", "closure")
_LISTED = ", ".join("NULL" if name in _JSON else name for name in RUN_COLUMNS)


def runs(connection: Database, chosen: RunFilter) -> list[RunRecord]:
    """Return the runs that are meant, those that began last first, without inputs and outputs."""
    where, values = _conditions(chosen)
    text = f"SELECT {_LISTED} FROM run{where} ORDER BY started DESC, id DESC"  # noqa: S608
    if chosen.limit is not None:
        text, values = f"{text} LIMIT ?", [*values, chosen.limit]
    return [_run(row) for row in connection.execute(text, values)]


def _conditions(chosen: RunFilter) -> tuple[str, list[str | int]]:
    conditions: list[tuple[str, tuple[str, ...]]] = [("number IS NULL", ())]
    if chosen.program is not None:
        conditions.append(("file = ?" if "/" in chosen.program else "program = ?", (chosen.program,)))
    if chosen.since is not None:
        conditions.append(("started >= ?", (chosen.since,)))
    if chosen.before is not None:
        conditions.append(("started < ?", (chosen.before,)))
    if chosen.failed:
        conditions.append(("state <> 'done'", ()))
    if chosen.states:
        conditions.append((f"state IN ({', '.join('?' * len(chosen.states))})", chosen.states))
    if chosen.text:
        conditions.append(
            (f"({' OR '.join(f'LOWER({name}) LIKE ? ESCAPE ?' for name in _SEARCHED)})", _like(chosen.text))
        )
    if chosen.below is not None:
        conditions.append(("(started, id) < (?, ?)", chosen.below))
    return f" WHERE {' AND '.join(clause for clause, _ in conditions)}", [
        value for _, values in conditions for value in values
    ]


def _like(text: str) -> tuple[str, ...]:
    """Return the values of the conditions by which one of the searched columns contains a text."""
    escaped = text.lower().replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")
    return (f"%{escaped}%", "\\") * len(_SEARCHED)


def count(connection: Database, chosen: RunFilter) -> int:
    """Return how many runs are meant."""
    where, values = _conditions(chosen)
    (total,) = connection.execute(f"SELECT COUNT(*) FROM run{where}", values).fetchone()  # noqa: S608
    return int(total)


def run_of(connection: Database, name: str) -> list[RunRecord]:
    """Return the run of an id, or those whose id begins so; at most ten."""
    exact = connection.execute(f"{_RUN} WHERE id = ?", (name,)).fetchall()
    rows = exact or connection.execute(f"{_RUN} WHERE id >= ? AND id < ? ORDER BY id LIMIT 10", (name, f"{name}\uffff"))
    return [_run(row) for row in rows]


def runs_of_batch(connection: Database, batch: str) -> list[RunRecord]:
    """Return the runs of one call, in the order in which they began."""
    return [_run(row) for row in connection.execute(f"{_RUN} WHERE batch = ? ORDER BY started, id", (batch,))]


def runs_alike(connection: Database, like: RunRecord, most: int) -> list[RunRecord]:
    """Return the last runs of a version of a program that ended well, of the same name, programs and model, all of
    whose replies came from a service."""
    text = f"{_RUN} WHERE program = ? AND model = ? AND closure = ? AND state = 'done' AND NOT EXISTS ({_NOT_ASKED})"
    rows = connection.execute(f"{text} ORDER BY started DESC LIMIT ?", (like.program, like.model, like.closure, most))
    return [_run(row) for row in rows]


def scripted(connection: Database, ids: Sequence[str]) -> frozenset[str]:
    """Return those of some runs that had a reply of no service: of a script, or of a provider in Python."""
    run_ids: set[str] = set()
    for start in range(0, len(ids), _AT_ONCE):
        some = ids[start : start + _AT_ONCE]
        text = f"SELECT id FROM run WHERE id IN ({', '.join('?' * len(some))}) AND EXISTS ({_NOT_ASKED})"  # noqa: S608
        run_ids.update(run for (run,) in connection.execute(text, some))
    return frozenset(run_ids)


def calls_of(connection: Database, run: str) -> list[CallRecord]:
    """Return the calls of a run, every attempt of each."""
    rows = connection.execute(f"{_CALL} WHERE run = ? ORDER BY path, attempt", (run,))
    return [_call(row) for row in rows]


def with_totals(connection: Database, records: Sequence[RunRecord]) -> list[RunRecord]:
    """Return runs with what they have taken so far: a run that has not ended has no totals of its own yet."""
    unended = [record.id for record in records if record.ended is None]
    totals: dict[str, tuple[int, ...]] = {}
    for start in range(0, len(unended), _AT_ONCE):
        some = unended[start : start + _AT_ONCE]
        text = f"{_TOTALS_SO_FAR}state = 'answered' AND run IN ({', '.join('?' * len(some))}) GROUP BY run"
        totals |= {run: tuple(map(int, row)) for run, *row in connection.execute(text, some)}
    return [
        _so_far(record, totals.get(record.id, (0, 0, 0, 0, 0))) if record.ended is None else record
        for record in records
    ]


def _so_far(run: RunRecord, totals: Sequence[int]) -> RunRecord:
    calls, tools, taken, made, cached = totals
    return replace(
        run, calls=calls, tools=tools, input_tokens=taken, output_tokens=made, cached_tokens=cached, cost=None
    )


def model_calls(connection: Database, ids: Sequence[str]) -> dict[str, list[CallRecord]]:
    """Return the answered model calls of some runs, by run, without what was said in them."""
    by_run: dict[str, list[CallRecord]] = {run: [] for run in ids}
    for start in range(0, len(ids), _AT_ONCE):
        some = ids[start : start + _AT_ONCE]
        where = f"run IN ({', '.join('?' * len(some))}) AND kind = 'model' AND state = 'answered'"
        for row in connection.execute(f"SELECT {_SLIM} FROM call WHERE {where} ORDER BY run, path", some):  # noqa: S608
            call = _call(row)
            by_run[call.run].append(call)
    return by_run


def forget(connection: Database, ids: Iterable[str]) -> int:
    """Take runs away with their calls, and return how many there were."""
    gone = 0
    for run in ids:
        connection.execute("DELETE FROM call WHERE run = ?", (run,))
        gone += connection.execute("DELETE FROM run WHERE id = ?", (run,)).rowcount
    return gone


def forget_tests(connection: Database, ids: Iterable[str]) -> int:
    """Take tests away with their attempts, and return how many there were."""
    gone = 0
    for test in ids:
        connection.execute("DELETE FROM attempt WHERE test = ?", (test,))
        connection.execute("DELETE FROM suite WHERE test = ?", (test,))
        gone += connection.execute("DELETE FROM test WHERE id = ?", (test,)).rowcount
    return gone


def _oldest_tests(connection: Database) -> list[tuple[str, str, str]]:
    """Return id, state and holder of the oldest tests, a few at a time: one may be large."""
    return connection.execute("SELECT id, state, holder FROM test ORDER BY started LIMIT 10").fetchall()


def forget_batch(connection: Database, batch: str) -> int:
    """Take a batch away with its rows, and return how many there were."""
    connection.execute("DELETE FROM call WHERE run IN (SELECT id FROM run WHERE batch = ?)", (batch,))
    for table in ("item", "lease", "pace"):
        connection.execute(f"DELETE FROM {table} WHERE batch = ?", (batch,))  # noqa: S608 - names of ours
    connection.execute("DELETE FROM wave WHERE batch = ?", (batch,))
    connection.execute("DELETE FROM note WHERE name = ?", (parts_note(batch),))
    gone = connection.execute("DELETE FROM run WHERE batch = ?", (batch,)).rowcount
    connection.execute("DELETE FROM batch WHERE id = ?", (batch,))
    return gone


def ids_before(connection: Database, before: str) -> list[tuple[str, str, str]]:
    """Id, state and holder of the runs that began before a moment; rows go with their batch."""
    text = "SELECT id, state, holder FROM run WHERE started < ? AND number IS NULL ORDER BY started"
    return connection.execute(text, (before,)).fetchall()


def whole_before(connection: Database, before: str) -> list[tuple[str, str, str]]:
    """Return id, state and holder of the runs that started before a moment, did not succeed and can still be
    resumed."""
    rows = connection.execute(
        "SELECT id, state, holder FROM run WHERE started < ? AND whole = 1 AND state <> 'done' AND number IS NULL",
        (before,),
    )
    return rows.fetchall()


def oldest(connection: Database, most: int) -> list[tuple[str, str, str]]:
    """Id, state and holder of the oldest runs."""
    rows = connection.execute(
        "SELECT id, state, holder FROM run WHERE number IS NULL ORDER BY started LIMIT ?", (most,)
    )
    return rows.fetchall()


def parts_note(batch: str) -> str:
    """Return the note of what each process has drawn of the budget of a batch and not spent yet."""
    return f"parts of {batch}"


def note(connection: Database, name: str) -> str | None:
    """Return what was noted under a name."""
    row = connection.execute("SELECT value FROM note WHERE name = ?", (name,)).fetchone()
    return None if row is None else str(row[0])


def put_note(connection: Database, name: str, value: str) -> None:
    """Store a value under a name, replacing the previous value."""
    connection.execute(
        "INSERT INTO note (name, value) VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET value = excluded.value",
        (name, value),
    )


def _run(row: Sequence[Value]) -> RunRecord:
    """Raise `ValidationError` and `JSONDecodeError` for what no store of ours ever wrote."""
    values = dict(zip(RUN_COLUMNS, row, strict=True))
    for text in (values[name] for name in _JSON):
        if text is not None:
            json.loads(str(text))
    return convert(values | {"whole": bool(values["whole"]), "closure": values["closure"] or "[]"}, RunRecord)


def _call(row: Sequence[Value]) -> CallRecord:
    values = dict(zip(CALL_COLUMNS, row, strict=True))
    return convert(values | {"is_error": bool(values["is_error"])}, CallRecord)


EVERY = timedelta(hours=1)
"""How often a store is swept at most."""

INTERRUPTED = timedelta(days=7)
"""How long an unsuccessful run can be resumed."""
_SWEPT = "swept"


class Retention(Struct, frozen=True):
    """How long and how much: ``days`` and ``size`` in bytes of all runs; ``content`` says that what broke off keeps its
    messages as long as everything else."""

    days: float = 30.0
    size: int = 256 * 1024 * 1024
    content: bool = False


def sweep(connection: Database, now: datetime, kept: Retention, alive: Callable[[str], bool]) -> bool:
    """Take away what is old, if it is time for that, and return whether it was."""
    last = note(connection, _SWEPT)
    if last is not None and stamp(now - EVERY) < last <= stamp(now):
        return False
    put_note(connection, _SWEPT, stamp(now))
    if last is None or not stamp(now - timedelta(days=min(kept.days, INTERRUPTED.days))) < last <= stamp(now):
        return False
    if not kept.content:
        for run, _, holder in whole_before(connection, stamp(now - INTERRUPTED)):
            if not alive(holder):
                for statement in FORGET_CONTENT:
                    connection.execute(statement, (run,))
    forget(connection, _dead(ids_before(connection, stamp(now - timedelta(days=kept.days))), alive))
    text = "SELECT id, state, holder FROM test WHERE started < ?"
    old = connection.execute(text, (stamp(now - timedelta(days=kept.days)),)).fetchall()
    forget_tests(connection, _dead(old, alive))
    for batch in _old_batches(connection, stamp(now - timedelta(days=kept.days)), alive):
        forget_batch(connection, batch)
    _forget_messages(connection, stamp(now - timedelta(days=kept.days)))
    while not _has_open_batch(connection) and (connection.size() or 0) > kept.size + _waiting_mail(connection):
        if (
            not _forget_ended_batch(connection)
            and not _forget_ended_messages(connection)
            and not forget(connection, _dead(oldest(connection, _AT_ONCE), alive))
            and not forget_tests(connection, _dead(_oldest_tests(connection), alive))
        ):
            break
    connection.shrink()
    return True


def _old_batches(connection: Database, before: str, alive: Callable[[str], bool]) -> list[str]:
    """Return the batches that no process has run since a moment."""
    text = "SELECT id, state, holder FROM batch WHERE COALESCE(ended, created) < ?"
    return _dead(connection.execute(text, (before,)).fetchall(), alive)


def _has_open_batch(connection: Database) -> bool:
    """Return whether rows of a batch are left: while they are, the store may be as large as it needs to be."""
    text = "SELECT 1 FROM batch WHERE state IN ('open', 'stopped') LIMIT 1"
    return connection.execute(text).fetchone() is not None


def _forget_ended_batch(connection: Database) -> int:
    """Take the oldest batch away; all of them are over."""
    row = connection.execute("SELECT id FROM batch ORDER BY created LIMIT 1").fetchone()
    return forget_batch(connection, row[0]) if row else 0


def _forget_messages(connection: Database, before: str) -> None:
    """Delete messages that ended before a moment, and those for a single run that is long over. A message that waits
    for any other reader stays."""
    connection.execute("DELETE FROM message WHERE ended < ?", (before,))
    connection.execute("DELETE FROM message WHERE reader IS NOT NULL AND time < ? AND state = 'new'", (before,))


def _forget_ended_messages(connection: Database) -> int:
    """Take the messages away that ended first."""
    text = "DELETE FROM message WHERE id IN (SELECT id FROM message WHERE ended IS NOT NULL ORDER BY ended LIMIT ?)"
    return connection.execute(text, (_AT_ONCE,)).rowcount


def _waiting_mail(connection: Database) -> int:
    """Return the approximate size of unhandled messages: the store may be larger by this amount."""
    text = "SELECT COALESCE(SUM(LENGTH(payload)), 0) FROM message WHERE ended IS NULL"
    return int(connection.execute(text).fetchone()[0])


def _dead(rows: list[tuple[str, str, str]], alive: Callable[[str], bool]) -> list[str]:
    """Return the ids of runs that no living process holds."""
    return [run for run, state, holder in rows if state != "open" or not alive(holder)]
