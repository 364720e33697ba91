"""What the store has of batches at a service: which were sent, and the answers that came with them (X29).

In: records, results. Out: pieces of work for the writer. The answers are written into the calls of the rows, where the
next process of a row finds them; whatever is written twice is written once.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from msgspec import convert
from msgspec.structs import astuple

from prosa.adapters.store.database import deferred
from prosa.adapters.store.runs import stored
from prosa.records.batch import LineResult, RoundPart, custom_id, run_of_id
from prosa.runtime.digest import as_json, reply_digest

if TYPE_CHECKING:
    from prosa.adapters.store.database import Database

_COLUMNS = RoundPart.__struct_fields__
_INSERT = f"INSERT INTO wave ({', '.join(_COLUMNS)}) VALUES ({', '.join('?' * len(_COLUMNS))})"  # noqa: S608 - ours
_SELECT = f"SELECT {', '.join(_COLUMNS)} FROM wave"  # noqa: S608
_ANSWERED = (
    "UPDATE call SET state = 'answered', answer = ?, reply = ?, error = NULL, answered_by = ?, service = ?, finish = ?,"
    " input_tokens = ?, output_tokens = ?, cached_tokens = ?"
    " WHERE run = ? AND path = ? AND attempt = ? AND state = 'asked'"
)
_FAILED = "UPDATE call SET state = 'failed', error = ?, finish = ? WHERE run = ? AND path = ? AND attempt = ?"

REFUSED = "batch-line"
"""The end of a call that the service refused: the row that repeats it receives the refusal and fails."""


@deferred
def put(connection: Database, part: RoundPart) -> None:
    """Record a part that is about to be sent."""
    connection.execute(_INSERT, stored(astuple(part)))


@deferred
def uploaded(connection: Database, part: str, file: str) -> None:
    """Record that the service has the file of requests."""
    connection.execute("UPDATE wave SET state = 'uploaded', file = ? WHERE id = ?", (file, part))


@deferred
def sent(connection: Database, part: str, remote: str) -> None:
    """Record that the service is processing the part."""
    connection.execute("UPDATE wave SET state = 'sent', remote = ? WHERE id = ?", (remote, part))


@deferred
def end(connection: Database, part: RoundPart, state: str, ended: str, reason: str | None, back: int) -> None:
    """End a part of a round. ``back`` is the reserved amount that it did not cost, in billionths of a US dollar."""
    text = "UPDATE wave SET state = ?, ended = ?, reason = ? WHERE id = ? AND ended IS NULL"
    if connection.execute(text, stored((state, ended, reason, part.id))).rowcount == 1 and back > 0:
        connection.execute("UPDATE batch SET granted = granted - ? WHERE id = ?", (back, part.batch))


def open_parts(connection: Database, batch: str) -> list[RoundPart]:
    """Return those that are not over, in the order in which they were made."""
    rows = connection.execute(f"{_SELECT} WHERE batch = ? AND ended IS NULL ORDER BY number, created, id", (batch,))
    return [convert(dict(zip(_COLUMNS, row, strict=True)), RoundPart) for row in rows.fetchall()]


def known_remotes(connection: Database) -> frozenset[str]:
    """Return the ids of all batches that services gave."""
    return frozenset(name for (name,) in connection.execute("SELECT remote FROM wave WHERE remote <> ''").fetchall())


def is_asked(connection: Database, name: str) -> bool:
    """Return whether a call of that id waits for its answer."""
    return _call_of(connection, name) is not None


@deferred
def journal(connection: Database, results: Sequence[LineResult]) -> int:
    """Write what came into the journals of the rows, and return how many calls had waited for it."""
    return sum(_written(connection, result) for result in results)


def _written(connection: Database, result: LineResult) -> int:
    call = _call_of(connection, result.custom_id)
    if call is None or (result.reply is None and result.again):
        return 0
    if result.reply is None:
        return connection.execute(_FAILED, stored((result.error, REFUSED, *call))).rowcount
    reply = result.reply
    usage = reply.usage.input_tokens, reply.usage.output_tokens, reply.usage.cached_input_tokens
    reply_columns = reply_digest(reply), as_json(reply), reply.model_name, reply.service, reply.finish
    return connection.execute(_ANSWERED, stored((*reply_columns, *usage, *call))).rowcount


def _call_of(connection: Database, name: str) -> tuple[str, str, int] | None:
    """Return the last attempt at the call of an id, where it waits for its answer."""
    address = run_of_id(name)
    if address is None:
        return None
    run, path = address
    text = "SELECT path, attempt, state FROM call WHERE run = ? AND kind = 'model' ORDER BY attempt DESC"
    rows = connection.execute(text, (run,)).fetchall()
    for known, attempt, state in rows:
        if known == path or (path is None and custom_id(run, known) == name):
            return (run, known, attempt) if state == "asked" else None
    return None
