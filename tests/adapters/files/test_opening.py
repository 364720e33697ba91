"""Files are opened without following a link, whoever swaps folders and files meanwhile (X5)."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest

from prosa.adapters.files import MAX_DOCUMENT_BYTES, RootedFiles, read
from prosa.adapters.files.walk import documents_in
from prosa.app.site.files import SiteFiles
from prosa.source import FileProblem

CANARY = "HUNTER2"

LOOKS = 12
"""Questions to the system of one reading, at least; a swap is tried before each."""


@dataclass
class Swapping:
    """Does something before chosen questions to the system that name a path."""

    at: dict[int, Callable[[], None]]
    asked: int = 0
    busy: bool = False
    opened: list[tuple[Any, ...]] = field(default_factory=list)

    def before(self) -> None:
        self.asked += 1
        if not self.busy and self.asked in self.at:
            self.busy = True
            self.at[self.asked]()
            self.busy = False


@pytest.fixture(params=["chained", "compared"])
def way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Both ways of opening; the other one is switched off."""
    assert read.CHAINED, "this system has both"
    monkeypatch.setattr(read, "CHAINED", request.param == "chained")
    return str(request.param)


def laid_out(base: Path) -> Path:
    root = base / "root"
    (root / "d").mkdir(parents=True)
    (root / "d" / "a.md").write_text("own text")
    (base / "outside").mkdir()
    (base / "outside" / "a.md").write_text(CANARY)
    return root


def swap_folder(root: Path) -> Callable[[], None]:
    def swap() -> None:
        if (root / "d").is_symlink():
            (root / "d").unlink()
            (root / "d.kept").rename(root / "d")
        else:
            (root / "d").rename(root / "d.kept")
            (root / "d").symlink_to(root.parent / "outside")

    return swap


def swap_file(root: Path) -> Callable[[], None]:
    file = root / "d" / "a.md"

    def swap() -> None:
        if file.is_symlink():
            file.unlink()
            (root / "kept").rename(file)
        else:
            file.rename(root / "kept")
            file.symlink_to(root.parent / "outside" / "a.md")

    return swap


def watched(monkeypatch: pytest.MonkeyPatch, swapping: Swapping) -> None:
    for name in ("open", "stat", "lstat", "readlink"):
        under = getattr(os, name)

        def asked(*args: Any, _under: Any = under, _name: str = name, **options: Any) -> Any:
            if not swapping.busy:
                swapping.before()
                if _name == "open":
                    swapping.opened.append(args)
            return _under(*args, **options)

        monkeypatch.setattr(os, name, asked)


READERS: dict[str, Callable[[Path], str]] = {
    "rooted": lambda root: RootedFiles(root).read(root / "d" / "a.md").text,
    "site": lambda root: SiteFiles(root, MAX_DOCUMENT_BYTES).read("d/a.md", MAX_DOCUMENT_BYTES)[1].decode(),
}


@pytest.mark.parametrize("swap", [swap_folder, swap_file])
@pytest.mark.parametrize("reader", READERS)
def test_x5_whatever_is_swapped_for_a_link_and_back_nothing_outside_is_read(
    reader: str, swap: Any, way: str, tmp_path: Path
):
    """X5. A swap before any question to the system, and back before any later one, or never."""
    moments = [*combinations(range(1, LOOKS + 1), 2), *((each, 0) for each in range(1, LOOKS + 1))]
    given = set()
    for number, (there, back) in enumerate(moments):
        root = laid_out(tmp_path / str(number))
        act = swap(root)
        swapping = Swapping({there: act, back: act})
        with pytest.MonkeyPatch.context() as patch:
            watched(patch, swapping)
            try:
                found = READERS[reader](root)
            except FileProblem as problem:
                found = problem.kind
        given.add(found)
        assert CANARY not in found, (way, there, back)
        assert len(swapping.opened) == len(set(swapping.opened))
    assert "own text" in given
    assert given - {"own text"}


def test_x5_the_digest_of_an_attachment_is_not_that_of_a_file_outside(way: str, tmp_path: Path):
    root = laid_out(tmp_path)
    own = RootedFiles(root).digest(root / "d" / "a.md", 100)
    files = RootedFiles(root)
    assert files.inside_root(root / "d" / "a.md")
    swap_folder(root)()
    with pytest.raises(FileProblem):
        files.digest(root / "d" / "a.md", 100)
    swap_folder(root)()
    assert files.digest(root / "d" / "a.md", 100) == own


def test_x5_a_path_of_dots_is_opened_by_nobody(way: str, tmp_path: Path):
    root = laid_out(tmp_path)
    for parts in (["..", "outside", "a.md"], ["d", "..", "..", "outside", "a.md"], ["d", ""], ["."]):
        with pytest.raises(OSError, match="No such file"):
            read.open_below(os.fspath(root), parts)


@pytest.mark.parametrize("times", [1, 2, 1000])
def test_x5_a_link_that_cannot_be_resolved_is_no_error_of_the_program(
    times: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    """X5. A link and a file change places under load: the system says `EINVAL` where a link was."""
    root = laid_out(tmp_path)
    (root / "link.md").symlink_to("d/a.md")
    (root / "out.md").symlink_to("../outside/a.md")
    left = [times]
    readlink = os.readlink

    def torn(*args: Any, **options: Any) -> str:
        if left[0]:
            left[0] -= 1
            raise OSError(errno.EINVAL, os.strerror(errno.EINVAL))
        return readlink(*args, **options)

    monkeypatch.setattr(os, "readlink", torn)
    site, files = SiteFiles(root, MAX_DOCUMENT_BYTES), RootedFiles(root)
    for path in ("link.md", "out.md"):
        left[0] = times
        try:
            assert site.read(path, MAX_DOCUMENT_BYTES)[1] == b"own text"
        except FileProblem as problem:
            assert problem.kind in ("missing", "unreadable")
        left[0] = times
        try:
            assert files.read(root / path).text == "own text"
        except FileProblem as problem:
            assert problem.kind in ("outside-root", "unreadable")
    left[0] = times
    assert root / "d" / "a.md" in documents_in([root], (".md",), files)


def test_a_walk_knows_the_real_paths_of_what_it_met(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """X5: each is what a look at the path itself says, and a file that becomes a link later is refused."""
    root = laid_out(tmp_path)
    (root / "a.md").write_text("a")
    (root / "d" / "b.md").symlink_to(tmp_path / "outside" / "a.md")
    (root / "d" / "c.md").symlink_to(root / "a.md")
    (tmp_path / "way").symlink_to(root)
    monkeypatch.chdir(tmp_path)
    for folder in (Path("way"), Path("root"), root, Path("way/d/..")):
        files = RootedFiles(root)
        met = documents_in([folder], (".md",), files)
        assert met == documents_in([folder], (".md",), RootedFiles(root))
        assert [files.real(each) for each in met] == [each.resolve() for each in met]
    (root / "a.md").unlink()
    (root / "a.md").symlink_to(tmp_path / "outside" / "a.md")
    with pytest.raises(FileProblem) as problem:
        files.read(met[0])
    assert problem.value.kind == "unreadable"
