"""Changes as the system tells them, with the real library; what cannot be watched is said."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from pathlib import Path
from threading import Event
from types import ModuleType

import pytest

from prosa.adapters.files.watch import MOST, NoWatcher, Watcher, changes

LONGEST_WAIT = 120.0


@pytest.fixture
def told() -> Event:
    return Event()


@pytest.fixture
def watcher(tmp_path: Path, told: Event) -> Iterator[Watcher]:
    found = Watcher(tmp_path.resolve(), told.set)
    until(lambda: found.take() is not None or found.failure)
    yield found
    found.close()


def until(what) -> None:
    """Waits for what another thread does; a hang is a failure."""
    end = time.monotonic() + LONGEST_WAIT
    while not what():
        assert time.monotonic() < end
        Event().wait(0.005)


def gathered(watcher: Watcher, path: Path) -> set[str]:
    found: set[str] = set()
    until(lambda: found.update(watcher.take() or ()) or str(path.resolve()) in found)
    return found


def test_a_file_that_is_written_replaced_and_removed_is_named(watcher: Watcher, told: Event, tmp_path: Path):
    note = tmp_path / "note.md"
    note.write_text("a")
    assert gathered(watcher, note) and told.is_set()
    other = tmp_path / "other.tmp"
    other.write_text("b")
    gathered(watcher, other)
    other.replace(note)
    assert gathered(watcher, note)
    note.unlink()
    assert gathered(watcher, note)


def test_a_file_in_a_folder_that_came_later_is_named(watcher: Watcher, tmp_path: Path):
    folder = tmp_path / "later"
    folder.mkdir()
    gathered(watcher, folder)
    (folder / "a.md").write_text("a")
    assert gathered(watcher, folder / "a.md")


def test_what_git_writes_for_itself_is_no_change(watcher: Watcher, tmp_path: Path):
    (tmp_path / ".git").mkdir()
    gathered(watcher, tmp_path / ".git")
    (tmp_path / ".git" / "index").write_text("a")
    (tmp_path / "last.md").write_text("a")
    assert not any("index" in each for each in gathered(watcher, tmp_path / "last.md"))


def test_changes_can_be_given_back(watcher: Watcher):
    watcher.put_back(["a.md"])
    assert not watcher.is_quiet and watcher.take() == {"a.md"} and watcher.is_quiet
    watcher.put_back(None)
    assert watcher.take() is None and watcher.take() == frozenset()


def fake(monkeypatch: pytest.MonkeyPatch, watch) -> None:
    module = ModuleType("watchfiles")
    module.watch = watch
    monkeypatch.setitem(sys.modules, "watchfiles", module)


def test_too_many_changes_mean_a_look_at_everything(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    go_on, end = Event(), Event()

    def watch(*folders, **options):
        yield set()
        go_on.wait(LONGEST_WAIT)
        yield {(1, f"{n}.md") for n in range(MOST + 1)}
        end.wait(LONGEST_WAIT)

    fake(monkeypatch, watch)
    told = Event()
    watcher = Watcher(tmp_path, told.set)
    until(lambda: watcher.take() is not None)
    go_on.set()
    assert told.wait(LONGEST_WAIT) and watcher.take() is None
    end.set()
    watcher.close()


@pytest.mark.parametrize("where", ["begin", "later"])
def test_a_system_that_does_not_tell_is_said_and_everything_is_looked_at(tmp_path, monkeypatch, where: str):
    def watch(*folders, **options):
        if where == "later":
            yield set()
        raise OSError(28, "No space left on device")

    fake(monkeypatch, watch)
    watcher = Watcher(tmp_path)
    until(lambda: watcher.failure)
    assert "No space left on device" in watcher.failure
    assert watcher.take() is None and watcher.take() is None and not watcher.is_quiet
    watcher.close()


def test_a_missing_library_is_said_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setitem(sys.modules, "watchfiles", None)
    with pytest.raises(NoWatcher, match="not installed"):
        changes([tmp_path], lambda _: True)
    watcher = Watcher(tmp_path)
    until(lambda: watcher.failure)
    assert watcher.take() is None
    watcher.close()
