"""`prosa view`: what it says, what it refuses, and how it ends."""

from __future__ import annotations

import os
import signal
import socket
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from http.client import HTTPConnection
from pathlib import Path

import pytest

from prosa.adapters.store.schema import SCHEMA_VERSION
from prosa.cli.demo.site import READY
from prosa.cli.main import main
from tests import warm
from tests.cli.desk import desk
from tests.web.view.conftest import TOKEN
from tests.web.view.stores import ended, put_runs, run_record


@pytest.fixture
def store(tmp_path: Path) -> Path:
    put_runs(tmp_path / "store.sqlite", [ended(run_record("a1"))])
    return tmp_path / "store.sqlite"


def refused(*words: str, **environ: str) -> str:
    """What is said to a call that does not start; it shows nothing of Python."""
    it = desk(environ=environ)
    assert main(["view", *words], it.console) in (1, 2)
    assert it.out == "" and "Traceback" not in it.err and "token:" not in it.err
    return it.err


def test_x37_a_store_that_is_named_must_be_there(tmp_path: Path):
    """X37."""
    assert "there is no store" in refused("--store", str(tmp_path / "none.sqlite"))
    assert not (tmp_path / "none.sqlite").exists()
    assert "is a folder" in refused("--store", str(tmp_path))


def test_x37_a_store_of_a_newer_prosa_is_left_alone(store: Path):
    """X37, X25."""
    with closing(sqlite3.connect(store)) as connection:
        connection.execute(f"PRAGMA user_version = {SCHEMA_VERSION + 1}")
    before = store.read_bytes()
    assert "was written by a newer Prosa" in refused("--store", str(store))
    assert store.read_bytes() == before


def test_x37_what_is_no_store_is_said_to_be_none(tmp_path: Path):
    """X37."""
    (tmp_path / "text").write_text("no database, and long enough to be looked at as one\n" * 20)
    assert "is not an SQLite file" in refused("--store", str(tmp_path / "text"))
    with closing(sqlite3.connect(tmp_path / "other")) as connection:
        connection.execute("CREATE TABLE thing (id)")
    assert "of something else" in refused("--store", str(tmp_path / "other"))


def test_x37_a_port_that_is_taken_is_said(store: Path):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        words = ("--store", str(store), "--token-env", "T", "--port", str(taken.getsockname()[1]))
        assert "cannot be bound" in refused(*words, T=TOKEN)


@pytest.mark.parametrize("words", [("--host", "0.0.0.0"), ("--port", "70000"), ("--token-env", "NOT_SET")])
def test_x8_it_listens_on_loopback_alone(store: Path, words: tuple[str, ...]):
    """X8. There is no flag for another address, and none for a token that can be guessed."""
    refused("--store", str(store), *words)
    refused("--store", str(store), "--token-env", "T", T="short")


@pytest.fixture
def process(store: Path) -> Iterator[subprocess.Popen[str]]:
    """A viewer in a process of its own."""
    words = [sys.executable, "-m", "prosa", "view", "--store", str(store), "--port", "0", "--token-env", "T"]
    pipes = {"stderr": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    found = warm.popen(words, env={**os.environ, "T": TOKEN}, **pipes)
    yield found
    found.kill()
    found.communicate()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_x37_a_signal_ends_it_with_its_streams(process: subprocess.Popen[str], number: signal.Signals):
    """X37, X9. An open stream has no end of its own; it is ended, and the process with it. Nothing is on stdout."""
    assert process.stderr is not None
    ready = READY.search(process.stderr.readline())
    assert ready is not None
    stream = HTTPConnection(ready[1].removeprefix("http://"), timeout=60)
    stream.request("GET", "/live", headers={"Authorization": f"Bearer {TOKEN}"})
    answer = stream.getresponse()
    assert answer.status == 200 and b"rows" in answer.readline()
    process.send_signal(number)
    answer.read()
    out, err = process.communicate(timeout=60)
    assert process.returncode == 0 and out == "" and err == ""
    stream.close()
