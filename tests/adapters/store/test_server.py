"""X7, X25. A store on PostgreSQL: what it says of a server that is none, and what becomes of a lost one."""

from __future__ import annotations

import json
import socket
import threading
from contextlib import closing
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import psycopg
import pytest

from prosa.adapters.store import postgres, runs, schema
from prosa.adapters.store.opening import open_reader, open_store
from prosa.adapters.store.writer import writer_of
from prosa.app.journal.place import place_named, store_of
from prosa.records.run import RunFilter, StoreServer
from prosa.runtime.errors import RunError, StoreProblem
from tests.adapters.store.cluster import SECRET, Cluster
from tests.app.batch.labels import program
from tests.app.journal.test_store import run_record, write
from tests.cli.programs import prosa, user


def made(url: str, statement: str) -> None:
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(statement)


def test_x25_what_is_no_store_of_ours_is_said_and_left_as_it_is(url: str):
    made(url, "CREATE SCHEMA prosa CREATE TABLE somebodys (a INT)")
    for opens in (open_store, open_reader):
        with pytest.raises(StoreProblem, match=r"the schema prosa of .* is that of something else"):
            opens(StoreServer(url))


def test_x25_a_newer_store_is_refused_and_an_older_one_migrated(url: str, monkeypatch: pytest.MonkeyPatch):
    server = StoreServer(url)
    with monkeypatch.context() as older:
        older.setattr(schema, "MIGRATIONS", schema.MIGRATIONS[:1])
        older.setattr(schema, "SCHEMA_VERSION", 1)
        open_store(server).close()
    with closing(open_reader(server)) as connection:
        assert runs.runs(connection, RunFilter()) == []
        assert connection.execute("SELECT version FROM store_version").fetchone() == (schema.SCHEMA_VERSION,)
    made(url, "UPDATE prosa.store_version SET version = 99")
    for opens in (open_store, open_reader):
        with pytest.raises(StoreProblem, match="written by a newer Prosa"):
            opens(server)


def test_x25_a_migration_that_fails_leaves_the_older_store(url: str, monkeypatch: pytest.MonkeyPatch):
    server = StoreServer(url)
    open_store(server).close()
    monkeypatch.setattr(schema, "MIGRATIONS", (*schema.MIGRATIONS, ("CREATE TABLE one (a TEXT)", "CREATE nonsense")))
    monkeypatch.setattr(schema, "SCHEMA_VERSION", schema.SCHEMA_VERSION + 1)
    with pytest.raises(StoreProblem, match="cannot be used: syntax error"):
        open_store(server)
    monkeypatch.undo()
    open_store(server).close()


def test_x7_who_is_let_in_by_a_password_and_who_is_not(cluster: Cluster, url: str, monkeypatch: pytest.MonkeyPatch):
    """The password comes from the environment, and is in no message."""
    server = StoreServer(cluster.url(url.partition("@/")[2].partition("?")[0], "secret"))
    monkeypatch.delenv("PGPASSWORD", raising=False)
    with pytest.raises(StoreProblem, match=r"refuses the connection: .*no password supplied") as caught:
        open_store(server)
    assert "PGPASSWORD" in caught.value.hint
    monkeypatch.setenv("PGPASSWORD", "wrong-one")
    with pytest.raises(StoreProblem, match="refuses the connection") as caught:
        open_store(server)
    assert "wrong-one" not in f"{caught.value.message}{caught.value.hint}"
    monkeypatch.setenv("PGPASSWORD", SECRET)
    with pytest.raises(StoreProblem, match="permission denied") as caught:
        open_store(server)
    assert "GRANT CREATE" in caught.value.hint
    made(url, f"GRANT CREATE ON DATABASE {urlsplit(url).path[1:]} TO secret")
    open_store(server).close()


def test_x25_a_server_that_is_not_there_is_a_sentence(cluster: Cluster, tmp_path: Path):
    for address, said in (
        ("postgresql://127.0.0.1:1/none", "cannot be reached: Connection refused"),
        (f"postgresql:///none?host={tmp_path}", "cannot be reached: No such file or directory"),
        (cluster.url("none"), 'is not there: database "none" does not exist'),
        ("postgresql://h/db?nonsense=1", 'cannot be used: invalid URI query parameter: "nonsense"'),
    ):
        with pytest.raises(StoreProblem) as caught:
            open_store(StoreServer(address))
        assert caught.value.message == f"the store {address} {said}"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("postgresql://u:geheim@h/db", "holds no password"),
        ("postgres://h/db?password=geheim", "holds no password"),
        ("mysql://u:geheim@h/db", "neither"),
        ("http://h/geheim", "neither"),
        ("postgresql://[geheim", "cannot be read"),
    ],
)
def test_x7_an_address_that_is_none_is_refused_without_being_shown(text: str, said: str):
    with pytest.raises(StoreProblem, match=said) as caught:
        place_named(text)
    assert "geheim" not in caught.value.message


