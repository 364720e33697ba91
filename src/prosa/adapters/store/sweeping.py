"""What is old goes: content of runs that broke off, then whole runs, by age and by size (X25).

In: a connection and what the user wants kept. Out: a smaller store. A run held by a living process is never touched. A
clock that is briefly wrong deletes nothing: a process that finds more time passed than a run is kept only records that,
and the next sweep, an hour later, acts on it.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from msgspec import Struct

from prosa.adapters.store import reading
from prosa.adapters.store.writing import FORGET_CONTENT
from prosa.runtime.digest import stamp

if TYPE_CHECKING:
    from prosa.adapters.store.database import Database

EVERY = timedelta(hours=1)
"""How often a store is swept at most."""

INTERRUPTED = timedelta(days=7)
"""How long an unsuccessful run can be resumed."""

_AT_ONCE = 500
_SWEPT = "swept"


class Kept(Struct, frozen=True):
    """How long and how much: ``days`` and ``size`` in bytes of all runs; ``content`` says that what broke off keeps its
    messages as long as everything else."""

    days: float = 30.0
    size: int = 256 * 1024 * 1024
    content: bool = False


def sweep(connection: Database, now: datetime, kept: Kept, alive: Callable[[str], bool]) -> bool:
    """Take away what is old, if it is time for that, and return whether it was."""
    last = reading.note(connection, _SWEPT)
    if last is not None and stamp(now - EVERY) < last <= stamp(now):
        return False
    reading.put_note(connection, _SWEPT, stamp(now))
    if last is None or not stamp(now - timedelta(days=min(kept.days, INTERRUPTED.days))) < last <= stamp(now):
        return False
    if not kept.content:
        for run, _, holder in reading.whole_before(connection, stamp(now - INTERRUPTED)):
            if not alive(holder):
                for statement in FORGET_CONTENT:
                    connection.execute(statement, (run,))
    reading.forget(connection, _dead(reading.ids_before(connection, stamp(now - timedelta(days=kept.days))), alive))
    for batch in _old_batches(connection, stamp(now - timedelta(days=kept.days)), alive):
        reading.forget_batch(connection, batch)
    _forget_messages(connection, stamp(now - timedelta(days=kept.days)))
    while not _has_open_batch(connection) and (connection.size() or 0) > kept.size + _waiting_mail(connection):
        if (
            not _forget_ended_batch(connection)
            and not _forget_ended_messages(connection)
            and not reading.forget(connection, _dead(reading.oldest(connection, _AT_ONCE), alive))
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
    found = connection.execute("SELECT id FROM batch ORDER BY created LIMIT 1").fetchone()
    return reading.forget_batch(connection, found[0]) if found else 0


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


def _dead(found: list[tuple[str, str, str]], alive: Callable[[str], bool]) -> list[str]:
    """Return the ids of runs that no living process holds."""
    return [run for run, state, holder in found if state != "open" or not alive(holder)]
