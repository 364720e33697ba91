"""What the store has of searches for better texts (X41).

In: records. Out: pieces of work for the writer, and what is read. The number of a look is given in the transaction that
records it, before any held-out case is tried: neither two processes nor a kill make two looks one.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from msgspec import convert
from msgspec.json import decode, encode
from msgspec.structs import asdict, replace

from prosa.adapters.store.database import deferred
from prosa.adapters.store.runs import stored
from prosa.data import Value
from prosa.records.improvement import Improvement

if TYPE_CHECKING:
    from prosa.adapters.store.database import Database

COLUMNS = Improvement.__struct_fields__
_DATA = ("cases", "held_out", "candidates")
_ROW = f"SELECT {', '.join(COLUMNS)} FROM improvement"  # noqa: S608 - names of ours


@deferred
def begin(connection: Database, record: Improvement, holder: Callable[[], str]) -> None:
    """Record the start of a search, or that this process continues it."""
    connection.execute("DELETE FROM improvement WHERE id = ?", (record.id,))
    marks = ", ".join("?" * len(COLUMNS))
    text = f"INSERT INTO improvement ({', '.join(COLUMNS)}) VALUES ({marks})"  # noqa: S608
    connection.execute(text, _values(replace(record, holder=holder())))


def put(record: Improvement) -> Callable[[Database], None]:
    """Record how far a search has come. Its look stays as it was given, and the candidate that it is of."""
    names = [name for name in COLUMNS if name not in ("id", "look", "chosen", "holder")]

    def work(connection: Database) -> None:
        values = dict(zip(COLUMNS, _values(record), strict=True))
        text = f"UPDATE improvement SET {', '.join(f'{name} = ?' for name in names)} WHERE id = ?"  # noqa: S608
        connection.execute(text, [*(values[name] for name in names), record.id])

    return work


@deferred
def take_look(connection: Database, record: Improvement) -> int:
    """Give the look of a search its number: one more than those of all others that had one of its held-out cases held
    out. A search that is continued keeps its own."""
    (own,) = connection.execute("SELECT look FROM improvement WHERE id = ?", (record.id,)).fetchone()
    number = own if own is not None else earlier_looks(connection, record) + 1
    text = "UPDATE improvement SET look = ?, chosen = ?, candidates = ? WHERE id = ?"
    connection.execute(text, (number, record.chosen, encode(record.candidates).decode(), record.id))
    return int(number)


def earlier_looks(connection: Database, record: Improvement) -> int:
    """Return how many other searches have looked at a case that this one holds out."""
    own = _held(record)
    text = "SELECT cases, held_out FROM improvement WHERE look IS NOT NULL AND id <> ?"
    rows = connection.execute(text, (record.id,)).fetchall()
    return sum(not own.isdisjoint(_held_of(cases, held)) for cases, held in rows)


def _held(record: Improvement) -> set[str]:
    return {record.cases[case] for case in record.held_out}


def _held_of(cases: str, held: str) -> set[str]:
    digests = decode(cases, type=dict[str, str])
    return {digests[case] for case in decode(held, type=list[str]) if case in digests}


def sides_of(connection: Database, file: str, cases: Mapping[str, str]) -> dict[str, bool]:
    """Return which cases were held out, and which a search has seen, by name: wherever they stood and whatever they
    were called, and of one that changed, under its name in this file, where the first side counts."""
    named, same = dict[str, bool](), dict[str, bool]()
    text = "SELECT file, cases, held_out FROM improvement ORDER BY started, id"
    for where, known, held in connection.execute(text).fetchall():
        out = set(decode(held, type=list[str]))
        for name, digest in decode(known, type=dict[str, str]).items():
            same[digest] = same.get(digest, True) and name in out
            if where == file:
                named.setdefault(name, name in out)
    sides = {name: same.get(digest, named.get(name)) for name, digest in cases.items()}
    return {name: side for name, side in sides.items() if side is not None}


def unfinished(connection: Database, record: Improvement) -> list[Improvement]:
    """Return the searches of the last call that did not end and that was this one, of the same subject with the same
    options: one for each part that was started; none where there is no such call. A seed that is not -1 has to be the
    same too."""
    text = f"{_ROW} WHERE subject = ? AND digest = ? AND about = ? ORDER BY started DESC, id"
    rows = connection.execute(text, (record.subject, record.digest, record.about)).fetchall()
    improvements = [improvement for improvement in map(_record, rows) if record.seed in (-1, improvement.seed)]
    call = next((improvement.call for improvement in improvements if improvement.state != "done"), "")
    return [improvement for improvement in improvements if improvement.call == call]


def of_test(connection: Database, test: str) -> tuple[Improvement, ...]:
    """Return the searches whose attempts a stored test has."""
    rows = connection.execute(f"{_ROW} WHERE test = ? ORDER BY started, id", (test,)).fetchall()
    return tuple(map(_record, rows))


def _values(record: Improvement) -> list[object]:
    values = asdict(record)
    return stored([encode(values[name]).decode() if name in _DATA else _plain(values[name]) for name in COLUMNS])


def _plain(value: Value) -> Value:
    return int(value) if isinstance(value, bool) else value


def _record(row: tuple[object, ...]) -> Improvement:
    """Raise `ValidationError` for what no store of ours ever wrote."""
    values = dict(zip(COLUMNS, row, strict=True))
    for name in _DATA:
        values[name] = decode(str(values[name]))
    return convert(values | {"accepted": bool(values["accepted"])}, Improvement)
