"""The visible files of a site, by path (X5, X23). In: a path below the root, from a request. Out: its real path and
stamp, or None.

Visible are regular files whose real path is inside the root, that are not hidden, git-ignored, excluded or in a folder
of third-party files, neither under the requested name nor at the target of a link. The content of a document is
checked elsewhere.
"""

from __future__ import annotations

import os
import stat
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

from prosa.adapters.files import RootedFiles
from prosa.adapters.files.read import read_bytes, read_piece, real_path
from prosa.adapters.files.walk import Ignored, ignored_in, is_foreign
from prosa.corpus.found import Stamp
from prosa.dialects.table import DOCUMENT_SUFFIXES
from prosa.source import FileProblem
from prosa.source.wildmatch import glob_matches

CHECK_SECONDS = 1.0
"""How long a checked path is trusted while the file stays the same: a change of `.gitignore` takes effect after
that."""

MAX_KNOWN = 4_096
"""Folders of which is kept what git ignores there, and whether they are a vault."""

_VAULT = ".obsidian"


class VisibleFile(NamedTuple):
    """A file that may be seen: where it is opened, and its stamp."""

    path: Path
    stamp: Stamp


class SiteFiles:
    """The files below ``root``, a real path. ``max_size`` is that of a document, in bytes; files that match a glob of
    ``exclude`` are not visible."""

    def __init__(self, root: Path, max_size: int, exclude: tuple[str, ...] = ()) -> None:
        self.root, self.max_size = root, max_size
        self._globs = tuple(f"{glob}**" if glob.endswith("/") else glob for glob in exclude)
        self.reader = RootedFiles(root, max_size)
        self._rules: dict[str, tuple[float, Ignored | None]] = {}
        self._vaults: dict[str, tuple[float, bool]] = {}

    def place(self, path: str) -> VisibleFile | None:
        """Return the file at a path that has no empty, `.` or `..` parts; None where there is none that may be seen."""
        whole = self.root / path
        stamp = stamp_at(os.fspath(whole))
        return VisibleFile(whole, stamp) if stamp is not None and self.may_be_seen(path) else None

    def may_be_seen(self, path: str) -> bool:
        """Return whether the path of a file says nothing against it."""
        if not self.is_open(path):
            return False
        below = self.real(path)
        return below == path or (below is not None and self.is_open(below))

    def real(self, path: str) -> str | None:
        """Return the path below the root that a path leads to when links are followed; None for one outside."""
        real, base = os.fspath(real_path(self.root / path)), os.fspath(self.root)
        if os.path.commonpath((real, base)) != base:
            return None
        return real[len(base.rstrip(os.sep)) + 1 :].replace(os.sep, "/")

    def read(self, path: str, most: int) -> tuple[str, bytes]:
        """Return the bytes of a visible file, and its real path below the root. The target of a link is checked each
        time, and opened without following links, so that it cannot be exchanged.

        Raises `FileProblem`, of kind ``missing`` for an invisible one.
        """
        whole, real = self.root / path, self.real(path)
        if real is None or not self.is_open(path) or not self.is_open(real):
            raise FileProblem(whole, "missing", "no such file")
        return real, read_bytes(whole, self.root / real, most, self.root)

    def piece(self, path: str, stamp: Stamp, start: int, *, most: int) -> bytes:
        """Return some bytes of a file that may be seen; none where it is not the one with this stamp any more."""
        real = self.real(path)
        if real is None:
            return b""
        try:
            status, data = read_piece(self.root / path, self.root / real, start, most, self.root)
        except FileProblem:
            return b""
        return data if _stamp_of(status) == stamp else b""

    def others(self, wanted: Callable[[str], bool]) -> Iterator[str]:
        """Yield the paths of visible files named ``wanted``, in order. Links among folders are not followed."""
        waiting = [""]
        while waiting:
            folder = waiting.pop()
            place = self.folder(folder)
            if place is None:
                continue
            with os.scandir(place) as entries:
                ordered = sorted(entries, key=lambda entry: entry.name)
            yield from (
                f"{folder}{entry.name}" for entry in ordered if wanted(entry.name) and self._may_list(folder, entry)
            )
            waiting += (f"{folder}{entry.name}/" for entry in reversed(ordered) if entry.is_dir(follow_symlinks=False))

    def _may_list(self, folder: str, entry: os.DirEntry[str]) -> bool:
        """Return whether a file in a folder that may be seen may be seen itself."""
        path = f"{folder}{entry.name}"
        if entry.is_symlink():
            return self.place(path) is not None
        return entry.is_file(follow_symlinks=False) and self.is_open(path)

    def folder(self, path: str) -> Path | None:
        """Return the folder at a path that ends with `/` or is empty; None where there is none that may be seen."""
        place = self.root / path
        if not os.path.isdir(place) or self.real(path) != path.rstrip("/"):  # noqa: PTH112 - a name too long is no error
            return None
        name = path.rstrip("/")
        if any(part.startswith(".") for part in name.split("/")):
            return None
        return place if self._rules_in(name) is not None else None

    def is_open(self, path: str) -> bool:
        """Return whether no part of a path is hidden or holds what others wrote, and git ignores none of it."""
        *folders, name = path.split("/")
        if any(part.startswith(".") for part in (*folders, name)) or self.is_excluded(path):
            return False
        rules = self._rules_in("/".join(folders))
        return rules is not None and not rules.ignores(os.fspath(self.root / path), is_folder=False)

    def is_excluded(self, path: str) -> bool:
        """Return whether the user left a path out of the site."""
        return any(glob_matches(glob, path) for glob in self._globs)

    def is_in_vault(self, path: str) -> bool:
        """Return whether a document lies in an Obsidian vault: a folder above it holds `.obsidian`."""
        return self._is_vault(path.rpartition("/")[0])

    def _is_vault(self, folder: str) -> bool:
        """Return whether a folder, or one above it, is a vault. Cached for a second."""
        now = time.monotonic()
        known = self._vaults.get(folder)
        if known is not None and now - known[0] < CHECK_SECONDS:
            return known[1]
        if len(self._vaults) > MAX_KNOWN:
            self._vaults.clear()
        place = self.root / folder
        inside = (place / _VAULT).is_dir()
        if folder:
            inside = inside or self._is_vault(folder.rpartition("/")[0])
        else:
            inside = inside or any((parent / _VAULT).is_dir() for parent in place.parents)
        self._vaults[folder] = (now, inside)
        return inside

    def _rules_in(self, folder: str) -> Ignored | None:
        """Return the ignore rules in a folder; None if the folder itself is ignored or has third-party files.
        Cached for a second."""
        now = time.monotonic()
        known = self._rules.get(folder)
        if known is not None and now - known[0] < CHECK_SECONDS:
            return known[1]
        if len(self._rules) > MAX_KNOWN:
            self._rules.clear()
        ignored = self._read_rules(folder)
        self._rules[folder] = (now, ignored)
        return ignored

    def _read_rules(self, folder: str) -> Ignored | None:
        if not folder:
            return ignored_in(os.fspath(self.root))
        above = self._rules_in(folder.rpartition("/")[0])
        place = os.fspath(self.root / folder)
        if above is None or above.ignores(place, is_folder=True) or is_foreign(place):
            return None
        return above.inside(place)


def is_document(path: str) -> bool:
    """Return whether the name of a file is that of a document."""
    return path.lower().endswith(DOCUMENT_SUFFIXES)


def stamp_at(path: str) -> Stamp | None:
    """Return the stamp of a regular file, or None. Follows links: `SiteFiles` checks their targets."""
    try:
        status = os.stat(path)  # noqa: PTH116 - once for every request
    except (OSError, ValueError):
        return None
    return _stamp_of(status) if stat.S_ISREG(status.st_mode) else None


def _stamp_of(status: os.stat_result) -> Stamp:
    return Stamp(status.st_size, status.st_mtime_ns, status.st_ctime_ns, status.st_ino)
