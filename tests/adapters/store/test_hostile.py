"""X29. A shared store in which a stranger wrote: a batch is refused by its name, or a row fails, and workers go on."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import psycopg
import pytest

from tests import depth
from tests.adapters.store.cluster import Cluster
from tests.app.batch.labels import program
from tests.cli.programs import prosa, user
from tests.model_server.connection import Request
from tests.model_server.fixture import model_server
from tests.model_server.server import ModelServer

__all__ = ["model_server"]

Database = psycopg.Connection[tuple[Any, ...]]
DEEP = "[" * 100_000


class Shop:
    """A store with a batch of four rows, two of which wait, and copies of it that a test may spoil: `bad` is the id of
    the last one."""

    def __init__(self, folder: Path, url: str, model: ModelServer) -> None:
        self.folder, self.url, self.model = folder, url, model
        program(folder)
        self.environ = user(folder, OPENAI_BASE_URL=model.base_url, OPENAI_API_KEY="sk-x", PROSA_STORE=url)
        model.answer = lambda request: {"content": {"n": len(text_of(request))}}
        (folder / "rows.jsonl").write_text('{"text": "a"}\n{"text": "bb"}\n')
        words = "batch", folder / "label.md", "--rows", folder / "rows.jsonl", "--no-progress", "--yes"
        status, at = prosa(*words, environ=self.environ)
        assert status == 0, at.err
        with self.connected() as database:
            (self.good,) = database.execute("UPDATE batch SET state = 'open', total = 4 RETURNING id").fetchone()
            self.add_rows(database, self.good, 3)

    def copy(self, bad: str = "bad") -> None:
        """Add a copy of the batch, which has done nothing."""
        self.bad = bad
        columns = "created, program, file, closure, model, rows_from, rows_sha, mapping, state, holder, host, granted"
        with self.connected() as database:
            database.execute(
                f"INSERT INTO batch (id, name, total, options, {columns})"
                f" SELECT '{bad}', '{bad}-one', 2, options, {columns} FROM batch WHERE id = '{self.good}'"
            )
            self.add_rows(database, bad, 1)

    def add_rows(self, database: Database, batch: str, first: int) -> None:
        for at_row in (first, first + 1):
            item = batch, at_row, str(at_row), json.dumps({"text": "x" * at_row})
            database.execute("INSERT INTO item VALUES (%s, %s, %s, %s)", item)

    def connected(self) -> Database:
        found = psycopg.connect(self.url, autocommit=True)
        found.execute("SET search_path TO prosa")
        return found

    def work(self, *words: str) -> tuple[int, str]:
        """A worker, until nothing is left that it can run."""
        root = "worker", "--until-empty", "--root", self.folder, *words
        status, at = prosa(*root, environ=self.environ)
        assert "Traceback" not in at.err and "internal error" not in at.err, at.err
        return status, at.err

    def states(self, batch: str) -> dict[int, tuple[str, str | None]]:
        """State and kind of each row of a batch."""
        text = "SELECT number, state, kind FROM run WHERE batch = %s ORDER BY number"
        with self.connected() as database:
            return {number: (state, kind) for number, state, kind in database.execute(text, (batch,))}

    def change(self, text: str, *values: Any) -> None:
        with self.connected() as database:
            database.execute(text, values)


def text_of(request: Request) -> str:
    return str(request.body["messages"][-1]["content"]).strip()


@pytest.fixture
def shop(tmp_path: Path, url: str, model_server: ModelServer, monkeypatch: pytest.MonkeyPatch) -> Iterator[Shop]:
    monkeypatch.setattr("prosa.app.batch.working.POLL", 0.05)
    monkeypatch.setattr("prosa.app.batch.shared.POLL", 0.05)
    monkeypatch.chdir(tmp_path)
    found = Shop(tmp_path, url, model_server)
    found.copy()
    yield found


class Visited(NamedTuple):
    """What a worker did with batches of which each is spoiled in another way."""

    shop: Shop
    batches: dict[str, str]
    status: int
    said: str


Visit = Callable[[dict[str, Callable[[Shop], None]], str], Visited]


@pytest.fixture(scope="module")
def visits(cluster: Cluster) -> Iterator[dict[str, tuple[str, Visited]]]:
    found: dict[str, tuple[str, Visited]] = {}
    yield found
    for url, _ in found.values():
        cluster.empty(url)


@pytest.fixture
def visit(
    visits: dict[str, tuple[str, Visited]],
    cluster: Cluster,
    model_server: ModelServer,
    tmp_path_factory: pytest.TempPathFactory,
    monkeypatch: pytest.MonkeyPatch,
) -> Visit:
    """A worker at a store with a batch for each way to spoil one, once for all of them; in `make test-deep` once for
    each alone."""

    def visited(ways: dict[str, Callable[[Shop], None]], way: str) -> Visited:
        some = {way: ways[way]} if depth.DEEP else ways
        known = "/".join(some)
        folder = visits[known][1].shop.folder if known in visits else tmp_path_factory.mktemp("shop")
        monkeypatch.chdir(folder)
        if known not in visits:
            for module in ("working", "shared"):
                monkeypatch.setattr(f"prosa.app.batch.{module}.POLL", 0.05)
            url = cluster.database()
            shop = Shop(folder, url, model_server)
            batches = {each: f"bad{number}" for number, each in enumerate(some)}
            for each, spoil in some.items():
                shop.copy(batches[each])
                spoil(shop)
            visits[known] = url, Visited(shop, batches, *shop.work())
        return visits[known][1]

    return visited


def options(**values: Any) -> Callable[[Shop], None]:
    """Options with other values."""

    def change(shop: Shop) -> None:
        with shop.connected() as database:
            (found,) = database.execute("SELECT options FROM batch WHERE id = %s", (shop.bad,)).fetchone() or ("",)
        shop.change(
            "UPDATE batch SET options = %s WHERE id = %s", json.dumps({**json.loads(found), **values}), shop.bad
        )

    return change


def column(name: str, value: Any) -> Callable[[Shop], None]:
    return lambda shop: shop.change(f"UPDATE batch SET {name} = %s WHERE id = %s", value, shop.bad)


def item(name: str, value: Any) -> Callable[[Shop], None]:
    return lambda shop: shop.change(f"UPDATE item SET {name} = %s WHERE batch = %s AND number = 1", value, shop.bad)


def earlier(**values: Any) -> Callable[[Shop], None]:
    """A row that a process was at before, as a stranger spoiled it."""

    def change(shop: Shop) -> None:
        columns = (
            "door, batch, job, program, file, closure, model, input_sha, started, state, attempts, holder, host,"
            " calls, tools, input_tokens, output_tokens, cached_tokens, whole, number"
        )
        shop.change(
            f"INSERT INTO run (id, {columns}) SELECT '{shop.bad}.1', door, '{shop.bad}', job, program, file, closure,"
            " model, input_sha, started, 'open', 1, 'gone', host, 0, 0, 0, 0, 0, 1, 1 FROM run WHERE batch = %s"
            " LIMIT 1",
            shop.good,
        )
        for name, value in values.items():
            shop.change(f"UPDATE run SET {name} = %s WHERE id = %s", value, f"{shop.bad}.1")

    return change


def calls(reply: str) -> Callable[[Shop], None]:
    """An answered call of such a row, whose reply is not what Prosa wrote."""

    def change(shop: Shop) -> None:
        earlier()(shop)
        columns = (
            "path, attempt, kind, program, name, digest, started, is_error, input_tokens, output_tokens, cached_tokens"
        )
        shop.change(
            f"INSERT INTO call (run, state, reply, {columns}) SELECT '{shop.bad}.1', 'answered', %s, {columns}"
            " FROM call WHERE kind = 'model' LIMIT 1",
            reply,
        )

    return change


REFUSED = {
    "no JSON": column("options", '{"bad'),
    "deep options": column("options", DEEP),
    "another type": column("options", '{"path": 5}'),
    "an infinite pace": column("options", '{"path": "label.md", "rpm": 1e999}'),
    "a negative pace": options(rpm=-1),
    "no tokens a minute": options(tpm=0),
    "a negative cap": options(cap=-5),
    "no share of failures": options(max_failures="many"),
    "a negative limit": options(limits={"iterations": -1}),
    "a limit that is none": options(limits={"iterations": "many"}),
    "a NUL in the path": options(path="la\0bel.md"),
    "a path that leads out": options(path="../../../etc/passwd"),
    "a file of replies": options(model="scripted:/etc/passwd"),
    "the own machine": options(model="local"),
    "a closure that is not a JSON": column("closure", "x"),
    "a closure of another shape": column("closure", "[[1,2,3]]"),
}


@pytest.mark.parametrize("way", REFUSED)
def test_x29_a_batch_that_cannot_be_read_is_refused_by_its_name(visit: Visit, way: str):
    """X29, X7. The worker says which batch it leaves and why, and does the others."""
    shop, batches, status, said = visit(REFUSED, way)
    assert status == 0, said
    assert said.count(f"{batches[way]}-one: not run here: ") == 1
    assert set(shop.states(shop.good).values()) == {("done", None)} and len(shop.states(shop.good)) == 4
    assert not shop.states(batches[way])


FAILED = {
    "an input that is not a JSON": (item("input", "no json"), "input"),
    "a deep input": (item("input", DEEP), "input"),
    "a deep input that is whole": (item("input", '{"text": ' + "[" * 900 + "]" * 900 + "}"), "input"),
    "an input of another type": (item("input", "5"), "input"),
    "an infinite input": (item("input", '{"text": 1e999}'), "input"),
    "a name that is not a JSON": (item("job", "no json"), "input"),
    "an earlier closure that is not a JSON": (earlier(closure="x"), "crashed"),
    "an earlier state that is none": (earlier(state="interrupted", door="x", kind="y"), None),
    "an earlier number beyond all": (earlier(attempts=2**62), None),
    "an answer that is not a reply": (calls("[]"), None),
}


@pytest.mark.parametrize(("way", "kind"), [(way, kind) for way, (_, kind) in FAILED.items()], ids=FAILED)
def test_x29_a_row_that_cannot_be_read_fails_alone(visit: Visit, way: str, kind: str | None):
    """X29. The other row of its batch is done, and so is every other batch."""
    shop, batches, status, said = visit({each: spoil for each, (spoil, _) in FAILED.items()}, way)
    assert status == 0, said
    assert set(shop.states(shop.good).values()) == {("done", None)}
    found = shop.states(batches[way])
    assert found[2] == ("done", None)
    assert found[1] == (("done", None) if kind is None else ("failed", kind)), found
    status, at = prosa("batch", f"{batches[way]}-one", "--export", f"{batches[way]}.jsonl", environ=shop.environ)
    assert status == 0, at.err
    lines = Path(f"{batches[way]}.jsonl").read_text().splitlines()
    assert [json.loads(each)["row"] for each in lines][-1] == 2


ODD = {
    "more rows than memory": column("total", 2**62),
    "a negative number": item("number", -1),
    "a number beyond all": item("number", 10**12),
    "a name with an escape": column("name", "bad-one\x1b[2J"),
    "a lease that is none": lambda shop: enqueued(shop, b"x"),
    "a lease of another type": lambda shop: enqueued(shop, b'{"first": "a", "last": 2}'),
    "a lease of huge numbers": lambda shop: enqueued(shop, b'{"first": 1, "last": 1e400}'),
    "a lease of everything": lambda shop: enqueued(shop, b'{"first": 0, "last": 4611686018427387903}'),
}


def enqueued(shop: Shop, payload: bytes) -> None:
    text = (
        "INSERT INTO queue (priority, queue_manager_id, created, updated, heartbeat, execute_after, status, entrypoint,"
        " payload) VALUES (0, NULL, now(), now(), now(), now(), 'queued', %s, %s)"
    )
    shop.change(text, f"rows.{shop.bad}", payload)


@pytest.mark.parametrize("way", ODD)
def test_x29_what_else_a_stranger_writes_ends_no_worker(visit: Visit, way: str):
    """X29. Rows that can be done are done, and the worker ends when nothing is left."""
    shop, batches, status, said = visit(ODD, way)
    assert status == 0, said
    assert set(shop.states(shop.good).values()) == {("done", None)}
    assert shop.states(batches[way])[2] == ("done", None)
    assert "\x1b" not in said


def test_x26_a_worker_spends_no_more_than_its_own_cap(shop: Shop):
    """X26, X29. Its rows go back, and another worker does them."""
    config = shop.folder / "settings"
    config.mkdir()
    (config / "settings.toml").write_text('prices."gpt-4o".input = 10\nprices."gpt-4o".output = 100\n')
    shop.environ["PROSA_CONFIG_DIR"] = str(config)
    usage = {"input_tokens": 500, "output_tokens": 50}
    shop.model.answer = lambda request: {"content": {"n": len(text_of(request))}, "usage": usage}
    options(limits={"output_tokens": 100})(shop)
    status, said = shop.work("--max-cost", "0.035", "--batch", "bad-one", "--concurrency", "1")
    assert status == 1 and "stopped: the budget of $0.035, $0.01 of it spent, does not cover" in said, said
    assert [state for state, _ in shop.states("bad").values()].count("done") == 1
    status, said = shop.work("--max-cost", "9")
    assert status == 0, said
    assert set(shop.states("bad").values()) == {("done", None)}
