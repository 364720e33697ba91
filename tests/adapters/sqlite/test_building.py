"""X10: a new index is built beside the old one and takes its place whole, or in place where a system cannot do that."""

from __future__ import annotations

import os
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

from prosa.adapters.files import RootedFiles
from prosa.adapters.files.scan import scan
from prosa.adapters.sqlite import Index, opening, update
from prosa.adapters.sqlite.reading import Reading
from tests import warm
from tests.adapters.sqlite.place import Place
from tests.adapters.sqlite.test_writers import forked, same_as_new

TEXTS = {
    f"n{number}.md": f"---\ntags: [t{number % 3}]\n---\n# N{number}\n\n[[n{number // 2}]] 日本語\n"
    for number in range(30)
}

OPEN = os.open
CHANGES = ("open", "rename", "unlink", "chmod", "fsync")
"""What a build does to files by itself."""

REFRESH = """
import sys
from pathlib import Path
from prosa.adapters.files import RootedFiles
from prosa.adapters.files.scan import scan
from prosa.adapters.sqlite import Index
from prosa.adapters.sqlite.reading import Reading
files = RootedFiles(Path(sys.argv[1]))
Index(Path(sys.argv[2])).refresh(scan(files.root, files), Reading(files, mark="2"))
"""

STEPS = 400
"""Instructions of SQLite between two moments at which a build is killed."""


