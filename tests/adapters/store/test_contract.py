"""X25, X29. What both stores promise, by the same tests: a file of SQLite and a server."""

from __future__ import annotations

import asyncio
from contextlib import closing
from datetime import timedelta
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from prosa.adapters.store import batches, leases, runs
from prosa.adapters.store.opening import open_reader, open_store
from prosa.adapters.store.runs import Retention, TakenOver, sweep
from prosa.adapters.store.writer import clear_dead, is_alive, living, writer_of
from prosa.app.journal.history import forget, listed, one
from prosa.records.batch import BatchRecord
from prosa.records.run import RunFilter, RunRecord
from prosa.runtime.budget import Ledger
from prosa.runtime.digest import stamp
from prosa.runtime.errors import NotResumed
from prosa.runtime.messages import NANO, nano
from tests.app.journal.test_store import NOW, call_record, run_record, write
from tests.depth import examples


def batch_record(name="b1", **values):
    files = {"program": "p", "file": "/p.md", "closure": "[]", "model": "m", "rows_from": "r", "rows_sha": "0"}
    return BatchRecord(name, name, stamp(NOW), **files, mapping="{}", **{"total": 3, **values})


def nobody(holder):
    return False


def test_x25_there_is_no_store_before_the_first_write_and_one_version_of_it_after(place):
    assert open_reader(place) is None and listed(place, RunFilter()).runs == ()
    with pytest.raises(NotResumed):
        one(place, "r1")
    open_store(place).close()
    open_store(place).close()
    with closing(open_reader(place)) as connection:
        assert runs.runs(connection, RunFilter()) == []


def test_x25_a_process_whose_run_was_taken_over_writes_nothing_more(place):
    """The fence: however long a process was frozen, what it still wants to write is refused, and nobody else's is."""
    write(place, runs.begin(run_record(), lambda: "h"), runs.begin(run_record("r2"), lambda: "h"))
    write(place, runs.claim(run_record(), lambda: "other", "there"))
    writer = writer_of(place)
    try:
        old, new, beside = (
            writer.do(runs.ask(call_record())),
            writer.do(runs.ask(call_record(attempt=2))),
            writer.do(runs.ask(call_record("r2"))),
        )
        with pytest.raises(TakenOver, match="another process has taken over run r1"):
            old.result()
        assert new.result() is beside.result() is None
        with pytest.raises(TakenOver, match="already"):
            writer.do(runs.claim(run_record(), lambda: "third", "there")).result()
    finally:
        writer.release()
    with closing(open_reader(place)) as connection:
        found = connection.execute("SELECT run, attempt FROM call ORDER BY run").fetchall()
    assert [tuple(each) for each in found] == [("r1", 2), ("r2", 1)]


def test_x25_a_writer_is_known_to_live_until_it_ends(place):
    writer = writer_of(place)
    name = writer.do(lambda connection: writer.holder).result()
    assert is_alive(place, name) and not living(place)("0123456789abcdef") and not living(place)("")
    clear_dead(place)
    assert is_alive(place, name)
    writer.release()
    assert not is_alive(place, name)


TEXTS = st.text(st.characters(exclude_characters="\0"), max_size=20)
RECORDS = st.builds(
    RunRecord,
    id=TEXTS.filter(bool),
    door=TEXTS,
    batch=TEXTS,
    job=TEXTS,
    program=TEXTS,
    file=TEXTS,
    closure=st.just("[]"),
    model=TEXTS,
    input_sha=TEXTS,
    started=st.just(stamp(NOW)),
    output=st.none() | st.just('{"a": 1}'),
    error=st.none() | TEXTS,
    attempts=st.integers(1, 2**53),
    seconds=st.none() | st.floats(0, 1e9),
    input_tokens=st.integers(0, 2**53),
    cost=st.none() | st.floats(0, 1e9),
    whole=st.booleans(),
    number=st.none() | st.integers(0, 2**53),
)


