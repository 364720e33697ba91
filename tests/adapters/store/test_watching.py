"""A store that is looked at while others write it, in a file and on a server: what it has, and when that changes."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

from msgspec.structs import replace

from prosa.adapters.store import batches, runs
from prosa.adapters.store.database import Database
from prosa.adapters.store.opening import open_reader, open_store
from prosa.adapters.store.writer import writer_of
from prosa.app.run.world import known_prices
from prosa.app.view.listing import listed, one_listed
from prosa.app.view.watch import StoreWatch
from prosa.records.listing import RecordFilter
from prosa.records.run import RunFilter, StorePlace
from prosa.runtime.ports import Prices
from prosa.settings import Settings
from tests.web.view.stores import batch_record, ended, model_call, row_record, run_record


def prices() -> Prices:
    return known_prices(Settings())


def test_x37_a_mark_changes_with_what_others_commit(place: StorePlace):
    """X37. And with nothing else."""
    with closing(open_store(place)) as connection:
        reader = open_reader(place)
        assert reader is not None
        with closing(reader):
            before = reader.mark()
            assert reader.mark() == before
            connection.transact(lambda: batches.put_rows([run_record("a1")])(connection))
            after = reader.mark()
            assert after != before and reader.mark() == after


def test_x37_a_watch_sees_a_store_come_and_change(place: StorePlace):
    """X37. It is opened when it is there."""
    watch = StoreWatch(place)
    assert watch.mark() == watch.mark() == ""
    with closing(open_store(place)) as connection:
        first = watch.mark()
        assert first and watch.mark() == first
        connection.transact(lambda: batches.put_rows([run_record("a1")])(connection))
        assert watch.mark() not in ("", first)
    watch.close()
    if isinstance(place, Path):
        place.unlink()
        assert watch.mark() == ""


def test_x37_the_list_is_the_same_in_both(place: StorePlace):
    """X37. Pages, filters, money, and which process is alive."""
    writer = writer_of(place)

    def work(connection: Database) -> None:
        batches.put_rows([ended(run_record(f"a{n}", n // 2, program="50%_Off")) for n in range(5)])(connection)
        batches.put_rows([replace(run_record("r1", 9), holder=writer.holder), run_record("r2", 8)])(connection)
        runs.ask(model_call("r1"))(connection)
        runs.answer(model_call("r1"))(connection)
        batches.insert_batch(connection, batch_record("b1", 1, total=2, state="done"))
        batches.put_rows([row_record("b1", 1), row_record("b1", 2, "failed", kind="refused")])(connection)

    try:
        writer.do(work).result()
        everything = listed(place, RecordFilter(), prices)
        ids = [each.id for each in everything.records]
        assert ids == ["r1", "r2", "a4", "b1", "a3", "a2", "a1", "a0"]
        assert [each.condition for each in everything.records[:4]] == ["running", "stopped", "done", "failed"]
        assert everything.records[0].calls == 1 and everything.records[0].cost
        found, below = list[str](), None
        while page := listed(place, RecordFilter(limit=3, below=below), prices).records:
            found += [each.id for each in page]
            below = page[-1].key
        assert found == ids
        some = listed(place, RecordFilter(text="50%_off", kind="run"), prices)
        assert len(some.records) == 5
        assert one_listed(place, "batch", "b1", prices) == everything.records[3]
        reader = open_reader(place)
        assert reader is not None
        with closing(reader):
            assert runs.count(reader, RunFilter(states=("open",))) == 2
            assert runs.model_calls(reader, ["r1", "none"])["none"] == []
    finally:
        writer.release()
