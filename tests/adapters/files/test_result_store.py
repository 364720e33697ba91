"""What a check keeps (X10): private, of one version, never a reason to fail."""

from __future__ import annotations

import os
import pickle
import sqlite3
import stat
from pathlib import Path

import pytest

from prosa import __version__
from prosa.adapters.files import result_store, stamps
from prosa.adapters.files.result_store import FILE_NAME, ResultStore
from prosa.adapters.files.stamps import code_mark


def test_x10_rows_are_kept_for_the_next_process(tmp_path: Path):
    """X10."""
    ResultStore(tmp_path, "1", 5).put({"a": "one", "b": "two"})
    assert ResultStore(tmp_path, "1", 5).get(["a", "c"]) == {"a": "one"}
    assert stat.S_IMODE((tmp_path / FILE_NAME).stat().st_mode) == 0o600


def test_x10_rows_of_another_version_are_gone(tmp_path: Path):
    """X10."""
    ResultStore(tmp_path, "1", 5).put({"a": "one"})
    assert ResultStore(tmp_path, "2", 5).get(["a"]) == {}


def test_x10_a_broken_file_is_replaced(tmp_path: Path):
    """X10. Neither text that is no database nor a database of somebody else stops a check."""
    (tmp_path / FILE_NAME).write_bytes(b"no database at all" * 100)
    store = ResultStore(tmp_path, "1", 5)
    assert store.get(["a"]) == {}
    store.put({"a": "one"})
    store.put({"a": "one"})
    assert ResultStore(tmp_path, "1", 5).get(["a"]) == {"a": "one"}


def test_a_place_that_cannot_be_used_only_costs_time(tmp_path: Path):
    store = ResultStore(tmp_path / "none", "1", 5)
    store.put({"a": "one"})
    assert store.get(["a"]) == {}


def test_a_file_that_another_check_holds_is_not_waited_for(tmp_path: Path, monkeypatch):
    monkeypatch.setattr(result_store, "_WAIT_SECONDS", 0.01)
    ResultStore(tmp_path, "1", 5).put({"a": "one"})
    holder = sqlite3.connect(tmp_path / FILE_NAME, isolation_level=None)
    holder.execute("BEGIN EXCLUSIVE")
    store = ResultStore(tmp_path, "1", 5)
    store.put({"b": "two"})
    assert store.get(["a"]) == {}
    holder.execute("ROLLBACK")
    holder.close()
    assert ResultStore(tmp_path, "1", 5).get(["a", "b"]) == {"a": "one"}


def test_rows_that_were_not_used_are_dropped_first(tmp_path: Path, monkeypatch):
    monkeypatch.setattr(result_store, "MAX_ROWS", 4)
    ResultStore(tmp_path, "1", 5).put({"old": "1", "used": "2", "older": "3"})
    ResultStore(tmp_path, "1", 6).get(["used"])
    ResultStore(tmp_path, "1", 7).put({"a": "4", "b": "5"})
    assert set(ResultStore(tmp_path, "1", 7).get(["a", "b"])) == {"a", "b"}
    assert not {"old", "older"} & set(ResultStore(tmp_path, "1", 6).get(["old", "older"]))


def test_many_keys_are_asked_for_in_parts(tmp_path: Path, monkeypatch):
    monkeypatch.setattr(result_store, "_MOST_KEYS", 3)
    store = ResultStore(tmp_path, "1", 5)
    store.put({str(number): "x" for number in range(10)})
    assert len(store.get([str(number) for number in range(20)])) == 10


def test_a_store_goes_to_another_process_without_its_connection(tmp_path: Path):
    store = ResultStore(tmp_path, "1", 5)
    store.put({"a": "one"})
    assert pickle.loads(pickle.dumps(store)).get(["a"]) == {"a": "one"}


def test_a_forked_process_opens_the_store_for_itself(tmp_path: Path):
    store = ResultStore(tmp_path, "1", 5)
    store.put({"a": "one"})
    if not (child := os.fork()):
        store.put({"b": "two"})
        found = store.get(["a", "b"])
        store.close()
        os._exit(found != {"a": "one", "b": "two"})
    assert os.waitpid(child, 0)[1] == 0
    store.put({"c": "three"})
    assert store.get(["a", "b", "c"]) == {"a": "one", "b": "two", "c": "three"}


def test_the_mark_of_the_code_is_stable():
    assert code_mark() == code_mark()


def test_the_mark_of_a_checkout_follows_every_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    package = tmp_path / "prosa"
    for folder in ("rules/deep", "adapters"):
        (package / folder).mkdir(parents=True)
    monkeypatch.setattr("prosa.__file__", str(package / "__init__.py"))
    marks = [code_mark()]
    for name in ("rules/new.py", "rules/deep/new.py", "source.py"):
        (package / name).write_text("pass")
        marks.append(code_mark())
    assert len(set(marks[:3])) == 3
    assert marks[3] == marks[2]  # no findings come from there
    monkeypatch.setattr(stamps, "_OPENS_FOLDERS", False)
    assert code_mark() == marks[3]


def test_the_mark_of_what_is_installed_follows_the_list_of_its_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("prosa.__file__", str(tmp_path / "prosa" / "__init__.py"))
    record = tmp_path / f"prosa_core-{__version__}.dist-info" / "RECORD"
    record.parent.mkdir()
    record.write_text("one")
    first = code_mark()
    record.write_text("other")
    assert code_mark() != first


def test_a_path_that_is_no_text_is_no_key(tmp_path: Path):
    """The name of a file may be any bytes; Python has those that are no UTF-8 as halves of surrogate pairs."""
    store = ResultStore(tmp_path, "1", 5)
    store.put({"caf\udce9.md": "1", "b": "2"})
    assert store.get(["caf\udce9.md", "b"]) == {"b": "2"}