@settings(max_examples=examples(40), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(found=st.lists(RECORDS, max_size=6, unique_by=lambda each: runs.stored([each.id])[0]))
def test_x25_what_is_written_is_read_again(place, found):
    """Texts of any kind, whole numbers beyond 32 bits, fractions to the last digit."""
    with closing(open_store(place)) as connection:

        def work():
            connection.execute("DELETE FROM run")
            for each in found:
                runs.begin(each, str)(connection)

        connection.transact(work)
        ids = [runs.stored([each.id])[0] for each in found]
        assert [runs.run_of(connection, run)[0].id for run in ids] == ids
        again = {each.id: each for each in (runs.run_of(connection, run)[0] for run in ids)}
        texts = {run: replace(each, **_texts(each) | {"holder": ""}) for run, each in zip(ids, found, strict=True)}
        assert again == texts
        listed_ids = connection.execute("SELECT id FROM run ORDER BY id").fetchall()
        assert [run for (run,) in listed_ids] == sorted(ids, key=lambda run: run.encode())


def _texts(record):
    return {name: runs.stored([value])[0] for name, value in _fields(record) if isinstance(value, str)}


def _fields(record):
    return ((name, getattr(record, name)) for name in record.__struct_fields__)


def test_x25_a_nul_in_a_text_loses_nothing_else(place):
    write(place, runs.begin(run_record(error="a\0b"), lambda: "h"))
    (found,) = one(place, "r1")
    assert found.run.error in ("a\0b", "a\\x00b")


def test_x25_ids_are_found_by_how_they_begin(place):
    names = "ab", "aB", "ac", "a\u00e9", "b"
    write(place, *(runs.begin(run_record(name), lambda: "h") for name in names))
    with closing(open_reader(place)) as connection:
        assert [each.id for each in runs.run_of(connection, "a")] == ["aB", "ab", "ac", "a\u00e9"]
        assert [each.id for each in runs.run_of(connection, "ab")] == ["ab"]


def test_x25_old_runs_go_by_their_age_and_those_of_a_living_process_stay(place):
    late = NOW - timedelta(days=40)
    write(
        place,
        runs.begin(run_record("old", late), lambda: "gone"),
        runs.begin(run_record("new"), lambda: "gone"),
        runs.begin(run_record("busy", late), lambda: "here"),
        lambda connection: runs.put_note(connection, "swept", stamp(NOW - timedelta(days=2))),
    )
    write(place, lambda connection: sweep(connection, NOW, Retention(), lambda holder: holder == "here"))
    assert {each.id for each in listed(place, RunFilter()).runs} == {"new", "busy"}
    assert forget(place, stamp(NOW + timedelta(days=1)), dry_run=True) == 3 - 1
    assert forget(place, stamp(NOW + timedelta(days=1))) == 2 and not listed(place, RunFilter()).runs


def test_x26_a_budget_is_drawn_to_its_end_and_not_beyond(place):
    write(place, batches.hold(batch_record(), lambda: "me", "here", nobody))
    drawn = [write(place, batches.draw("b1", "me", 3, 24, 50))[0] for _ in range(4)]
    assert drawn == [24, 24, 0, 0]
    with pytest.raises(TakenOver):
        write(place, batches.draw("b1", "other", 3, 24, 50))


def row(number, **values):
    return replace(run_record(f"b1.{number}"), batch="b1", number=number, job=str(number), **values)


def test_x29_rows_are_counted_and_read_in_their_order(place):
    rows = [row(n, state="done", output=f'{{"n": {n}}}') for n in (2, 10, 1)]
    bad = row(3, state="failed", kind="refused", error="no")
    write(place, batches.put_rows([*rows, bad]), batches.put_rows(rows))
    with closing(open_reader(place)) as connection:
        assert [each.row for each in batches.results(connection, "b1")] == [1, 2, 10]
        assert [each.kind for each in batches.results(connection, "b1", failed=True)] == ["refused"]
        found = batches.counts(connection, "b1", 12)
        assert (found.done, found.failed, found.left, found.calls) == (3, {"refused": 1}, 8, 0)
        assert list(batches.row_states(connection, "b1", 4)) == [batches.DONE, batches.DONE, batches.FAILED, 0]


class Parts:
    """What one process draws of a budget in a store."""

    def __init__(self, writer: Any, name: str, living: set[str], cap: int) -> None:
        self.writer, self.name, self.living, self.cap = writer, name, living, cap
        self.waited = 0

    async def draw(self, wanted: Decimal) -> Decimal | None:
        work = leases.draw_part("b1", self.name, nano(wanted), self.cap, lambda: self.living.__contains__)
        found = await asyncio.wrap_future(self.writer.do(work))
        return None if found is None else found * NANO

    def charged(self, unused: Decimal, cost: Decimal) -> None:
        self.writer.do(leases.charge_part("b1", self.name, nano(unused), nano(cost)))

    async def wait(self) -> None:
        self.waited += 1
        assert self.waited < 10_000
        await asyncio.sleep(0.001)


CALLS = st.lists(
    st.tuples(st.integers(0, 2), st.integers(1, 40), st.integers(0, 100), st.integers(0, 3)), min_size=1, max_size=24
)


@given(calls=CALLS, cap=st.integers(1, 120), dead=st.booleans())
@settings(max_examples=examples(25), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_x26_several_processes_use_a_budget_to_its_end(tmp_path_factory, calls, cap, dead):
    """X26. Calls of three processes at once, of any worst case and any cost: what is granted never exceeds the cap, a
    call that is refused would not have fitted, and in the end what is granted is what was spent."""
    place = tmp_path_factory.mktemp("money") / "store.sqlite"
    writer = writer_of(place)
    writer.do(batches.hold(batch_record(), lambda: "me", "here", nobody)).result()
    if dead:
        writer.do(leases.draw_part("b1", "gone:1", cap // 3, cap, dict)).result()
    lost = cap // 3 if dead else 0
    living = {"p0", "p1", "p2"}
    ledgers = [Ledger(Decimal(0), pool=Parts(writer, f"p{n}:x", living, cap), whole=cap * NANO) for n in range(3)]
    refused: list[int] = []

    async def call(process: int, worst: int, percent: int, steps: int) -> None:
        ledger = ledgers[process]
        if not await ledger.reserve(worst * NANO):
            refused.append(worst)
            return
        for _ in range(steps):
            await asyncio.sleep(0.001)
        ledger.charge(worst * NANO, worst * percent // 100 * NANO)
        assert granted() <= cap

    def granted() -> int:
        text = "SELECT granted FROM batch WHERE id = 'b1'"
        return int(writer.do(lambda connection: connection.execute(text).fetchone()[0]).result())

    async def all_calls() -> None:
        await asyncio.gather(*(call(*each) for each in calls))

    try:
        asyncio.run(all_calls())
        spent = sum(nano(each.spent) for each in ledgers)
        assert granted() == spent + lost <= cap
        assert all(worst > cap - spent - lost for worst in refused)
        assert all(each.held == 0 for each in ledgers)
    finally:
        writer.release()
