"""X25, X10. The store: private, versioned, never made anew; many processes and threads write it."""

from __future__ import annotations

import os
import resource
import sqlite3
import stat
import sys
from contextlib import closing, suppress
from datetime import timedelta
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Event

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from msgspec.structs import astuple

from prosa.adapters.store import batches, runs, schema
from prosa.adapters.store.opening import backup_path, file_system, open_reader, open_store, refuse_network
from prosa.adapters.store.runs import Retention, sweep
from prosa.adapters.store.writer import Holder, clear_dead, is_alive, writer_of
from prosa.app.journal.history import forget, listed, one
from prosa.app.journal.query import query_runs
from prosa.corpus.errors import QueryRefused
from prosa.corpus.sql import QueryLimits
from prosa.records.run import RunFilter, RunRecord
from prosa.runtime.digest import stamp
from prosa.runtime.errors import NotResumed, StoreProblem
from tests import warm
from tests.app.journal.stored import NOW, call_record, run_record, write
from tests.cli.programs import ROOT, SOURCE
from tests.depth import examples


@pytest.fixture
def store(tmp_path):
    return tmp_path / "store.sqlite"


def test_x10_the_store_is_for_its_owner_alone(store):
    os.umask(os.umask(0o022))
    write(store, runs.begin(run_record(), lambda: "h"))
    found = [each for each in store.parent.iterdir() if each.is_file()]
    assert found and all(stat.S_IMODE(each.stat().st_mode) == 0o600 for each in found)
    store.chmod(0o644)
    open_store(store).close()
    assert stat.S_IMODE(store.stat().st_mode) == 0o600
    store.chmod(0o666)
    with pytest.raises(StoreProblem, match="may be written by others") as caught:
        open_store(store)
    assert f"chmod 600 {store}" in caught.value.hint


def test_x25_a_store_is_durable_and_forgets_for_good(store):
    with closing(open_store(store)) as connection:
        names = "journal_mode", "synchronous", "secure_delete", "auto_vacuum", "user_version", "application_id"
        pragmas = {name: connection.execute(f"PRAGMA {name}").fetchone()[0] for name in names}
    assert pragmas == {
        "journal_mode": "wal",
        "synchronous": 2,
        "secure_delete": 1,
        "auto_vacuum": 2,
        "user_version": schema.SCHEMA_VERSION,
        "application_id": schema.APPLICATION_ID,
    }


def foreign(path):
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("CREATE TABLE somebodys (a)")


def newer(path):
    open_store(path).close()
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA user_version = 99")


def lacking(path):
    open_store(path).close()
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("DROP TABLE call")


def torn(path):
    write(path, *(runs.begin(run_record(f"r{n}"), lambda: "h") for n in range(200)))
    data = bytearray(path.read_bytes())
    data[100:6000] = bytes(5900)
    path.write_bytes(data)


def folder(path):
    path.mkdir()


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda path: path.write_bytes(b"no database " * 99), "is not an SQLite file"),
        (foreign, "is the SQLite file of something else"),
        (newer, r"was written by a newer Prosa: it has version 99 of the schema, and this Prosa knows \d+"),
        (lacking, "is damaged: it lacks the table call"),
        (torn, "is damaged"),
        (folder, r"is not a regular file|cannot be made"),
    ],
    ids=["garbage", "foreign", "newer", "lacking", "torn", "folder"],
)
def test_x25_a_file_that_is_no_store_of_ours_is_said_and_left_as_it_is(store, make, said):
    make(store)
    before = None if store.is_dir() else store.read_bytes()
    with pytest.raises(StoreProblem, match=said) as caught:
        open_store(store)
    assert caught.value.hint
    with pytest.raises(StoreProblem, match=said):
        reader = open_reader(store)
        assert reader is not None
        with closing(reader):
            runs.runs(reader, RunFilter())
    assert before is None or store.read_bytes() == before


def test_x25_a_store_in_a_folder_that_is_not_there_is_said(tmp_path):
    with pytest.raises(StoreProblem, match="cannot be made: No such file or directory"):
        open_store(tmp_path / "gone" / "store.sqlite")


