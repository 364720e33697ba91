"""X10: whatever holds SQL or conditions of others runs under one authoriser, over whatever store."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from prosa.adapters.sqlite.asking import ask
from prosa.adapters.sqlite.guard import guarded, select
from prosa.adapters.sqlite.search import INDEX, prepare
from prosa.corpus.errors import QueryRefused
from prosa.corpus.sql import Readable, View
from prosa.corpus.where import Fields, compile_where, parse_where

RUNS = View("runs", "what ran", (("id", "of the run"), ("program", "its path")), "SELECT id, program FROM main.run")
READABLE = Readable((RUNS,), frozenset(("run",)), help="prosa runs --help")


@pytest.fixture
def store(tmp_path: Path) -> Path:
    """A store that is no index: a table behind a view, and one that nobody may read."""
    path = tmp_path / "runs.sqlite"
    with closing(sqlite3.connect(path)) as made, made:
        made.executescript("""CREATE TABLE run (id TEXT, program TEXT); CREATE TABLE secret (key TEXT);
            INSERT INTO run VALUES ('r1', 'a.md'), ('r2', 'b.md'); INSERT INTO secret VALUES ('sk-1');""")
    return path


def opened(path: Path) -> sqlite3.Connection:
    connection = sqlite3.connect(path)
    connection.execute(f"CREATE TEMP VIEW runs (id, program) AS {RUNS.select}")
    return connection


def test_x10_another_store_is_asked_by_its_own_views(store: Path):
    found = ask(lambda: opened(store), READABLE, "SELECT program FROM runs ORDER BY id")
    assert (found.columns, found.rows) == (("program",), (("a.md",), ("b.md",)))


@pytest.mark.parametrize(
    "query",
    [
        "SELECT * FROM secret",
        "SELECT * FROM run",
        "SELECT * FROM main.runs",
        "SELECT (SELECT key FROM secret) FROM runs",
        "ATTACH 'x' AS x",
        "PRAGMA user_version",
        "DELETE FROM run",
        "CREATE TABLE x (y)",
        "SELECT load_extension('x')",
        "SELECT * FROM sqlite_master",
    ],
)
def test_x10_nothing_else_of_that_store_is_read_or_written(store: Path, query: str):
    before = store.read_bytes()
    with pytest.raises(QueryRefused):
        ask(lambda: opened(store), READABLE, query)
    assert store.read_bytes() == before and not (store.parent / "x").exists()


def test_x10_what_is_wrong_is_said_in_the_words_of_that_store(store: Path):
    with pytest.raises(QueryRefused) as refused:
        ask(lambda: opened(store), READABLE, "SELECT * FROM documents")
    assert refused.value.hint.endswith("a query is one SELECT over runs\ntheir columns: prosa runs --help")
    with pytest.raises(QueryRefused, match="there is no column `programme`") as refused:
        ask(lambda: opened(store), READABLE, "SELECT programme FROM runs")
    assert "did you mean program?" in refused.value.hint


def test_x10_the_connection_writes_again_afterwards(store: Path):
    """Those who keep a store write on the connection that conditions are asked on."""
    with closing(opened(store)) as connection:
        assert select(connection, READABLE, "SELECT id FROM runs WHERE id = ?", ("r1",)).fetchall() == [("r1",)]
        with guarded(connection, READABLE) as denied, pytest.raises(sqlite3.DatabaseError):
            connection.execute("DELETE FROM run")
        assert denied
        connection.execute("DELETE FROM run")
        assert connection.execute("SELECT count(*) FROM run").fetchone() == (0,)


FIELDS = Fields("payload", "message")
VALUES = st.dictionaries(st.sampled_from(["urgent", "size", "from"]), st.sampled_from(["yes", "no", "2026-01-02", "7"]))


@given(
    messages=st.lists(VALUES, max_size=6),
    name=st.sampled_from(["urgent", "size", "from"]),
    value=st.sampled_from(["yes", "no", "7"]),
)
def test_x10_a_condition_means_the_same_over_the_fields_of_another_store(
    messages: list[dict[str, str]], name: str, value: str
):
    """Whatever has rows of key, kind, text and number can be asked with `--where`: mail, as documents."""
    with closing(sqlite3.connect(":memory:")) as connection:
        prepare(connection)
        connection.execute("CREATE TABLE mail (id INTEGER PRIMARY KEY, body TEXT)")
        connection.executemany("INSERT INTO mail (body) VALUES (?)", [(json.dumps(each),) for each in messages])
        connection.execute("""CREATE TEMP VIEW payload (message, key, kind, text, number) AS SELECT m.id, p.key,
            CASE WHEN p.value GLOB '[0-9]' THEN 'number' ELSE 'text' END, p.value,
            CASE WHEN p.value GLOB '[0-9]' THEN CAST(p.value AS REAL) END FROM main.mail m, json_each(m.body) p""")
        view = View("payload", "", (), "")
        readable = Readable((view,), frozenset(("mail", "json_each")), frozenset(("mail",)))
        condition = compile_where(parse_where(f"{name} = {value} or not has {name}"), "m.id", fields=FIELDS)
        rows = select(connection, readable, f"SELECT m.id FROM mail m WHERE {condition.sql}", condition.parameters)
        expected = [at for at, each in enumerate(messages, 1) if each.get(name, value) == value]
        assert sorted(number for (number,) in rows) == expected


def test_x10_a_search_reads_the_tables_of_the_index_and_nothing_else(store: Path):
    with closing(sqlite3.connect(store)) as connection, pytest.raises(sqlite3.DatabaseError):
        select(connection, INDEX, "SELECT key FROM secret")
