"""An index that cannot be used: made anew where that heals it, told in clear words where it does not (X10)."""

from __future__ import annotations

import os
import random
import sqlite3
from pathlib import Path

import pytest

from prosa.adapters.sqlite.opening import index_path, is_frozen, open_index, open_reader
from prosa.adapters.sqlite.schema import SCHEMA_VERSION
from prosa.corpus.errors import IndexProblem
from tests.adapters.sqlite.place import Place

DOCUMENTS = {
    f"d{number}.md": f"# Title {number}\n\nText [next](d{number + 1}.md) [[d{number}]].\n" for number in range(30)
}


@pytest.fixture
def place(tmp_path: Path) -> Place:
    made = Place.at(tmp_path, DOCUMENTS)
    made.refresh()
    made.index.close()
    return made


def whole(place: Place) -> None:
    """The index holds the documents and is sound, and the next refresh has nothing to mend."""
    assert sorted(place.ask("SELECT path FROM document")) == sorted(DOCUMENTS)
    place.check()
    report = place.refresh()
    assert (report.healed, report.unchanged) == ("", 30)


def garbage(path: Path) -> None:
    path.write_bytes(b"this is not a database, and never was one; " * 300)


def cut(path: Path) -> None:
    os.truncate(path, path.stat().st_size // 3)


def empty(path: Path) -> None:
    os.truncate(path, 0)


def foreign(path: Path) -> None:
    path.unlink()
    with sqlite3.connect(path) as other:
        other.execute("CREATE TABLE document (whatever)")


def newer(path: Path) -> None:
    with sqlite3.connect(path) as same:
        same.execute(f"PRAGMA user_version = {SCHEMA_VERSION + 1}")


def lacking(path: Path) -> None:
    with sqlite3.connect(path) as same:
        same.execute("DROP TABLE lookup")


def changed(path: Path) -> None:
    with sqlite3.connect(path) as same:
        same.execute("ALTER TABLE edge RENAME COLUMN document TO source")
        same.execute("UPDATE document SET mtime_ns = 0, digest = ''")


def gone(path: Path) -> None:
    path.unlink()


@pytest.mark.parametrize(
    ("damage", "words"),
    [
        (garbage, "was not an SQLite file"),
        (cut, "was damaged"),
        (empty, ""),
        (foreign, "was written by something else"),
        (newer, "was written by a newer Prosa"),
        (lacking, "lacks some of its tables"),
        (changed, "could not be read"),
        (gone, ""),
    ],
)
def test_x10_a_broken_index_is_made_anew_and_that_is_told(place: Place, damage, words: str):
    damage(place.index.path)
    report = place.refresh()
    assert report.healed.startswith(words) and bool(report.healed) == bool(words)
    whole(place)


@pytest.mark.parametrize("seed", range(12))
def test_x10_bytes_that_changed_by_themselves_never_end_in_a_traceback(place: Place, seed: int):
    dice = random.Random(seed)
    data = bytearray(place.index.path.read_bytes())
    for _ in range(dice.randint(1, 400)):
        data[dice.randrange(100, len(data))] = dice.randrange(256)
    place.index.path.write_bytes(data)
    place.write("new.md", "# New\n\n[[d1]]\n")
    place.write("d3.md", "# Other\n")
    place.refresh()
    place.refresh(anew=True)
    place.check()
    assert place.ask("SELECT count(*) FROM document") == [31]


def test_x10_a_log_that_was_left_behind_by_another_file_does_no_harm(place: Place):
    Path(f"{place.index.path}-wal").write_bytes(b"\x37\x7f\x06\x82" + os.urandom(5000))
    Path(f"{place.index.path}-shm").write_bytes(os.urandom(32768))
    place.refresh()
    whole(place)


def test_a_locked_index_is_told_after_a_while_and_readers_go_on(place: Place):
    other = sqlite3.connect(place.index.path, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    other.execute("DELETE FROM document")
    place.index.wait = 0.05
    place.write("new.md", "text")
    with pytest.raises(IndexProblem) as raised:
        place.refresh()
    assert "another process is writing the index" in raised.value.message
    assert "--no-refresh" in raised.value.hint
    assert place.ask("SELECT count(*) FROM document") == [30]
    other.execute("ROLLBACK")
    assert place.refresh().added == 1


def test_a_reader_sees_the_index_before_a_change_or_after_it(place: Place):
    place.refresh()
    reader = open_reader(place.index.path)
    with place.index.writing() as writer:
        writer.execute("DELETE FROM edge")
        assert reader.execute("SELECT count(*) FROM edge").fetchone() == (60,)
    assert reader.execute("SELECT count(*) FROM edge").fetchone() == (0,)
    with pytest.raises(sqlite3.OperationalError):
        reader.execute("DELETE FROM document")


def test_an_index_in_a_place_that_is_only_read_is_used_as_it_is(place: Place, monkeypatch: pytest.MonkeyPatch):
    place.refresh()
    place.index.close()
    path = place.index.path
    path.with_name(f"{path.name}.lock").unlink()
    before = sorted(path.parent.iterdir())
    monkeypatch.setattr(os, "access", lambda where, mode: False)
    assert not place.index.is_new and len(place.index.documents()) == 30
    assert place.ask("SELECT count(*) FROM document") == [30]
    assert sorted(path.parent.iterdir()) == before
    place.index.close()
    path.chmod(0o620)
    with pytest.raises(IndexProblem, match="may be written by others"):
        place.index.documents()
    path.chmod(0o600)
    path.write_bytes(b"no index at all" * 100)
    with pytest.raises(IndexProblem, match="was not an SQLite file"):
        place.index.documents()


def test_an_index_with_a_log_is_not_read_without_it(place: Place, monkeypatch: pytest.MonkeyPatch):
    """What is in the log alone would be missing, or half of a page there."""
    place.refresh()
    monkeypatch.setattr(os, "access", lambda where, mode: False)
    assert not is_frozen(place.index.path)
    place.index.close()
    assert is_frozen(place.index.path)


def test_x10_the_index_is_for_its_owner_alone(place: Place, monkeypatch: pytest.MonkeyPatch):
    place.refresh()
    files = [each for each in place.index.path.parent.iterdir() if each.name.startswith("x-v1")]
    assert {each.stat().st_mode & 0o777 for each in files} == {0o600}
    place.index.close()
    place.index.path.chmod(0o644)
    place.refresh()
    assert place.index.path.stat().st_mode & 0o777 == 0o600
    place.index.close()
    place.index.path.chmod(0o620)
    with pytest.raises(IndexProblem, match="may be written by others"):
        place.refresh()
    place.index.path.chmod(0o600)
    monkeypatch.setattr(os, "geteuid", lambda: 54_321)
    with pytest.raises(IndexProblem, match="belongs to another user"):
        place.refresh()


@pytest.mark.parametrize("make", [Path.mkdir, lambda path: path.symlink_to("elsewhere"), os.mkfifo])
def test_x10_what_is_no_regular_file_is_not_opened(place: Place, make):
    place.index.path.unlink()
    make(place.index.path)
    with pytest.raises(IndexProblem, match="is not a regular file"):
        place.refresh()


def test_a_place_that_cannot_be_written_is_told(tmp_path: Path):
    place = Place.at(tmp_path, {"a.md": "x"})
    place.index.path = tmp_path / "nowhere" / "x-v1.sqlite"
    with pytest.raises(IndexProblem, match="cannot be made"):
        place.refresh()


def test_indexes_of_older_versions_of_prosa_do_not_pile_up(tmp_path: Path):
    folder = tmp_path / "cache"
    folder.mkdir(mode=0o700)
    path = index_path(folder, tmp_path)
    older = path.with_name(path.name.replace(f"-v{SCHEMA_VERSION}", "-v1"))
    other = path.with_name(f"other-v1{path.suffix}")
    for each in (older, other):
        each.write_bytes(b"old")
    open_index(path).connection.close()
    assert path.exists() and other.exists() and not older.exists()