def test_x25_an_older_store_is_migrated_with_a_copy_beside(store, monkeypatch):
    write(store, runs.begin(run_record(), lambda: "h"))
    before = schema.SCHEMA_VERSION
    later = (*schema.MIGRATIONS, ("ALTER TABLE note ADD COLUMN about TEXT", "UPDATE note SET about = ''"))
    monkeypatch.setattr(schema, "MIGRATIONS", later)
    monkeypatch.setattr(schema, "SCHEMA_VERSION", len(later))
    with closing(open_store(store)) as connection:
        assert [run.id for run in runs.runs(connection, RunFilter())] == ["r1"]
        assert connection.execute("SELECT about FROM note").fetchall() == []
        assert schema.version_of(connection) == len(later)
    copy = backup_path(store, before)
    assert stat.S_IMODE(copy.stat().st_mode) == 0o600
    with closing(sqlite3.connect(copy)) as connection:
        assert schema.version_of(connection) == before
        assert connection.execute("SELECT id FROM run").fetchall() == [("r1",)]


def test_x25_a_migration_that_fails_leaves_the_older_store(store, monkeypatch):
    write(store, runs.begin(run_record(), lambda: "h"))
    before = schema.SCHEMA_VERSION
    later = (*schema.MIGRATIONS, ("ALTER TABLE note ADD COLUMN about TEXT", "this is not a SQL"))
    with monkeypatch.context() as patched:
        patched.setattr(schema, "MIGRATIONS", later)
        patched.setattr(schema, "SCHEMA_VERSION", len(later))
        with pytest.raises(StoreProblem, match="cannot be used"):
            open_store(store)
    with closing(open_store(store)) as connection:
        assert schema.version_of(connection) == before
        assert [run.id for run in runs.runs(connection, RunFilter())] == ["r1"]


def test_x25_a_store_without_batches_gets_them_and_keeps_its_runs(store, monkeypatch):
    with monkeypatch.context() as patched:
        patched.setattr(schema, "MIGRATIONS", schema.MIGRATIONS[:1])
        patched.setattr(schema, "SCHEMA_VERSION", 1)
        patched.setattr("prosa.adapters.store.opening.TABLES", frozenset(("run", "call", "note")))
        with closing(open_store(store)) as connection:
            names = [name for name in RunRecord.__struct_fields__ if name not in ("number", "crashes")]
            values = dict(zip(RunRecord.__struct_fields__, astuple(run_record()), strict=True))
            text = f"INSERT INTO run ({', '.join(names)}) VALUES ({', '.join('?' * len(names))})"
            connection.execute(text, [values[name] for name in names])
    with closing(open_store(store)) as connection:
        (run,) = runs.runs(connection, RunFilter())
        assert (run.id, run.number, run.crashes) == ("r1", None, 0)
        assert batches.batches(connection) == []


MOUNTS = """\
21 1 8:1 / / rw,relatime - ext4 /dev/sda1 rw
22 21 0:40 / /home/ada rw - nfs4 server:/home rw
23 22 8:2 / /home/ada/here rw - xfs /dev/sdb1 rw
24 21 0:41 / /media/a\\040share rw - cifs //server/share rw
a line that is none
"""


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        ("/home/ada/store", "nfs4"),
        ("/home/ada/here/store", "xfs"),
        ("/home/adamant/store", "ext4"),
        ("/media/a share/store", "cifs"),
        ("/", "ext4"),
    ],
)
def test_x25_a_network_file_system_is_refused(path, kind):
    assert file_system(Path(path), MOUNTS) == kind
    if kind in ("nfs4", "cifs"):
        with pytest.raises(StoreProblem, match=f"would be on a network file system \\({kind}\\)"):
            refuse_network(Path(path), MOUNTS)
    else:
        refuse_network(Path(path), MOUNTS)
        refuse_network(Path(path), "")


