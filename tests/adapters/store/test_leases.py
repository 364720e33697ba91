"""X29. The queue of leases and what goes with it: who has one, who lost it, how many calls a minute, who waits."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Awaitable, Callable
from contextlib import closing
from decimal import Decimal
from pathlib import Path
from typing import Any

import psycopg
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import prosa
from prosa.adapters.files import config_dir
from prosa.adapters.files.trust_store import TrustStore
from prosa.adapters.store import batches, leases, postgres, queue, runs
from prosa.adapters.store.opening import open_reader, open_store
from prosa.adapters.store.queue import LeaseQueue, enqueue, make_queue
from prosa.adapters.store.runs import TakenOver
from prosa.adapters.store.writer import FencedWriter, writer_of
from prosa.app.batch.prepare import Subject, subject_of
from prosa.app.batch.working import LONGEST_LEASE, lease_size, ranges
from prosa.app.batch.working import Slots as Seats
from prosa.app.options import Environment, Options
from prosa.app.run.world import server_budget
from prosa.records.run import StorePlace, StoreServer
from prosa.runtime.errors import NotTrusted, StoreProblem
from prosa.settings import Settings
from tests.adapters.store.test_contract import batch_record
from tests.app.batch.labels import LABEL, Letters, home, program, texts
from tests.app.journal.test_store import run_record, write
from tests.cli.programs import prosa as command
from tests.cli.programs import user
from tests.depth import examples

QUICK = 0.5


def prepared(url: str, *spans: tuple[int, int]) -> StoreServer:
    """A store with a batch whose leases wait."""
    server = StoreServer(url)
    items = [(number, str(number), "{}") for first, last in spans for number in range(first, last + 1)]
    write(
        server,
        make_queue,
        make_queue,
        leases.join(batch_record(total=len(items))),
        leases.put_items("b1", items),
        leases.open_for_work("b1", "{}", invalidate=True),
        lambda database: enqueue(database, "b1", spans),
        lambda database: enqueue(database, "b1", spans),
    )
    return server


async def opened(server: StoreServer, name: str) -> LeaseQueue:
    found = LeaseQueue(server, name, f"host of {name}", QUICK)
    await found.open()
    return found


async def until(taken: Callable[[], Awaitable[Any]]) -> Any:
    end = time.monotonic() + 180
    while not (found := await taken()):
        assert time.monotonic() < end
        await asyncio.sleep(0.02)
    return found


def test_x29_each_lease_is_one_workers_and_is_over_or_given_back(url: str):
    """X29: two queues share three leases; one that is given back waits for anybody."""

    async def work() -> None:
        server = prepared(url, (1, 2), (3, 4), (5, 6))
        one, other = await opened(server, "one"), await opened(server, "other")
        try:
            mine, theirs = await one.take(["b1"], 2), await other.take(["b1", "b2"], 9)
            keys = {(each.key.first, each.key.last, each.key.fencing_token) for each in (*mine, *theirs)}
            assert keys == {(1, 2, 1), (3, 4, 1), (5, 6, 1)} and len(mine) == 2
            assert await other.take(["b1"], 9) == [] == await other.take(["b2"], 9)
            await one.end(mine[0], again=True)
            await one.end(mine[1], again=False)
            (again,) = await other.take(["b1"], 9)
            assert (again.key.first, again.key.fencing_token) == (mine[0].key.first, 2)
            for each in (again, *theirs):
                await other.end(each, again=False)
        finally:
            await one.aclose()
            await other.aclose()
        assert write(server, lambda database: queue.waiting(database, "b1")) == [0]

    asyncio.run(work())


def test_x29_a_lease_that_is_worked_at_stays_and_one_that_nobody_hears_of_is_taken(url: str):
    """X29: the fence. What the first one still writes is refused, and it ends nothing of the second."""

    async def work() -> None:
        server = prepared(url, (1, 2))
        one, other = await opened(server, "one"), await opened(server, "other")
        writer = writer_of(server)
        try:
            (mine,) = await one.take(["b1"], 1)
            fenced = FencedWriter(writer, lambda database: leases.require_lease(database, mine.key))
            async with one.kept(mine):
                beat = mine.beat
                await until(lambda: _true(mine.beat > beat))
                assert await other.take(["b1"], 1) == [] and one.is_heard(mine)
                await asyncio.wrap_future(fenced.do(runs.begin(run_record("b1.1"), lambda: "one")))
            (theirs,) = await until(lambda: other.take(["b1"], 1))
            assert theirs.key.fencing_token == 2 and not one.is_heard(mine)
            for refused in (runs.begin(run_record("b1.2"), lambda: "one"), lambda _: None):
                with pytest.raises(TakenOver, match="another worker has taken over rows 1 to 2"):
                    await asyncio.wrap_future(fenced.do(refused))
            await one.end(mine, again=False)
            assert write(server, lambda database: queue.waiting(database, "b1")) == [1]
            with closing(open_reader(server)) as database:
                assert leases.hosts_at(database, "b1", lambda _: True) == ("host of other",)
                assert [number for (number,) in database.execute("SELECT id FROM run")] == ["b1.1"]
        finally:
            writer.release()
            await one.aclose()
            await other.aclose()

    asyncio.run(work())


async def _true(found: bool) -> bool:
    return found


def test_x29_a_worker_whose_own_sign_of_life_was_late_keeps_its_lease(url: str):
    """X29: its queue gives it the lease once more; it goes on with the new turn."""

    async def work() -> None:
        server = prepared(url, (1, 2))
        one = await opened(server, "one")
        try:
            (mine,) = await one.take(["b1"], 1)
            one.held[mine.job.id] = mine
            await until(lambda: _taken_again(one, mine))
            assert mine.key.fencing_token == 2
            write(server, lambda database: leases.require_lease(database, mine.key))
        finally:
            await one.aclose()

    asyncio.run(work())


async def _taken_again(one: LeaseQueue, mine: Any) -> bool:
    assert await one.take(["b1"], 1) == []
    return mine.key.fencing_token > 1


def test_x29_a_process_that_is_frozen_in_a_transaction_holds_nothing_for_long(
    url: str, monkeypatch: pytest.MonkeyPatch
):
    """X29: the server ends its connection; what it wakes up with is done anew, and checked anew."""
    monkeypatch.setattr(postgres, "IDLE_SECONDS", 1)
    server = StoreServer(url)
    tries = []
    with closing(open_store(server)) as frozen, closing(open_store(server)) as other:
        frozen.transact(lambda: runs.begin(run_record(), lambda: "h")(frozen))

        def work() -> None:
            frozen.execute("SELECT attempts FROM run FOR UPDATE").fetchone()
            tries.append(1)
            if len(tries) == 1:  # it stands still until somebody else has got the row
                other.transact(lambda: other.execute("UPDATE run SET attempts = attempts + 1"))

        frozen.transact(work)
        assert len(tries) == 2
        assert frozen.execute("SELECT attempts FROM run").fetchone() == (2,)


@settings(max_examples=examples(60), deadline=None)
@given(st.lists(st.integers(1, 10**6), unique=True).map(sorted), st.integers(1, 300))
def test_x29_leases_hold_every_row_once(numbers: list[int], size: int):
    found = ranges(numbers, size)
    assert [n for first, last in found for n in numbers if first <= n <= last] == numbers
    assert all(sum(first <= n <= last for n in numbers) <= size for first, last in found)
    assert 1 <= lease_size(len(numbers), size) <= LONGEST_LEASE


def test_x29_a_worker_that_runs_few_rows_at_once_takes_no_large_part_of_a_batch():
    """X29: whatever runs at once in the process that made the batch."""
    assert [lease_size(6_400, at_once) for at_once in (1, 32, 200, 1_000)] == [200, 32, 64, 64]
    assert lease_size(1_500, 32) == 32
    assert lease_size(20, 1_000) == 1


def test_x29_a_row_that_runs_alone_has_all_seats():
    """X29: in the order in which they were asked for, so that nobody waits for ever."""
    told = []

    async def work() -> None:
        seats = Seats(3)

        async def row(name: str, wanted: int) -> None:
            async with seats.taken(wanted):
                told.append((name, seats.free))
                await asyncio.sleep(0)

        await asyncio.gather(row("a", 1), row("b", 1), row("alone", 3), row("c", 1))
        assert seats.free == 3

    asyncio.run(work())
    assert [name for name, _ in told] == ["a", "b", "alone", "c"] and dict(told)["alone"] == 0


@pytest.mark.parametrize(
    ("limits", "tokens", "allowed"), [({"rpm": 3}, 1, 3), ({"tpm": 100}, 40, 2), ({"tpm": 10}, 40, 1)]
)
def test_x29_no_minute_has_more_than_all_may_send(url: str, limits: dict[str, int], tokens: int, allowed: int):
    """X29: by the clock of the server; what a call took in truth counts."""
    server = StoreServer(url)
    both = {"rpm": None, "tpm": None, **limits}
    ask = leases.take_pace("b1", "s m", **both, tokens=tokens, window=60.0)
    write(server, leases.join(batch_record()))
    found = write(server, *[ask] * (allowed + 2))
    assert [bool(each.id) for each in found] == [True] * allowed + [False, False]
    assert all(0 < each.wait <= 60 for each in found[allowed:])
    elsewhere = leases.take_pace("b1", "another", **both, tokens=tokens, window=60.0)
    assert write(server, elsewhere)[0].id
    write(server, lambda database: database.execute("UPDATE pace SET at = at - 61"))
    assert write(server, ask)[0].id
    if "tpm" in limits:
        (again,) = write(
            server, lambda database: database.execute("SELECT id FROM pace ORDER BY at DESC").fetchone()[0]
        )
        write(server, leases.count_tokens(again, 1000))
        assert write(server, ask)[0].wait


def results(found: prosa.BatchResult) -> list[Any]:
    both = [*found.rows(), *found.failures()]
    return [(each.row, each.id, each.output, each.kind, each.error, each.calls, each.attempts) for each in both]


@pytest.fixture(scope="module")
def expected(tmp_path_factory: pytest.TempPathFactory) -> list[Any]:
    return results(ran(tmp_path_factory.mktemp("file"), None))


def ran(folder: Path, place: StorePlace | None, **options: Any) -> prosa.BatchResult:
    rows: list[Any] = texts(90)
    rows[3], rows[5], rows[9] = {"text": 7}, {"text": "refused"}, {"text": "absent"}
    store = None if place is None else str(place)
    return prosa.batch(
        program(folder), rows, provider=Letters(), environ=home(folder), store=store, max_iterations=1, **options
    )


def test_x29_a_batch_gives_the_same_on_a_server_as_in_a_file(place: StorePlace, tmp_path: Path, expected: list[Any]):
    """X29: results, failures with their kinds, numbers of calls; and the same call again asks nobody."""
    heard: list[Any] = []
    found = ran(tmp_path, place, on_row=heard.append)
    assert results(found) == expected and found.summary.failed == {"input": 1, "refused": 1, "provider": 1}
    assert sorted(each.row for each in heard if each.ok) == [each.row for each in found.rows()]
    again = ran(tmp_path, place)
    assert again.id == found.id and results(again) == expected


def test_x29_first_some_rows_then_all_on_either_store(place: StorePlace, tmp_path: Path):
    """X29: `--limit` begins the batch that the whole goes on with."""
    model, options = Letters(), {"environ": home(tmp_path), "store": str(place)}
    first = prosa.batch(program(tmp_path), texts(20), provider=model, limit=5, **options)
    assert first.summary.done == 5 and first.summary.left == 15 and not first.ok and not first.reason
    whole = prosa.batch(program(tmp_path), texts(20), provider=model, **options)
    assert whole.ok and sum(model.asked.values()) == 20


def test_x29_too_many_failures_stop_a_batch_on_either_store(place: StorePlace, tmp_path: Path):
    rows = [{"text": f"absent {n}"} for n in range(60)]
    options = {"environ": home(tmp_path), "store": str(place), "concurrency": 4}
    found = prosa.batch(program(tmp_path), rows, provider=Letters(), **options)
    assert "rows failed" in found.reason and 20 <= found.summary.failures <= 28


def test_x29_a_row_of_fifty_megabytes_fails_alone(place: StorePlace, tmp_path: Path):
    rows = [{"text": "a"}, {"text": "x" * examples(50_000_000, share=4)}, {"text": "bb"}]
    options = {"environ": home(tmp_path), "store": str(place)}
    found = prosa.batch(program(tmp_path), rows, provider=Letters(), **options)
    assert [each.row for each in found.rows()] == [1, 3]
    assert [(each.row, each.kind) for each in found.failures()] == [(2, "input")]


def test_x29_a_row_that_ends_its_process_three_times_is_set_aside(url: str, tmp_path: Path):
    """X29: on a server too; here the store says that three workers were at it when they ended."""
    options = {"environ": home(tmp_path), "store": url}
    first = prosa.batch(program(tmp_path), texts(3), provider=Letters(), limit=1, **options)
    row = run_record(f"{first.id}.2", state="open", crashes=2, holder="gone")
    from msgspec.structs import replace

    write(StoreServer(url), batches.put_rows([replace(row, batch=first.id, number=2, job="2")]))
    model = Letters()
    found = prosa.batch(program(tmp_path), texts(3), provider=model, **options)
    assert [(each.row, each.kind) for each in found.failures()] == [(2, "crashed")]
    assert set(model.asked) == {"x" * 3}


def test_x29_failures_wait_again_for_any_worker(url: str, tmp_path: Path):
    """X29: `--retry-failed` by name needs no program and no rows, as its rows are in the store."""
    found = ran(tmp_path, StoreServer(url))
    environ = user(tmp_path, PROSA_STORE=url)
    status, at = command("batch", found.name, "--retry-failed", environ=environ)
    assert status == 0 and "2 rows wait again" in at.err, at.err
    status, at = command("batch", found.name, "--status", "--format", "json", environ=environ)
    said = json.loads(at.out)
    assert (said["state"], said["hosts"], said["left"]) == ("open", [], 2)
    status, at = command("batch", found.name, "--status", environ=environ)
    assert "on a server prosa worker does" in at.out
    assert write(StoreServer(url), lambda database: queue.waiting(database, found.id)) == [2]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("worker", "--store", "runs.sqlite"), "a worker takes rows from a server, and"),
        (("worker", "--store", "postgresql://127.0.0.1:1/db"), "cannot be reached: Connection refused"),
        (("worker", "--store", "postgresql://h/db", "--model", "gpt-4o"), "--model is a matter of the batch"),
        (("worker", "--store", "postgresql://h/db", "--mail", "p.md", "--batch", "b"), "--batch is about rows"),
    ],
)
def test_x29_wrong_use_of_a_worker_is_a_sentence(tmp_path: Path, words: tuple[str, ...], said: str):
    status, at = command(*words, environ=user(tmp_path))
    assert status in (1, 2) and said in at.err and "Traceback" not in at.err


def test_x29_a_worker_whose_store_stays_away_ends_with_a_sentence(url: str, monkeypatch: pytest.MonkeyPatch):
    """X29: after a minute; here after a moment."""
    monkeypatch.setattr(postgres, "PATIENCE", 0.2)

    async def work() -> None:
        server = prepared(url, (1, 2))
        one = await opened(server, "one")
        try:
            with psycopg.connect(url.replace(f"/{_name(url)}?", "/postgres?"), autocommit=True) as connection:
                connection.execute(f"ALTER DATABASE {_name(url)} ALLOW_CONNECTIONS false")
                connection.execute(
                    f"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '{_name(url)}'"
                )
            with pytest.raises(StoreProblem, match="cannot be reached"):
                await one.take(["b1"], 1)
        finally:
            await one.aclose()

    asyncio.run(work())


def _name(url: str) -> str:
    return url.partition("@/")[2].partition("?")[0]


def test_x26_servers_that_live_together_have_one_budget(url: str):
    """X26: what each draws counts for all; it is whole again after the last one."""
    server, living = StoreServer(url), {"one", "other"}

    def drawn(holder: str, least: int, wanted: int) -> int:
        return write(server, leases.draw_together("b", holder, living.__contains__, least, wanted, 100))[0]

    assert [drawn("one", 10, 80), drawn("other", 10, 80), drawn("one", 10, 80)] == [80, 20, 0]
    living.discard("one")
    assert drawn("third", 1, 1) == 0 and drawn("other", 1, 1) == 0
    living.clear()
    assert drawn("third", 10, 80) == 80


def test_x26_a_server_draws_its_budget_from_the_store(url: str):
    """X26: no more is reserved than the cap, by both ledgers together."""
    environment = Environment({}, Settings())
    one, other = (server_budget(Decimal(1), environment, StoreServer(url)).ledger for _ in range(2))

    async def work() -> list[bool]:
        return [await each.reserve(Decimal("0.3")) for each in (one, other, one, other, one)]

    found = asyncio.run(work())
    assert found.count(True) == 3 and one.held + other.held == Decimal("0.9")
    assert server_budget(Decimal(1), environment, Path("runs.sqlite")).ledger.left == 1


def test_x7_a_worker_starts_no_tool_servers_of_a_program_that_nobody_trusts_here(tmp_path: Path):
    """X7: the store named the program, not a person; a change of its file ends the trust."""
    path, environ = program(tmp_path), home(tmp_path)
    path.write_text(LABEL.replace("output:", "mcp_servers: [{name: files, command: x}]\noutput:"))
    environment = Environment(environ, Settings())

    def subject(**options: bool) -> Subject:
        return subject_of(path, "", Options(**options), environment, named=False)

    with pytest.raises(NotTrusted, match=r"'files' \(x\) was not started: .* is not trusted") as caught:
        subject()
    assert f"prosa trust {path}\n" in caught.value.hint
    assert subject(allow_servers=True).program.servers
    TrustStore(config_dir(environ)).add(path)
    assert subject().program.servers
    path.write_text(path.read_text() + "Again.\n")
    with pytest.raises(NotTrusted, match="was changed since you trusted it"):
        subject()
