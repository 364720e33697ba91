"""A folder of generated files that remembers which files are its own (`prosa build`).

In: files one after the other. Out: the folder holds exactly these, besides foreign files. A file that was not made by
a build, or was changed since, is neither replaced nor removed. The digest of a file is recorded before it is written,
so that a build after a kill recognises its own.
"""

from __future__ import annotations

import errno
import hashlib
import json
import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from types import TracebackType

from msgspec import Struct, field

from prosa.adapters.files.read import digest_bytes, link_on_the_way, read_bytes
from prosa.adapters.files.write import naming, replace_file, sweep
from prosa.source import FileProblem

RECORD = ".prosa-build.json"
"""The list of files with their digests, in the folder itself."""

JOURNAL = ".prosa-build.log"
"""Path and digest of each file before it is written; exists only during a build, or after one was killed."""

MAX_RECORD = 256 * 1024 * 1024
"""Bytes of a list of files that is read."""

MAX_BUILT = 4 * 1024 * 1024 * 1024
"""Maximum bytes of a file that may be one of the build."""

_APPEND = os.O_WRONLY | os.O_APPEND | os.O_CREAT | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)
_APPEND |= getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)

_LONG = 64
"""Characters of a path from which on its names may be too long: systems take 255 bytes, and a character has four."""

_EMPTY = hashlib.sha256().hexdigest()


class Build(Struct):
    """One build into ``out``. ``kept`` are files in the way, or changed by others, ``too_long`` those with a name that
    the file system does not take."""

    out: Path
    written: int = 0
    same: int = 0
    removed: int = 0
    kept: list[str] = field(default_factory=list)
    too_long: list[str] = field(default_factory=list)
    changes: list[str] = field(default_factory=list)
    """Files that a comparison found to be new or different."""

    _before: dict[str, set[str]] = field(default_factory=dict)
    """What builds left at each path, or were about to leave there when they were killed: digests."""

    _now: dict[str, str] = field(default_factory=dict)
    _journal: int = -1

    def __enter__(self) -> Build:
        self.out.mkdir(parents=True, exist_ok=True)
        for name in (RECORD, JOURNAL):
            if (self.out / name).is_symlink():
                raise OSError(
                    errno.ELOOP, "is a link; the record of a build is a file of its own", str(self.out / name)
                )
        self._before = _known(self.out)
        self._journal = os.open(self.out / JOURNAL, _APPEND, 0o666)
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        os.close(self._journal)
        if kind is None:  # otherwise the journal stays, and the next build continues
            self._remove_old()
            self._sweep()
            text = json.dumps({"files": dict(sorted(self._now.items()))}, indent=1, ensure_ascii=False)
            replace_file(self.out / RECORD, f"{text}\n")
            (self.out / JOURNAL).unlink()

    def put(self, path: str, content: bytes) -> None:
        """Write a file at a path with `/` below the folder; the first of several at one path counts. Raises
        `OSError`."""
        if not self._changes(path, content):
            return
        self._note(path, self._now[path])
        target = self.out / path
        target.parent.mkdir(parents=True, exist_ok=True)
        replace_file(target, content, durable=False)  # the next build makes it again
        self.written += 1

    def _changes(self, path: str, content: bytes) -> bool:
        """Return whether a file has to be written; it is counted where it is the same, or in the way."""
        if path in self._now or path in self.too_long:
            return False
        if len(path) >= _LONG and _is_too_long(self.out, path):
            self.too_long.append(path)
            return False
        if link_on_the_way(self.out, path):
            self.kept.append(path)
            return False
        digest = hashlib.sha256(content).hexdigest()
        current = _digest(self.out / path)
        if current is not None and current != digest and current not in self._before.get(path, ()):
            self.kept.append(path)
            return False
        self._now[path] = digest
        self.same += current == digest
        return current != digest

    def compare(self, path: str, content: bytes) -> None:
        """Note a file that would be written in ``changes``, and write nothing."""
        if self._changes(path, content):
            self.changes.append(path)

    def _note(self, path: str, digest: str) -> None:
        """Record the digest of a path before writing it. A line cut off by a kill is ended by the next one."""
        line = json.dumps([path, digest]).encode()
        with naming(self.out / path):
            os.write(self._journal, b"\n" + line + b"\n")

    def _sweep(self) -> None:
        """Remove incomplete files that a killed process left beside files of a build."""
        folders = {
            path.rpartition("/")[0] for path in (*self._before, *self._now) if not link_on_the_way(self.out, path)
        }
        for folder in folders | {""}:
            sweep(self.out / folder)

    def _remove_old(self) -> None:
        for path in self._before.keys() - self._now.keys():
            target = self.out / path
            if link_on_the_way(self.out, path):
                continue
            current = _digest(target)
            if current in self._before[path]:
                target.unlink()
                self.removed += 1
            elif current is not None and path not in self.kept:
                self.kept.append(path)
            sweep(target.parent)
            _remove_empty(target.parent, self.out)


def compared(files: Iterable[tuple[str, bytes]], out: Path) -> Build:
    """Return a build that only compares: nothing is written, and no folder created."""
    build = Build(out, _before=_known(out))
    for path, content in files:
        build.compare(path, content)
    return build


def _known(out: Path) -> dict[str, set[str]]:
    """Return the digests that the last build recorded, and those that builds noted since and did not live to record.
    Names that lead out of the folder are not believed. A power cut may leave an empty file of each."""
    digests: dict[str, set[str]] = {}
    for name, digest in (*_recorded(out / RECORD), *_noted(out / JOURNAL)):
        if isinstance(name, str) and isinstance(digest, str) and _is_inside(name):
            digests.setdefault(name, {_EMPTY}).add(digest)
    return digests


def _recorded(path: Path) -> Iterable[tuple[object, object]]:
    try:
        return tuple(json.loads(read_bytes(path, path, MAX_RECORD))["files"].items())
    except (FileProblem, RecursionError, ValueError, KeyError, TypeError, AttributeError):
        return ()


def _noted(path: Path) -> Iterator[tuple[object, object]]:
    try:
        lines = read_bytes(path, path, MAX_RECORD).decode("utf-8", "replace").splitlines()
    except FileProblem:
        return
    for line in filter(None, lines):
        try:
            name, digest = json.loads(line)
        except (ValueError, TypeError):
            continue  # the kill came while it was written, and so before its file
        yield name, digest


def _is_inside(name: str) -> bool:
    parts = name.split("/")
    return all(part not in ("", ".", "..") for part in parts) and "\0" not in name and "\\" not in name


def _digest(path: Path) -> str | None:
    """Return the digest of a file; None where there is none. Something else in its place has one that nothing
    matches."""
    try:
        return digest_bytes(path, path, MAX_BUILT)
    except FileProblem as problem:
        return None if problem.kind == "missing" and not path.is_symlink() else problem.kind


def _is_too_long(out: Path, path: str) -> bool:
    """Return whether the file system takes no such path, or no such name in it."""
    place = next((parent for parent in (out, *out.parents) if parent.is_dir()), out)
    for part in (path, *path.split("/")):
        try:
            (place / part).lstat()
        except OSError as error:
            if error.errno == errno.ENAMETOOLONG:
                return True
    return False


def _remove_empty(folder: Path, out: Path) -> None:
    """Remove folders that a removed file leaves empty, up to the output itself."""
    while folder != out and folder.is_relative_to(out):
        if folder.is_dir():
            if any(folder.iterdir()):
                return
            folder.rmdir()
        folder = folder.parent