def test_x25_what_waits_becomes_one_transaction(store):
    writer = writer_of(store)
    try:
        writer.do(runs.begin(run_record(), lambda: "h")).result()
        before = writer.transactions
        gate = writer.do(lambda _: barrier.wait())
        futures = [writer.do(runs.ask(call_record(path=str(n)))) for n in range(500)]
        barrier.set()
        for future in [gate, *futures]:
            future.result()
        assert writer.transactions - before <= 3
    finally:
        writer.release()
    with closing(sqlite3.connect(store)) as connection:
        assert connection.execute("SELECT COUNT(*) FROM call").fetchone() == (500,)


class _Barrier:
    """Holds the writer until everything waits."""

    def __init__(self):
        import threading

        self.event = threading.Event()

    def wait(self):
        self.event.wait(120)

    def set(self):
        self.event.set()


barrier = _Barrier()


def test_x25_whoever_holds_a_run_is_known_to_live_until_it_ends(store):
    holder = Holder(store)
    assert is_alive(store, holder.name)
    holder.release()
    assert not is_alive(store, holder.name)
    left = store.with_name("store.sqlite.live") / "0123456789abcdef"
    left.touch(mode=0o600)
    other = Holder(store)
    clear_dead(store)
    assert not left.exists() and is_alive(store, other.name)
    other.release()


def test_x25_two_processes_write_one_store(store):
    code = (
        "import sys; from pathlib import Path; from tests.app.journal.stored import *\n"
        "who = sys.argv[2]\n"
        "write(Path(sys.argv[1]), *(runs.begin(run_record(f'{who}{n}'), lambda: who) for n in range(50)))\n"
    )
    environ = {**os.environ, "PYTHONPATH": f"{SOURCE}{os.pathsep}{ROOT}"}
    children = [warm.popen([sys.executable, "-c", code, str(store), who], env=environ) for who in "abc"]
    assert [child.wait(60) for child in children] == [0, 0, 0]
    with closing(sqlite3.connect(store)) as connection:
        assert connection.execute("SELECT COUNT(*) FROM run").fetchone() == (150,)


def test_x25_a_full_disk_fails_what_waits_with_a_sentence_and_loses_nothing_before(store):
    """A limit on the size of files stands for the disk."""
    code = (
        "import resource, signal, sys; from pathlib import Path; from tests.app.journal.stored import *\n"
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        "path = Path(sys.argv[1])\n"
        "writer = writer_of(path)\n"
        "writer.do(runs.begin(run_record(), lambda: 'h')).result()\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (400_000, 400_000))\n"
        "done = 0\n"
        "try:\n"
        "    for n in range(1, 400):\n"
        "        writer.do(runs.ask(call_record(path=str(n), request='x' * 1000))).result()\n"
        "        done = n\n"
        "except StoreProblem as problem:\n"
        "    print(done, problem.message)\n"
        "writer.release()\n"
    )
    environ = {**os.environ, "PYTHONPATH": f"{SOURCE}{os.pathsep}{ROOT}"}
    child = warm.run([sys.executable, "-c", code, str(store)], env=environ, capture_output=True, text=True)
    done, _, message = child.stdout.partition(" ")
    assert (child.stderr == "" and message.startswith(f"the store {store}")) or "no room" in message
    assert int(done) > 5
    with closing(open_store(store)) as connection:
        assert len(runs.calls_of(connection, "r1")) == int(done)
    assert resource.getrlimit(resource.RLIMIT_FSIZE)[0] != 200_000


def days(number):
    return timedelta(days=number)


def swept(store, now, kept=None, alive=lambda _: False):
    return write(store, lambda connection: sweep(connection, now, kept or Retention(), alive))[0]


def ids(store):
    with closing(open_store(store)) as connection:
        return {run.id: run.whole for run in runs.runs(connection, RunFilter())}


