"""The documents in a folder, in a fixed order (X5).

In: a folder and the suffixes that count. Out: paths, sorted by name, each real file once. Passed over are hidden
folders, but for those of agents where they are wanted; what git ignores; and what others wrote, in `node_modules` or a
Python environment. Links to folders are not followed, so a walk ends. A link to a file counts when it stays inside the
root and the walk does not meet the file itself: links come last, so that a document has the path where it lies.
"""

# Texts, not Paths: a walk over thousands of files takes half the time.
# ruff: noqa: PTH113, PTH114, PTH118, PTH119
from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path

from msgspec import Struct, field

from prosa.adapters.files.gitignore import Ignored, ignored_in
from prosa.adapters.files.read import real_path
from prosa.dialects.table import AGENT_FOLDERS
from prosa.source import FileProblem, Files
from prosa.source.files import Skipped

MAX_FOLDER_DEPTH = 64
"""Folders inside one another; deeper trees are made, not written."""

FOREIGN_FOLDERS = frozenset({"node_modules", "third_party", "vendor"})
"""Folders that hold what others wrote, by custom."""

ENVIRONMENT_FILE = "pyvenv.cfg"
"""The file that is in every Python environment."""

UNREAD_TEXTS = (".rst", ".adoc", ".asciidoc", ".org", ".textile", ".rmd", ".qmd", ".ipynb")
"""Text documents that Prosa does not read."""

UNWRITTEN_FOLDERS = frozenset(
    (".git", ".hg", ".svn", ".jj", ".obsidian", ".vscode", ".idea", ".vs", ".cache", ".tox", ".nox", ".devcontainer")
) | frozenset((".mypy_cache", ".pytest_cache", ".ruff_cache", ".hypothesis", ".husky", ".circleci", ".yarn", ".trash"))
"""Hidden folders in which programs keep things; nobody asks why they are passed over."""


class Walk(Struct, frozen=True):
    """How folders are walked. ``gitignore`` passes over what git ignores; ``most_folders`` ends a walk early; with
    ``agents`` the hidden folders of agents count too. ``skipped`` takes down what is passed over."""

    suffixes: Sequence[str]
    files: Files
    gitignore: bool = True
    most_folders: int | None = None
    agents: bool = False
    skipped: Skipped | None = None

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


def is_foreign(folder: str) -> bool:
    """Whether a folder holds what others wrote, by its name or as a Python environment: no walk enters it, and no site
    shows what is in it."""
    return os.path.basename(folder) in FOREIGN_FOLDERS or os.path.lexists(os.path.join(folder, ENVIRONMENT_FILE))


def documents_in(
    paths: Sequence[Path],
    suffixes: Sequence[str],
    files: Files,
    *,
    gitignore: bool = True,
    agents: bool = False,
    skipped: Skipped | None = None,
) -> list[Path]:
    """The files named and the documents of the folders named, each once; a folder that cannot be listed as its path,
    so that reading it says why. A file that is named is taken whatever git ignores."""
    walk = Walk(suffixes, files, gitignore, None, agents, skipped)
    found: dict[Path, None] = {}
    for path in paths:
        inside = walk.documents(path) if path.is_dir() else (path,)
        found |= dict.fromkeys(each.path if isinstance(each, FileProblem) else each for each in inside)
    return list(found)


class _Folder(Struct, frozen=True):
    """A folder to be listed: its path as named, its real path, and what is ignored in it."""

    path: str
    real: str
    depth: int
    ignored: Ignored | None


class _Walking(Struct):
    """The state of one walk. Links are the only way to meet a file twice, so only with them real paths are compared."""

    walk: Walk
    suffixes: tuple[str, ...]
    seen: set[str] = field(default_factory=set)
    links: list[str] = field(default_factory=list)

    def folder(self, entry: os.DirEntry[str], parent: _Folder) -> _Folder | None:
        """The entry as a folder to be listed, or None."""
        if not _is_folder(entry) or parent.depth >= MAX_FOLDER_DEPTH:
            return None
        is_wanted = self._is_wanted(entry)
        if not is_wanted and (self.walk.skipped is None or entry.name in UNWRITTEN_FOLDERS):
            return None
        real = os.path.join(parent.real, entry.name)
        ignored = parent.ignored
        if ignored is not None and ignored.ignores(real, is_folder=True):
            return None
        found = _Folder(entry.path, real, parent.depth + 1, ignored.inside(real) if ignored and is_wanted else ignored)
        if not is_wanted:
            self.pass_over(found)
            return None
        return found

    def _is_wanted(self, entry: os.DirEntry[str]) -> bool:
        if entry.name.startswith("."):
            return self.walk.agents and entry.name in AGENT_FOLDERS
        return not is_foreign(entry.path)

    def pass_over(self, folder: _Folder) -> None:
        """Takes down a folder that is passed over."""
        if self.walk.skipped is not None:
            self.walk.skipped.folders.append(folder.path)

    def document(self, entry: os.DirEntry[str], parent: _Folder) -> Path | None:
        """The entry as a document that was not seen before, or None. A link is noted for the end."""
        if entry.name.startswith("."):
            return None
        lowered = entry.name.lower()
        if not lowered.endswith(self.suffixes):
            if self.walk.skipped is not None and lowered.endswith(UNREAD_TEXTS):
                self.walk.skipped.files.append(entry.path)
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
