"""The documents in a folder, in a fixed order (X5).

In: a folder and the suffixes that count. Out: paths, sorted by name, each real file once. Hidden folders and what git
ignores are passed over, links to folders are not followed, so a walk ends. A link to a file counts when it stays inside
the root and the walk does not meet the file itself: links come last, so that a document has the path where it lies.
"""

# Texts, not Paths: a walk over thousands of files takes half the time.
# ruff: noqa: PTH113, PTH114, PTH118
from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from prosa.adapters.files.gitignore import Ignored, ignored_in
from prosa.adapters.files.read import real_path
from prosa.source import FileProblem, Files

MAX_FOLDER_DEPTH = 64
"""Folders inside one another; deeper trees are made, not written."""


@dataclass(frozen=True, slots=True)
class Walk:
    """How folders are walked. ``gitignore`` passes over what git ignores; ``most_folders`` ends a walk early."""

    suffixes: Sequence[str]
    files: Files
    gitignore: bool = True
    most_folders: int | None = None

    def documents(self, folder: Path) -> Iterator[Path | FileProblem]:
        """Every document under ``folder``; a folder that cannot be listed is a `FileProblem` in its place. A walk with
        ``most_folders`` ends with a `FileProblem` of the kind ``too-large`` where it has seen so many."""
        walking = _Walking(self, tuple(self.suffixes))
        real = os.fspath(real_path(folder))
        patterns = ignored_in(real) if self.gitignore else None
        waiting = [_Folder(os.fspath(folder), real, 0, patterns)]
        visited = 0
        while waiting:
            visited += 1
            if self.most_folders is not None and visited > self.most_folders:
                yield FileProblem(folder, "too-large", f"has more than {self.most_folders:,} folders")
                return
            current = waiting.pop()
            try:
                entries = sorted(os.scandir(current.path), key=lambda entry: entry.name)
            except OSError as error:
                reason = f"the folder cannot be listed ({error.strerror})"
                yield FileProblem(Path(current.path), "unreadable", reason)
                continue
            inside = [each for entry in entries if (each := walking.folder(entry, current)) is not None]
            waiting += reversed(inside)
            yield from (path for entry in entries if (path := walking.document(entry, current)) is not None)
        yield from (path for link in walking.links if (path := walking.linked(link)) is not None)


def documents_in(paths: Sequence[Path], suffixes: Sequence[str], files: Files, *, gitignore: bool = True) -> list[Path]:
    """The files named and the documents of the folders named, each once; a folder that cannot be listed as its path,
    so that reading it says why. A file that is named is taken whatever git ignores."""
    walk = Walk(suffixes, files, gitignore)
    found: dict[Path, None] = {}
    for path in paths:
        inside = walk.documents(path) if path.is_dir() else (path,)
        found |= dict.fromkeys(each.path if isinstance(each, FileProblem) else each for each in inside)
    return list(found)


@dataclass(frozen=True, slots=True)
class _Folder:
    """A folder to be listed: its path as named, its real path, and what is ignored in it."""

    path: str
    real: str
    depth: int
    ignored: Ignored | None


@dataclass(slots=True)
class _Walking:
    """The state of one walk. Links are the only way to meet a file twice, so only with them real paths are compared."""

    walk: Walk
    suffixes: tuple[str, ...]
    seen: set[str] = field(default_factory=set)
    links: list[str] = field(default_factory=list)

    def folder(self, entry: os.DirEntry[str], parent: _Folder) -> _Folder | None:
        """The entry as a folder to be listed, or None."""
        if entry.name.startswith(".") or not _is_folder(entry) or parent.depth >= MAX_FOLDER_DEPTH:
            return None
        real = os.path.join(parent.real, entry.name)
        ignored = parent.ignored
        if ignored is not None:
            if ignored.ignores(real, is_folder=True):
                return None
            ignored = ignored.inside(real)
        return _Folder(entry.path, real, parent.depth + 1, ignored)

    def document(self, entry: os.DirEntry[str], parent: _Folder) -> Path | None:
        """The entry as a document that was not seen before, or None. A link is noted for the end."""
        if entry.name.startswith(".") or not entry.name.lower().endswith(self.suffixes):
            return None
        real = os.path.join(parent.real, entry.name)
        if parent.ignored is not None and parent.ignored.ignores(real, is_folder=False):
            return None
        try:
            if entry.is_symlink():
                self.links.append(entry.path)
                return None
            if not entry.is_file(follow_symlinks=False):
                return None
        except OSError:
            return None
        if real in self.seen:
            return None
        self.seen.add(real)
        return Path(entry.path)

    def linked(self, link: str) -> Path | None:
        """A link to a file inside the root. One that leads back to itself is taken: reading it says so."""
        path = Path(link)
        real = os.fspath(real_path(link))
        loops = os.path.islink(real)
        if not loops and (not os.path.isfile(link) or not self.walk.files.inside_root(path)):
            return None
        if real in self.seen:
            return None
        self.seen.add(real)
        return path


def _is_folder(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_dir(follow_symlinks=False)
    except OSError:
        return False
