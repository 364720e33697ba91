"""Warm checks by stamp (X10): a file that looks as it did when it was hashed is not read, and no change is missed."""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path

import pytest
from msgspec import Struct, field

from prosa.adapters.files import RootedFiles
from prosa.adapters.files.result_store import ResultStore
from prosa.adapters.files.stamps import FileStamps, tells_changes
from prosa.app.check.check import Checker, CheckOptions
from prosa.app.check.gather import gather
from prosa.corpus.found import RACY_NS
from prosa.rules.analyzer import Analyzer
from prosa.rules.engine import check
from prosa.rules.policy import Profile
from prosa.settings.model import Settings
from prosa.source import SourceText

LATER = 2 * RACY_NS
"""So much later than now is a check at which no file is young."""


class Counting(Struct):
    """`Files` that take down what was read."""

    under: RootedFiles
    read_names: list[str] = field(default_factory=list)

    def read(self, path: Path) -> SourceText:
        self.read_names.append(path.name)
        return self.under.read(path)

    def real(self, path: Path) -> Path:
        return self.under.real(path)

    def inside_root(self, path: Path) -> bool:
        return self.under.inside_root(path)

    def exists(self, path: Path) -> bool:
        return self.under.exists(path)

    def digest(self, path: Path, limit: int) -> str:
        return self.under.digest(path, limit)


class Notes(Struct):
    """A folder with two documents and a store beside it; each check is one of a new process."""

    folder: Path
    cache: Path
    mark: str = "one"

    def check(self, profile: Profile | None = None, *, at_ns: int = LATER, max_size: int = 1000) -> list[str]:
        """The rules that found something, and the names of the files that were read, with `read ` in front."""
        profile = profile or Profile()
        files = Counting(RootedFiles(self.folder, max_size))
        stamps = FileStamps(files.under, at_ns=time.time_ns() + at_ns)
        store = ResultStore(self.cache, self.mark, 1)
        paths = sorted(self.folder.glob("*.md"))
        found = check(paths, Analyzer(files, profile.hints, False, store=store, stamps=stamps), profile)
        ranked = {path.name for path in paths if any(each.path == str(path) for each in found.diagnostics)}
        read = [f"read {name}" for name in files.read_names if name not in ranked]
        return [*sorted(each.rule for each in found.diagnostics), *sorted(read)]


@pytest.fixture
def notes(tmp_path: Path) -> Notes:
    (tmp_path / "cache").mkdir()
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "a.md").write_text("[b](b.md#one)\n")
    (tmp_path / "notes" / "b.md").write_text("# One\n")
    return Notes(tmp_path / "notes", tmp_path / "cache")


def test_x10_what_was_hashed_is_not_read_again(notes: Notes):
    """X10."""
    assert notes.check() == ["read a.md", "read b.md"]
    assert notes.check() == []


def test_x10_a_skill_that_its_own_result_rests_on_is_not_read_again(notes: Notes):
    """X10. The digest by which the result was found says that it is as it was."""
    text = "---\nname: notes\ndescription: Finds notes. Use it when someone asks for one.\n---\n\n# Notes\n"
    (notes.folder / "SKILL.md").write_text(text)
    assert notes.check() == ["read SKILL.md", "read a.md", "read b.md"]
    assert notes.check() == []


def test_x10_an_edit_in_place_of_the_same_size_and_time_is_seen(notes: Notes):
    """X10. The time of the last change tells, which nobody can set."""
    notes.check()
    path = notes.folder / "b.md"
    before = path.stat()
    path.write_text("# Two\n")
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    after = path.stat()
    assert (after.st_size, after.st_mtime_ns, after.st_ino) == (before.st_size, before.st_mtime_ns, before.st_ino)
    assert notes.check() == ["unresolved-anchor", "read b.md"]
    assert notes.check() == ["unresolved-anchor"]


def test_x10_a_file_that_takes_the_place_of_another_is_seen(notes: Notes):
    """X10."""
    notes.check()
    path = notes.folder / "b.md"
    before, other = path.stat(), notes.folder / "new"
    other.write_text("# Two\n")
    os.utime(other, ns=(before.st_atime_ns, before.st_mtime_ns))
    other.replace(path)
    assert notes.check() == ["unresolved-anchor", "read b.md"]


