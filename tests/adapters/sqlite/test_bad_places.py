"""A disk that is full, documents that change while they are read, and a build that another process is busy with: a
clear error or the right answer, and nothing is lost."""

from __future__ import annotations

import os
import resource
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from msgspec.structs import replace

from prosa.adapters.files import RootedFiles, walk
from prosa.adapters.files.scan import scan
from prosa.adapters.processes import Pool
from prosa.adapters.sqlite import Index
from prosa.adapters.sqlite.update import ENOUGH
from prosa.corpus.errors import IndexProblem
from tests.adapters.sqlite.place import Place
from tests.adapters.sqlite.test_writers import forked, same_as_new

FEW, MANY = 5, ENOUGH + 5
"""Documents that are written into the index in place, and into a file beside it."""


def texts(count: int) -> dict[str, str]:
    return {f"a/n{each}.md": f"# H{each}\n\n[[n{each + 1}]] " + f"word{each} " * 400 for each in range(count)}


@pytest.mark.parametrize(("count", "kibibytes"), [(FEW, 0), (FEW, 100), (MANY, 8), (MANY, 200)])
def test_x10_a_disk_that_is_full_is_told_and_the_next_index_is_whole(tmp_path: Path, count: int, kibibytes: int):
    place = Place.at(tmp_path, texts(count))

    def fill() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (kibibytes * 1024, resource.RLIM_INFINITY))
        with pytest.raises(IndexProblem, match="cannot be") as raised:
            place.refresh()
        assert raised.value.hint.endswith("PROSA_CACHE_DIR names another place")

    assert os.waitpid(forked(fill), 0)[1] == 0
    assert not [*tmp_path.glob("*.new*")]
    assert place.refresh().added == count
    same_as_new(place, tmp_path)


def test_x10_a_disk_that_is_full_leaves_the_index_as_it_was(tmp_path: Path):
    place = Place.at(tmp_path, texts(FEW))
    place.refresh()
    before = place.dump()
    place.write("a/n1.md", "# Much more\n\n" + "".join(f"other{each} " for each in range(100_000)))
    (pages,) = place.index.writer().execute("PRAGMA page_count").fetchone()
    place.index.writer().execute(f"PRAGMA max_page_count = {pages + 2}")
    with pytest.raises(IndexProblem, match="disk is full") as raised:
        place.refresh()
    assert raised.value.hint == "is the disk full? PROSA_CACHE_DIR names another place"
    assert place.dump() == before
    place.index.close()
    assert place.refresh().changed == 1
    same_as_new(place, tmp_path)


def deleted(file: Path) -> None:
    file.unlink()


def truncated(file: Path) -> None:
    os.truncate(file, 5)


def replaced(file: Path) -> None:
    new = file.with_suffix(".tmp")
    new.write_text("---\ntitle: Other\n---\n[[n3]]\n", encoding="utf-8")
    new.replace(file)


def made_a_folder(file: Path) -> None:
    file.unlink()
    file.mkdir()
    (file / "inner.md").write_text("# Inner\n", encoding="utf-8")


def made_a_link_outside(file: Path) -> None:
    file.unlink()
    file.symlink_to("/etc/hostname")


def made_a_link_to_itself(file: Path) -> None:
    file.unlink()
    file.symlink_to(file.name)


def renamed(file: Path) -> None:
    file.rename(file.with_name("renamed.md"))


def folder_renamed(file: Path) -> None:
    if file.parent.exists():
        file.parent.rename(file.parent.with_name("b"))


def folder_made_a_file(file: Path) -> None:
    if file.parent.is_dir():
        shutil.rmtree(file.parent)
        file.parent.write_text("no folder", encoding="utf-8")


def no_text(file: Path) -> None:
    file.write_bytes(b"\xff\xfe\x00" * 50)


CHANGES = (deleted, truncated, replaced, made_a_folder, made_a_link_outside, made_a_link_to_itself, renamed, no_text)
CHANGES_OF_FOLDERS = (folder_renamed, folder_made_a_file)


@pytest.mark.parametrize(
    ("count", "change"),
    [*((FEW, each) for each in (*CHANGES, *CHANGES_OF_FOLDERS)), (MANY, deleted), (MANY, folder_renamed)],
)
def test_x10_what_changes_between_the_walk_and_the_reading(tmp_path: Path, count: int, change: Callable[[Path], None]):
    place = Place.at(tmp_path, texts(count), workers=Pool(2) if count == MANY else None)
    found = scan(place.root, RootedFiles(place.root))
    change(place.root / "a/n2.md")
    place.index.refresh(found, place.reading)
    place.check()
    place.refresh()
    same_as_new(place, tmp_path)


@pytest.mark.parametrize("change", [*CHANGES, *CHANGES_OF_FOLDERS])
def test_x10_what_changes_after_it_was_indexed_and_listed(tmp_path: Path, change: Callable[[Path], None]):
    place = Place.at(tmp_path, texts(FEW))
    place.refresh()
    place.write("a/n2.md", "# Changed\n")
    found = scan(place.root, RootedFiles(place.root))
    change(place.root / "a/n2.md")
    place.index.refresh(found, place.reading)
    place.check()
    place.refresh()
    same_as_new(place, tmp_path)


@pytest.mark.parametrize("change", [*CHANGES, *CHANGES_OF_FOLDERS])
def test_x10_what_changes_while_folders_are_listed(
    tmp_path: Path, change: Callable[[Path], None], monkeypatch: pytest.MonkeyPatch
):
    place = Place.at(tmp_path, texts(FEW))
    place.write("c/d/e.md", "# E\n")
    scandir = os.scandir

    @contextmanager
    def changing(folder: str) -> Iterator[list[os.DirEntry[str]]]:
        with scandir(folder) as entries:
            listed = list(entries)
        if str(folder).endswith("/a"):
            change(place.root / "a/n2.md")
        yield listed

    with monkeypatch.context() as patched:
        patched.setattr(walk.os, "scandir", changing)
        place.refresh()
    place.check()
    place.refresh()
    same_as_new(place, tmp_path)


@pytest.mark.parametrize("killed", [False, True])
def test_x10_a_build_of_another_process_is_waited_for(tmp_path: Path, killed: bool):
    place = Place.at(tmp_path, texts(MANY))
    begun, begin = os.pipe()
    waiting, go = os.pipe()

    def build() -> None:
        def pause(done: int, total: int) -> None:
            os.write(begin, b"1")
            os.read(waiting, 1)

        index = Index(place.index.path)
        index.refresh(scan(place.root, RootedFiles(place.root)), replace(place.reading, progress=pause))

    child = forked(build)
    os.read(begun, 1)
    place.index.wait = 0.05
    with pytest.raises(IndexProblem, match="another process is writing"):
        place.refresh()
    assert place.index.is_new
    if killed:
        os.kill(child, 9)
    os.write(go, b"1" * MANY)
    assert os.waitpid(child, 0)[1] == (9 if killed else 0)
    report = place.refresh()
    assert (report.added, report.changed) == (MANY if killed else 0, 0)
    same_as_new(place, tmp_path)
    for each in (begun, begin, waiting, go):
        os.close(each)
