"""What a store says of runs: lists, one run with its calls, and what is old (X25).

In: a connection. Out: records. A list reads an index and no call, so that it is quick among a hundred thousand runs.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from msgspec import convert

from prosa.adapters.store.schema import CALL_COLUMNS, RUN_COLUMNS
from prosa.data import Value
from prosa.records.run import CallRecord, RunFilter, RunRecord

if TYPE_CHECKING:
    from prosa.adapters.store.database import Database

_RUN = f"SELECT {', '.join(RUN_COLUMNS)} FROM run"  # noqa: S608 - names of ours
_CALL = f"SELECT {', '.join(CALL_COLUMNS)} FROM call"  # noqa: S608
_NOT_ASKED = (
    "SELECT 1 FROM call WHERE call.run = run.id AND call.kind = 'model' AND call.state = 'answered'"
    " AND call.service IS NULL"
)
_AT_ONCE = 500
_JSON = ("input", "again", "output", "closure")
_LISTED = ", ".join("NULL" if name in _JSON else name for name in RUN_COLUMNS)


def runs(connection: Database, chosen: RunFilter) -> list[RunRecord]:
    """Return the runs that are meant, those that began last first, without inputs and outputs."""
    where, values = _conditions(chosen)
    text = f"SELECT {_LISTED} FROM run{where} ORDER BY started DESC"  # noqa: S608
    if chosen.limit is not None:
        text, values = f"{text} LIMIT ?", [*values, chosen.limit]
    return [_run(row) for row in connection.execute(text, values)]


def _conditions(chosen: RunFilter) -> tuple[str, list[str | int]]:
    found: list[tuple[str, tuple[str, ...]]] = [("number IS NULL", ())]
    if chosen.program is not None:
        found.append(("file = ?" if "/" in chosen.program else "program = ?", (chosen.program,)))
    if chosen.since is not None:
        found.append(("started >= ?", (chosen.since,)))
    if chosen.before is not None:
        found.append(("started < ?", (chosen.before,)))
    if chosen.failed:
        found.append(("state <> 'done'", ()))
    return f" WHERE {' AND '.join(each for each, _ in found)}", [value for _, values in found for value in values]


def count(connection: Database, chosen: RunFilter) -> int:
    """Return how many runs are meant."""
    where, values = _conditions(chosen)
    (found,) = connection.execute(f"SELECT COUNT(*) FROM run{where}", values).fetchone()  # noqa: S608
    return int(found)


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
    found: set[str] = set()
    for start in range(0, len(ids), _AT_ONCE):
        some = ids[start : start + _AT_ONCE]
        text = f"SELECT id FROM run WHERE id IN ({', '.join('?' * len(some))}) AND EXISTS ({_NOT_ASKED})"  # noqa: S608
        found.update(run for (run,) in connection.execute(text, some))
    return frozenset(found)


def calls_of(connection: Database, run: str) -> list[CallRecord]:
    """Return the calls of a run, every attempt of each."""
    rows = connection.execute(f"{_CALL} WHERE run = ? ORDER BY path, attempt", (run,))
    return [_call(row) for row in rows]


def forget(connection: Database, ids: Iterable[str]) -> int:
    """Take runs away with their calls, and return how many there were."""
    gone = 0
    for each in ids:
        connection.execute("DELETE FROM call WHERE run = ?", (each,))
        gone += connection.execute("DELETE FROM run WHERE id = ?", (each,)).rowcount
    return gone


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
    found = connection.execute(
        "SELECT id, state, holder FROM run WHERE started < ? AND whole = 1 AND state <> 'done' AND number IS NULL",
        (before,),
    )
    return found.fetchall()


def oldest(connection: Database, most: int) -> list[tuple[str, str, str]]:
    """Id, state and holder of the oldest runs."""
    found = connection.execute(
        "SELECT id, state, holder FROM run WHERE number IS NULL ORDER BY started LIMIT ?", (most,)
    )
    return found.fetchall()


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