def test_x10_a_file_that_is_young_is_read_again(notes: Notes):
    """X10. What is written twice within a step of the clock may look the same: its stamp is not kept."""
    assert notes.check(at_ns=0) == ["read a.md", "read b.md"]
    assert notes.check(at_ns=0) == ["read a.md", "read b.md"]
    assert notes.check() == ["read a.md", "read b.md"]


def test_x10_a_stamp_from_the_future_is_not_kept(notes: Notes):
    """X10. The clock was set back after the file was written."""
    assert notes.check(at_ns=-3_600_000_000_000) == ["read a.md", "read b.md"]
    assert notes.check(at_ns=-3_600_000_000_000) == ["read a.md", "read b.md"]


@pytest.mark.parametrize("lacking", ["st_ino", "st_ctime_ns"])
def test_x10_where_the_system_does_not_tell_the_content_does(
    notes: Notes, monkeypatch: pytest.MonkeyPatch, lacking: str
):
    """X10."""
    look = RootedFiles.look

    class Seen:
        def __init__(self, found: os.stat_result) -> None:
            self.found = found

        def __getattr__(self, name: str) -> object:
            return 0 if name == lacking else getattr(self.found, name)

    monkeypatch.setattr(RootedFiles, "look", lambda self, path: Seen(look(self, path)))
    assert notes.check() == notes.check() == ["read a.md", "read b.md"]


def test_x10_windows_tells_when_a_file_was_made_only(monkeypatch: pytest.MonkeyPatch):
    """X10."""
    assert tells_changes(1, 1) == (sys.platform != "win32")
    monkeypatch.setattr(sys, "platform", "win32")
    assert not tells_changes(1, 1)


def test_x10_another_setting_or_version_is_another_result(notes: Notes):
    """X10. The stamp says what the file holds, and nothing of what was found in it."""
    notes.check()
    as_program = Profile(settings=Settings(dialects=(("b.md", "markdownlang"),)), root=notes.folder)
    assert "missing-front-matter" in notes.check(as_program)
    assert notes.check() == []
    notes.mark = "two"
    assert notes.check() == ["read a.md", "read b.md"]


def test_x10_a_file_that_may_not_be_read_any_more_is_not_taken_from_the_cache(notes: Notes):
    """X10. A limit that is lower now, a link that leads out of the root."""
    notes.check()
    assert notes.check(max_size=10) == ["unreadable-file"]
    elsewhere = notes.cache / "b.md"
    (notes.folder / "b.md").rename(elsewhere)
    (notes.folder / "b.md").symlink_to(elsewhere)
    assert "unreadable-file" in notes.check()


def test_x10_a_document_that_did_not_change_is_judged_by_those_that_did(notes: Notes):
    """X10."""
    notes.check()
    (notes.folder / "b.md").unlink()
    assert notes.check() == ["unresolved-link"]
    (notes.folder / "b.md").write_text("# One\n")
    assert notes.check() == ["read b.md"]


def test_x10_a_text_in_place_of_a_file_is_never_taken_from_the_cache(
    notes: Notes, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
):
    """X10."""
    now = time.time_ns
    monkeypatch.setattr("prosa.adapters.files.stamps.time.time_ns", lambda: now() + LATER)
    environ = {"XDG_CACHE_HOME": str(tmp_path / "home")}
    (tmp_path / "home").mkdir(mode=0o700)
    (notes.folder / ".git").mkdir()
    (group,) = gather([notes.folder])
    for _ in range(2):
        assert Checker.of(CheckOptions(cache=True), environ).check(group).diagnostics == ()
    texts = {group.files.real(notes.folder / "b.md"): "# Two\n"}
    found = Checker.of(CheckOptions(cache=True), environ).check(group, texts=texts)
    assert [each.rule for each in found.diagnostics] == ["unresolved-anchor"]
    assert Checker.of(CheckOptions(cache=True), environ).check(group).diagnostics == ()