def test_x25_old_runs_go_and_interrupted_ones_lose_their_content_first(store):
    write(
        store,
        runs.begin(run_record("old", NOW - days(31), state="done", whole=False), lambda: ""),
        runs.begin(run_record("broken", NOW - days(8), state="failed"), lambda: ""),
        runs.begin(run_record("fresh", NOW - days(6), state="failed"), lambda: ""),
        runs.begin(run_record("living", NOW - days(40)), lambda: "alive"),
        runs.ask(call_record("broken", request="what was said")),
    )
    assert not swept(store, NOW - days(0.1))  # the first one only writes down that it was there
    assert ids(store).keys() == {"old", "broken", "fresh", "living"}
    assert not swept(store, NOW - days(0.09))  # not yet time
    assert swept(store, NOW, alive=lambda holder: holder == "alive")
    assert ids(store) == {"broken": False, "fresh": True, "living": True}
    with closing(open_store(store)) as connection:
        assert [call.request for call in runs.calls_of(connection, "broken")] == [None]


def test_x25_a_clock_that_jumps_takes_nothing_away(store):
    write(store, runs.begin(run_record("mine", NOW, state="done"), lambda: ""))
    swept(store, NOW)
    assert not swept(store, NOW + days(400))
    assert not swept(store, NOW + timedelta(hours=2))  # it went back
    assert not swept(store, NOW - days(400))
    assert ids(store).keys() == {"mine"}
    assert not swept(store, NOW + days(31))
    assert swept(store, NOW + days(31) + timedelta(hours=2))  # the time has passed indeed
    assert ids(store) == {}


def test_x25_the_oldest_runs_make_room(store):
    long = "x" * 10_000
    write(
        store,
        *(
            work
            for n in range(100)
            for work in (
                runs.begin(run_record(f"r{n:03}", NOW - timedelta(minutes=100 - n), state="done"), lambda: ""),
                runs.ask(call_record(f"r{n:03}", request=long)),
            )
        ),
    )
    swept(store, NOW)
    before = store.stat().st_size
    assert before > 1_000_000
    assert swept(store, NOW + timedelta(hours=2), Retention(size=500_000))
    with closing(open_store(store)) as connection:
        assert connection.size() <= 500_000
    assert store.stat().st_size < before / 1.5