def test_x7_a_flag_wins_over_the_environment_and_that_over_the_settings(tmp_path: Path):
    environ = {"HOME": str(tmp_path), "PROSA_CONFIG_DIR": str(tmp_path)}
    assert store_of(None, environ) == tmp_path / ".local/share/prosa/store.sqlite"
    (tmp_path / "settings.toml").write_text('store = "postgresql://settings/db"\n')
    assert store_of(None, environ) == StoreServer("postgresql://settings/db")
    environ["PROSA_STORE"] = "postgres://variable/db"
    assert store_of(None, environ) == StoreServer("postgres://variable/db")
    assert store_of(place_named("here.sqlite"), environ) == Path("here.sqlite").absolute()
    (tmp_path / "settings.toml").write_text('store = "relative.sqlite"\n')
    with pytest.raises(RunError, match="an absolute path, or an address"):
        store_of(None, {**environ, "PROSA_STORE": ""})


def test_x7_no_project_chooses_a_store(tmp_path: Path):
    (tmp_path / "prosa.toml").write_text('store = "postgresql://elsewhere/db"\n')
    (tmp_path / "p.md").write_text("---\nname: p\n---\nHello.\n")
    environ = user(tmp_path)
    status, at = prosa("run", str(tmp_path / "p.md"), "--model", "scripted:none", environ=environ)
    assert status and "prosa.toml:1:1" in at.err and "store" in at.err


def test_x25_runs_are_kept_on_a_server_and_shown_from_there(url: str, tmp_path: Path):
    program(tmp_path)
    (tmp_path / "s.jsonl").write_text('{"content": {"n": 1}}\n')
    environ = user(tmp_path, PROSA_STORE=url)
    words = "run", str(tmp_path / "label.md"), "text=a", "--model", f"scripted:{tmp_path / 's.jsonl'}"
    status, at = prosa(*words, environ=environ)
    assert status == 0, at.err
    status, at = prosa("runs", "--format", "json", environ=environ)
    (found,) = json.loads(at.out)["runs"]
    assert (found["program"], found["state"]) == ("label", "done")
    assert not list((tmp_path / "home").rglob("store.sqlite*"))
    status, at = prosa("query", "--runs", "SELECT 1", environ=environ)
    assert status == 2 and "ask PostgreSQL itself" in at.err


def test_x25_a_lost_server_is_waited_for_and_nothing_is_written_twice(cluster: Cluster, url: str):
    """X29: what was acknowledged before is there, what waited is written once."""
    writer = writer_of(StoreServer(url))
    try:
        write(StoreServer(url), *(runs.begin(run_record(f"a{n}"), lambda: "h") for n in range(3)))
        cluster.stop()
        waiting = [writer.do(runs.begin(run_record(f"b{n}"), lambda: "h")) for n in range(3)]
        _until(lambda: writer.away)
        assert not any(each.done() for each in waiting)
        cluster.start()
        assert [each.result(60) for each in waiting] == [None] * 3 and not writer.away
    finally:
        writer.release()
    with closing(open_reader(StoreServer(url))) as connection:
        assert runs.count(connection, RunFilter()) == 6


