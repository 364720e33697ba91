"""X25, X29. Writes of many runs that come together are one statement of each kind, and leave what each alone does."""

from __future__ import annotations

import asyncio
import gc
import re
import weakref
from contextlib import closing, contextmanager
from threading import Event

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from prosa.adapters.store import runs
from prosa.adapters.store.opening import SqliteDatabase, open_reader
from prosa.adapters.store.postgres import PostgresDatabase
from prosa.adapters.store.runs import TakenOver, Unwritable
from prosa.adapters.store.writer import FencedWriter, writer_of
from prosa.runtime.digest import stamp
from tests.app.journal.test_store import NOW, call_record, run_record, write
from tests.depth import examples

KINDS = "begin", "ask", "answer", "fail", "end", "forget", "held", "claim", "note"
TEXTS = st.text(st.characters(exclude_characters="\0"), max_size=5)
STEPS = st.lists(
    st.tuples(
        st.sampled_from("123"),
        st.sampled_from(KINDS),
        TEXTS,
        st.floats(0, allow_nan=False),
        st.sampled_from([0, 2**53, 2**63]),
    ),
    max_size=14,
)


@contextmanager
def together(writer):
    """Hold the writer until all that is written in the block waits."""
    held, free = Event(), Event()
    hold = writer.do(lambda _: (held.set(), free.wait(60)))
    held.wait(60)
    yield
    free.set()
    hold.result()


def piece(name, step):
    """A piece of work of one run."""
    _, kind, text, seconds, tokens = step
    run, call = run_record(name, output=text), call_record(name, request=text)
    answered = replace(call, state="answered", reply=text, answer=text, seconds=seconds, input_tokens=tokens)
    ends = {"ended": stamp(NOW), "seconds": seconds, "cost": seconds, "output": text}
    return {
        "begin": lambda: runs.begin(run, lambda: "h"),
        "ask": lambda: runs.ask(call),
        "answer": lambda: runs.answer(answered),
        "fail": lambda: runs.answer(replace(call, state="failed", error=text)),
        "end": lambda: runs.end(run, "done", **ends, forget=False),
        "forget": lambda: runs.end(run, "done", **ends, forget=True),
        "held": lambda: runs.end(run, "done", **ends, forget=True, answered=answered),
        "claim": lambda: runs.claim(run, lambda: "other", "there"),
        "note": lambda: lambda connection: runs.put_note(connection, f"note {name}", text),
    }[kind]()


def left(place, of):
    """What the store has of runs whose names begin with a letter."""
    with closing(open_reader(place)) as connection:
        tables = {"run": "id", "call": "run", "note": "name"}
        found = [
            [tuple(row) for row in connection.execute(f"SELECT * FROM {table} ORDER BY {key}")]
            for table, key in tables.items()
        ]
    return [[tuple(map(repr, row)) for row in rows if of in str(row[0])] for rows in found]


@settings(max_examples=examples(60), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(steps=STEPS)
def test_x25_x29_what_comes_together_leaves_what_it_does_one_by_one(place, steps):
    writer = writer_of(place)
    try:
        writer.do(lambda connection: [connection.execute(f"DELETE FROM {each}") for each in ("run", "call", "note")])
        alone = [writer.do(piece(f"a{step[0]}", step)).exception() for step in steps]
        with together(writer):
            futures = [writer.do(piece(f"b{step[0]}", step)) for step in steps]
        failed = [each.exception() for each in futures]
    finally:
        writer.release()
    assert [type(each) for each in failed] == [type(each) for each in alone]
    renamed = [[tuple(re.sub("a([123]')$", r"b\1", each) for each in row) for row in rows] for rows in left(place, "a")]
    assert left(place, "b") == renamed


def test_x29_rows_that_end_together_are_one_statement_of_each_kind(place, monkeypatch):
    """Also where there are several leases; a row of a lease that was given away is refused alone."""
    done: list[int] = []
    kind = SqliteDatabase if not hasattr(place, "url") else PostgresDatabase
    before = kind.change_all
    monkeypatch.setattr(
        kind, "change_all", lambda self, statement, rows: (done.append(len(rows)), before(self, statement, rows))[1]
    )

    def lost(_):
        raise TakenOver("given away")

    writer = writer_of(place)
    try:
        mine, other = FencedWriter(writer, lambda _: None), FencedWriter(writer, lost)
        names = [f"r{number}" for number in range(30)]
        with together(writer):
            begun = [mine.do(runs.begin(run_record(name), lambda: "h")) for name in names]
            asked = [mine.do(runs.ask(call_record(name))) for name in names]
            refused = other.do(runs.begin(run_record("other"), lambda: "h"))
        assert isinstance(refused.exception(), TakenOver) and not any(each.exception() for each in [*begun, *asked])
        assert done == [30, 30]
        with together(writer):
            ends = [mine.do(piece(name, ("", "held", "{}", 1.0, 1))) for name in names]
        assert not any(each.exception() for each in ends) and done == [30, 30, 30, 30]
    finally:
        writer.release()
    with closing(open_reader(place)) as connection:
        assert connection.execute("SELECT COUNT(*) FROM run WHERE state = 'done'").fetchone()[0] == 30


def test_x25_one_change_that_is_refused_leaves_the_others(place):
    write(place, *(runs.begin(run_record(name), lambda: "h") for name in ("r1", "r2", "r3")))
    write(place, runs.claim(run_record("r2"), lambda: "other", "there"))
    writer = writer_of(place)
    try:
        with together(writer):
            found = [writer.do(runs.ask(call_record(name))) for name in ("r1", "r2", "r3")]
            unknown = writer.do(piece("r4", ("", "answer", "", 0.0, 1)))
            new = writer.do(runs.begin(run_record("r5"), lambda: "h"))
        assert [type(each.exception()) for each in found] == [type(None), TakenOver, type(None)]
        assert isinstance(unknown.exception(), TakenOver) and new.exception() is None
        with together(writer):
            lacking, good = (
                writer.do(piece("r5", ("", "answer", "", 0.0, 1))),
                writer.do(piece("r1", ("", "answer", "", 0.0, 1))),
            )
        assert isinstance(lacking.exception(), Unwritable) and good.exception() is None
    finally:
        writer.release()


@pytest.mark.parametrize("large", [0, 3 * 1024 * 1024])
def test_x25_rows_of_any_size_are_written_together(place, large):
    writer = writer_of(place)
    try:
        with together(writer):
            found = [writer.do(runs.begin(run_record(f"r{n}", output="x" * large), lambda: "h")) for n in range(5)]
        assert not any(each.exception() for each in found)
    finally:
        writer.release()
    with closing(open_reader(place)) as connection:
        sizes = connection.execute("SELECT LENGTH(output) FROM run").fetchall()
    assert [size for (size,) in sizes] == [large] * 5


def test_x25_what_was_committed_is_freed_without_the_collector(tmp_path):
    """A batch of many rows would leave each of them to the garbage collector."""

    async def work():
        commit = writer.do(piece("r1", ("1", "begin", "", 0.0, 0)))
        await commit
        found = weakref.ref(commit)
        del commit
        await writer.do(piece("r2", ("2", "begin", "", 0.0, 0)))  # the writer has let go of the work before
        return found()

    writer = writer_of(tmp_path / "store.sqlite")
    gc.disable()
    try:
        assert asyncio.run(work()) is None
    finally:
        gc.enable()
        writer.release()