@pytest.fixture(autouse=True, params=["beside", "in place"])
def way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Both ways to build, for so few documents too."""
    monkeypatch.setattr(update, "ENOUGH", 1)
    monkeypatch.setattr(update, "ENOUGH", 1)
    monkeypatch.setattr(update, "CAN_REPLACE", request.param == "beside")
    return str(request.param)


def left(folder: Path) -> list[str]:
    """The files beside an index that nobody needs."""
    return [each.name for each in folder.iterdir() if each.name.endswith(opening.UNFINISHED)]


def old_or_new(at: Place) -> int:
    """The number of documents that a reader finds: all of the old index, all of the new one, or none at all."""
    if not at.index.path.exists():
        return 0
    index = Index(at.index.path)
    try:
        assert index.connection().execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        return len(index.documents())
    finally:
        index.close()


def test_x10_a_build_that_is_killed_at_any_step_leaves_the_old_index_or_none(
    way: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    def build(at: Place, step: int) -> None:
        left = [step]
        for name in CHANGES:
            monkeypatch.setattr(os, name, partial(killing, getattr(os, name), left))
        Place(at.root, Index(at.index.path), mark="2").refresh()

    for step in range(1, 100):
        at = Place.at(tmp_path / str(step), TEXTS)
        at.refresh()
        at.index.close()
        at.write("more.md", "# More")
        _, status = os.waitpid(forked(partial(build, at, step)), 0)
        found = old_or_new(at)
        at.mark = "2"
        same_as_new(at, at.root.parent)
        assert left(at.index.path.parent) == []
        at.index.close()
        if not os.WIFSIGNALED(status):
            break
        assert found in (0, 30, 31)
    assert (status, found) == (0, 31)
    assert step > (6 if way == "beside" else 1)


def killing(change: Callable[..., object], left: list[int], *args: object, **options: object) -> object:
    """Does a change to files, or dies before it where none is left. To open a file that is there is none."""
    left[0] -= change is not OPEN or bool(int(str(args[1])) & os.O_CREAT)
    if not left[0]:
        os.kill(os.getpid(), signal.SIGKILL)
    return change(*args, **options)


@pytest.mark.parametrize("first", [True, False])
def test_x10_a_build_that_is_killed_while_it_writes_leaves_the_old_index(
    first: bool, way: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    at = Place.at(tmp_path, TEXTS)
    if not first:
        at.refresh()
    at.index.close()
    at.mark = "2"
    connect = sqlite3.connect
    moment = 0

    def killing(*args, **options):
        connection = connect(*args, **options)
        left = [moment]

        def step() -> int:
            left[0] -= 1
            if not left[0]:
                os.kill(os.getpid(), signal.SIGKILL)
            return 0

        connection.set_progress_handler(step, STEPS)
        return connection

    def build() -> None:
        monkeypatch.setattr(sqlite3, "connect", killing)
        Place(at.root, Index(at.index.path), mark="2").refresh()

    for attempt in range(1, 100):
        moment = attempt * attempt
        _, status = os.waitpid(forked(build), 0)
        if not os.WIFSIGNALED(status):
            break
        assert old_or_new(at) == (0 if first else 30)
        assert len(left(tmp_path)) <= (way == "beside")
    assert attempt > 3
    assert status == 0
    same_as_new(at, tmp_path)
    assert left(tmp_path) == []


def test_x10_readers_go_on_with_the_old_index_while_another_is_built(tmp_path: Path):
    at = Place.at(tmp_path, TEXTS)
    at.refresh()
    at.write("more.md", "# More")
    reader, seen = Index(at.index.path), list[int]()

    def progress(done: int, total: int) -> None:
        seen.append(len(reader.documents()))
        seen.append(old_or_new(at))

    files = RootedFiles(at.root)
    at.index.refresh(scan(at.root, files), Reading(files, mark="2", progress=progress))
    assert set(seen) == {30}
    assert old_or_new(at) == 31
    reader.close()


def test_x10_two_builders_at_once_leave_one_index(tmp_path: Path):
    at = Place.at(tmp_path, TEXTS)
    for mark in ("2", "3", "4"):
        at.index.close()
        at.mark = mark
        children = [
            forked(lambda: Place(at.root, Index(at.index.path), mark=at.mark).refresh() and None) for _ in range(3)
        ]
        assert [os.waitpid(child, 0)[1] for child in children] == [0, 0, 0]
        same_as_new(at, tmp_path)
        assert left(tmp_path) == []


def test_x10_who_has_the_old_file_open_goes_over_to_the_new_one_and_does_it_no_harm(tmp_path: Path):
    at = Place.at(tmp_path, TEXTS)
    at.refresh()
    assert len(at.index.documents()) == 30
    other = Place(at.root, Index(at.index.path), mark="2")
    other.refresh()
    other.write("more.md", "# More")
    other.refresh()  # stands in the log of the new file alone
    at.index.close()
    assert old_or_new(at) == 31
    other.index.close()
    at.mark = "2"
    third = Place(at.root, Index(at.index.path), mark="3")
    third.refresh()
    at.refresh()
    assert (at.refresh().unchanged, at.refresh().added) == (31, 0)
    same_as_new(at, tmp_path)


def test_x10_a_writer_that_waited_writes_into_the_new_file(tmp_path: Path):
    at = Place.at(tmp_path, TEXTS)
    at.refresh()
    at.write("more.md", "# More")

    def wait_and_write(done: int, total: int) -> None:
        if not waiting:
            waiting.append(warm.popen([sys.executable, "-c", REFRESH, str(at.root), str(at.index.path)]))

    waiting: list[subprocess.Popen[bytes]] = []
    files = RootedFiles(at.root)
    at.index.refresh(scan(at.root, files), Reading(files, mark="2", progress=wait_and_write))
    at.write("other.md", "# Other")
    assert [each.wait() for each in waiting] == [0]
    assert old_or_new(at) in (31, 32)  # it may have looked before the other document was there
    assert at.refresh().documents == 32


def test_x10_computed_vectors_are_kept_by_a_new_index(tmp_path: Path):
    at = Place.at(tmp_path, TEXTS)
    at.refresh()
    with at.index.writing() as connection:
        connection.execute("INSERT INTO vector VALUES ('m', 'abc', x'00')")
    at.refresh(anew=True)
    assert at.ask("SELECT model, sha256 FROM vector") == [("m", "abc")]
    assert at.index.path.stat().st_mode & 0o777 == 0o600


def test_both_ways_give_the_same_rows_and_single_updates_stay_cheap(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    at = Place.at(tmp_path, TEXTS)
    at.refresh(anew=True)
    rows = at.dump()
    settings = at.ask("SELECT k, v FROM section_text_config WHERE k <> 'version' ORDER BY k")
    assert settings == [("automerge", 4), ("crisismerge", 16), ("hashsize", 1024 * 1024)]
    assert at.ask("SELECT count(DISTINCT segid) FROM section_text_idx") == [1]
    monkeypatch.setattr(update, "CAN_REPLACE", not update.CAN_REPLACE)
    at.refresh(anew=True)
    assert at.dump() == rows


@pytest.mark.parametrize("texts", [1, 7, 30])
def test_full_text_that_is_filled_in_pieces_holds_every_section_once(
    texts: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(update, "CHUNK", 3)
    monkeypatch.setattr(update, "TEXTS", texts)
    at = Place.at(tmp_path, TEXTS)
    at.refresh(anew=True)
    with at.index.writing() as connection:
        for table in ("section_text", "section_cjk"):
            connection.execute(f"INSERT INTO {table} ({table}, rank) VALUES ('integrity-check', 1)")
    assert at.ask("SELECT count(*) FROM section_text WHERE section_text MATCH 'n2'") == [3]
    assert at.ask("SELECT count(*) FROM section_text WHERE section_text MATCH 'tags : t1'") == [10]
    assert at.ask("SELECT count(DISTINCT segid) FROM section_text_idx") == [1]
    assert at.ask("SELECT rowid FROM section_text_docsize") == at.ask("SELECT id FROM section")


def test_a_build_that_fails_leaves_the_old_index_and_no_other_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    at = Place.at(tmp_path, TEXTS)
    at.refresh()

    def full(*args) -> None:
        raise sqlite3.OperationalError("database or disk is full")

    with monkeypatch.context() as patch:
        patch.setattr("prosa.adapters.sqlite.linking.name_all", full)
        at.mark = "2"
        with pytest.raises(sqlite3.OperationalError):
            update.build_beside(at.index.path, at.index.writer(), scan(at.root, RootedFiles(at.root)), at.reading)
    assert old_or_new(at) == 30
    assert left(tmp_path) == []