def test_whatever_keeps_a_store_from_opening_is_told_and_nobody_waits_for_ever(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(path: Path) -> None:
        raise LookupError("a fault of ours")

    monkeypatch.setattr("prosa.adapters.store.writer.open_store", fail)
    writer = writer_of(tmp_path / "store.sqlite")
    try:
        with pytest.raises(LookupError, match="a fault of ours"):
            writer.do(lambda connection: None).result(10)
    finally:
        writer.release()


def broken_name(path):
    """The name of a table is no text any more, nor is what SQLite says of it."""
    open_store(path).close()
    data = path.read_bytes()
    path.write_bytes(data.replace(b"CREATE TABLE note", b"CREATE TABL\xd4 note"))


def broken_value(path):
    """A closure that is no JSON, and a number that is none."""
    write(path, runs.begin(run_record(), lambda: "h"))
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("UPDATE run SET closure = '[\x01', calls = 'x'")
        connection.commit()


@pytest.mark.parametrize("make", [torn, broken_name, broken_value])
@pytest.mark.parametrize(
    "ask",
    [
        lambda path: listed(path, RunFilter()),
        lambda path: one(path, "r1"),
        lambda path: forget(path, stamp(NOW + timedelta(days=1))),
        lambda path: query_runs(path, "SELECT * FROM runs", QueryLimits()),
    ],
    ids=["list", "show", "forget", "query"],
)
def test_x25_whoever_asks_a_damaged_store_hears_that_it_is_damaged(store, make, ask):
    make(store)
    try:
        ask(store)  # what is damaged may lie where this does not look
    except StoreProblem as problem:
        assert "is damaged" in problem.message or "cannot be used" in problem.message
        return
    assert make is broken_value


@settings(max_examples=examples(60), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_x25_no_byte_of_a_store_can_bring_down_or_hold_up_who_asks_it(tmp_path, data):
    whole = tmp_path / "whole.sqlite"
    if not whole.exists():
        call = call_record()
        write(whole, runs.begin(run_record(), lambda: "h"), runs.ask(call), runs.answer(call))
        with closing(sqlite3.connect(whole)) as connection:
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    content = bytearray(whole.read_bytes())
    written = [place for place, byte in enumerate(content) if byte]
    for place in data.draw(st.lists(st.sampled_from(written), min_size=1, max_size=4)):
        content[place] = data.draw(st.integers(0, 255))
    with TemporaryDirectory(dir=tmp_path) as folder:
        path = Path(folder) / "store.sqlite"
        path.write_bytes(content)
        path.chmod(0o600)
        for ask in (
            lambda: listed(path, RunFilter()),
            lambda: one(path, "r1"),
            lambda: query_runs(path, "SELECT * FROM runs, calls", QueryLimits()),
            lambda: forget(path, stamp(NOW + timedelta(days=1))),
        ):
            with suppress(StoreProblem, NotResumed, QueryRefused):
                ask()
        assert path.exists()


def test_x25_processes_that_make_a_store_at_the_same_moment_all_have_it(tmp_path):
    code = (
        "import os, sys; from pathlib import Path; from prosa.adapters.store.opening import open_store\n"
        "def opens(path):\n"
        "    child = os.fork()\n"
        "    if child:\n"
        "        return child\n"
        "    try:\n"
        "        open_store(path).close()\n"
        "    except BaseException as error:\n"
        "        print(error, flush=True)\n"
        "    os._exit(0)\n"
        f"for n in range({examples(15, share=2)}):\n"
        "    for child in [opens(Path(sys.argv[1], f'{n}.sqlite')) for _ in range(8)]:\n"
        "        os.waitpid(child, 0)\n"
    )
    environ = {**os.environ, "PYTHONPATH": f"{SOURCE}{os.pathsep}{ROOT}"}
    child = warm.run([sys.executable, "-c", code, str(tmp_path)], env=environ, capture_output=True, text=True)
    assert (child.stdout, child.stderr) == ("", "")


PIECES = st.lists(
    st.sampled_from(["good", "overflow", "text", "type", "own", "twice", "half"]), min_size=1, max_size=8
).filter(lambda kinds: "good" in kinds)


@given(kinds=PIECES)
@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_x25_x29_a_piece_that_cannot_be_written_leaves_the_others(tmp_path_factory, kinds):
    """X25, X29. Whatever one piece of work raises, what is written beside it in the same transaction is kept, and of
    itself nothing is."""

    def piece(at: int, kind: str):
        record = call_record(path=str(at), input_tokens=2**63 if kind == "overflow" else 1)

        def work(connection):
            if kind == "half":
                runs.ask(call_record(path=f"{at}.half"))(connection)
            if kind in ("own", "half"):
                raise KeyError("anything")
            if kind == "twice":
                connection.execute("INSERT INTO note VALUES ('same', '1'), ('same', '2')")
            if kind == "text":
                connection.execute("INSERT INTO note (name, value) VALUES (?, '')", ("\ud800",))
            if kind == "type":
                connection.execute("INSERT INTO note (name, value) VALUES (?, '')", ({},))
            runs.ask(record)(connection)

        return work

    store = tmp_path_factory.mktemp("store") / "store.sqlite"
    writer = writer_of(store)
    try:
        writer.do(runs.begin(run_record(attempts=1), lambda: "h")).result()
        stop, together = Event(), Event()
        hold = writer.do(lambda _: (together.set(), stop.wait(10)))  # the others wait, and become one transaction
        together.wait(10)
        futures = [writer.do(piece(at, kind)) for at, kind in enumerate(kinds)]
        stop.set()
        hold.result()
        failed = [future.exception() for future in futures]
        found = writer.do(lambda connection: runs.calls_of(connection, "r1")).result()
    finally:
        writer.release()
    assert [each.path for each in found] == [str(at) for at, kind in enumerate(kinds) if kind == "good"]
    for kind, error in zip(kinds, failed, strict=True):
        assert (error is None) == (kind == "good")
        assert error is None or isinstance(error, runs.Unwritable)