def test_x25_a_server_that_stays_away_is_given_up(cluster: Cluster, url: str, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(postgres, "PATIENCE", 0.2)
    writer = writer_of(StoreServer(url))
    try:
        write(StoreServer(url), runs.begin(run_record(), lambda: "h"))
        cluster.stop()
        with pytest.raises(StoreProblem, match=r"was lost and is away for 0\.2 s"):
            writer.do(runs.begin(run_record("r2"), lambda: "h")).result(60)
    finally:
        cluster.start()
        writer.release()


class Cutting:
    """A way to a server that ends in the middle: what the client sends with a word in it arrives, without answer."""

    def __init__(self, target: str, word: bytes) -> None:
        self.target, self.word, self.cuts = target, word, 1
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        self.ends = [self.listener]
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self) -> None:
        while True:
            try:
                client, _ = self.listener.accept()
            except OSError:
                return
            server = socket.socket(socket.AF_UNIX)
            server.connect(self.target)
            self.ends += [client, server]
            cut = threading.Event()
            threading.Thread(target=self._pass, args=(client, server, cut, True), daemon=True).start()
            threading.Thread(target=self._pass, args=(server, client, cut, False), daemon=True).start()

    def _pass(self, one: socket.socket, other: socket.socket, cut: threading.Event, sends: bool) -> None:
        try:
            while data := one.recv(65536):
                if sends and self.cuts and self.word in data:
                    self.cuts -= 1
                    cut.set()
                if not sends and cut.is_set():
                    one.shutdown(socket.SHUT_RDWR)
                    other.shutdown(socket.SHUT_RDWR)
                    return
                other.sendall(data)
        except OSError:
            pass
        finally:
            for each in (one, other):
                each.close()

    def close(self) -> None:
        for each in self.ends:
            each.close()


class Pooling(Cutting):
    """Something that stands between: it tells its clients a process of its own, as poolers do."""

    def __init__(self, target: str) -> None:
        super().__init__(target, b"nothing is cut")

    def _pass(self, one: socket.socket, other: socket.socket, cut: threading.Event, sends: bool) -> None:
        if sends:
            super()._pass(one, other, cut, sends)
            return
        data = one.recv(65536)
        while data and (at := data.find(b"K\x00\x00\x00\x0c")) < 0:
            data += one.recv(65536)
        other.sendall(data[: at + 5] + b"\x00\x00\x00\x07" + data[at + 9 :])
        super()._pass(one, other, cut, sends)


def test_x29_a_pooler_in_front_of_the_server_is_refused(url: str):
    name, folder = urlsplit(url).path[1:], parse_qs(urlsplit(url).query)["host"][0]
    way = Pooling(f"{folder}/.s.PGSQL.5432")
    try:
        with pytest.raises(StoreProblem, match="is behind a connection pooler"):
            open_store(
                StoreServer(f"postgresql://prosa@127.0.0.1:{way.port}/{name}?sslmode=disable&gssencmode=disable")
            )
    finally:
        way.close()


@pytest.mark.parametrize("word", [b"COMMIT", b"INSERT INTO run"])
def test_x29_a_transaction_whose_end_nobody_heard_of_is_done_once(cluster: Cluster, url: str, word: bytes):
    """The connection ends after the server has got the word and before its answer is there."""
    name = urlsplit(url).path[1:]
    open_store(StoreServer(url)).close()
    socket_file = f"{parse_qs(urlsplit(url).query)['host'][0]}/.s.PGSQL.5432"
    way = Cutting(socket_file, word)
    server = StoreServer(f"postgresql://prosa@127.0.0.1:{way.port}/{name}?sslmode=disable&gssencmode=disable")
    try:
        write(server, runs.begin(run_record(), lambda: "h"))
        assert not way.cuts
        with closing(open_reader(StoreServer(url))) as connection:
            assert runs.count(connection, RunFilter()) == 1
    finally:
        way.close()


def test_x29_transactions_that_stand_in_each_others_way_are_both_done(url: str):
    """Two processes that lock the same rows in opposite orders."""
    server = StoreServer(url)
    write(server, runs.begin(run_record("a"), lambda: "h"), runs.begin(run_record("b"), lambda: "h"))
    meeting, done = threading.Barrier(2), []

    def locks(*names: str) -> None:
        with closing(open_store(server)) as connection:
            first = True

            def work() -> None:
                nonlocal first
                for name in names:
                    connection.execute("UPDATE run SET calls = calls + 1 WHERE id = ?", (name,))
                    if first and name == names[0]:
                        first = False
                        meeting.wait(180)

            connection.transact(work)
            done.append(names)

    threads = [threading.Thread(target=locks, args=names) for names in (("a", "b"), ("b", "a"))]
    for each in threads:
        each.start()
    for each in threads:
        each.join(60)
    assert len(done) == 2
    with closing(open_reader(server)) as connection:
        assert {run.calls for run in runs.runs(connection, RunFilter())} == {2}


def _until(happened) -> None:
    waited = threading.Event()
    for _ in range(6000):
        if happened():
            return
        waited.wait(0.01)
    raise AssertionError("it did not happen")
