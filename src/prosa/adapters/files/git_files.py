"""Documents as they were at a revision of git, below a root. Meets `prosa.source.Files`; the work tree is not touched.

In: a root inside a repository, and a revision that git resolved. Out: texts. Only `git` itself is started, with a
revision and a path that it cannot take for an option; hooks, filters and the network play no part.
"""

from __future__ import annotations

import hashlib
import io
import os
import subprocess
import tarfile
from collections.abc import Iterable, Iterator
from functools import lru_cache
from pathlib import Path

from msgspec import Struct, field

from prosa.adapters.files.read import MAX_DOCUMENT_BYTES, decode, read_bytes, real_path
from prosa.regex import regex
from prosa.source import FileProblem, Renamed, SourceText

_SECONDS = 20

MAX_COMMITS = 2_000
"""Commits of the checked out branch in which renames are looked for; reading one takes about half a millisecond."""

_RENAME_SECONDS = 10
"""After that a repository is too large to be asked for renames."""


def resolve_revision(name: str, folder: Path) -> str | None:
    """Return the commit that a name means in the repository of ``folder``; None where it means none, or there is no
    git."""
    if not name or name.startswith("-") or "\0" in name:
        return None
    output = _git(folder, "rev-parse", "--verify", "--quiet", "--end-of-options", f"{name}^{{commit}}")
    return output.decode().strip() if output is not None else None


def revision_of(folder: Path) -> tuple[str, bool]:
    """Return the commit that is checked out around a folder, empty outside of a repository, and whether a tracked file
    may differ from it: one whose size or time is another than git noted counts, as no filter is run to read it."""
    commit = resolve_revision("HEAD", folder)
    if commit is None:
        return "", False
    return commit, bool(_git(folder, "diff-index", "--name-only", "-z", commit, "--"))


def top_of(folder: Path) -> Path | None:
    """Return the top folder of the repository around ``folder``."""
    output = _git(folder, "rev-parse", "--show-toplevel")
    return real_path(Path(os.fsdecode(output).strip("\n"))) if output is not None else None


def _git(folder: Path, *arguments: str, seconds: float = _SECONDS) -> bytes | None:
    environ = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    environ |= {"GIT_OPTIONAL_LOCKS": "0", "GIT_TERMINAL_PROMPT": "0", "GIT_NO_LAZY_FETCH": "1"}
    command = ["git", "-c", "core.fsmonitor=false", "-C", str(folder), *arguments]
    try:
        done = subprocess.run(
            command, capture_output=True, env=environ, timeout=seconds, check=False, stdin=subprocess.DEVNULL
        )
    except (OSError, subprocess.TimeoutExpired, ValueError):
        return None
    return done.stdout if done.returncode == 0 else None


def renames_below(folder: Path) -> tuple[Renamed, ...]:
    """Return the files below a folder that commits renamed, the newest first, with paths from there; none where git or
    a repository is missing. Renames in merges are not seen, nor what went into the folder or out of it."""
    head = resolve_revision("HEAD", folder)
    return _renames(folder, head) if head is not None else ()


@lru_cache(maxsize=4)
def _renames(folder: Path, head: str) -> tuple[Renamed, ...]:
    older = _git(folder, "rev-list", "--first-parent", f"--skip={MAX_COMMITS}", "-n1", head)
    until = [f"^{older.decode().strip()}"] if older else []
    what = ("-z", "-M", "-l400", "--diff-filter=R", "--name-status", "--relative", "--format=%h", "--abbrev=7")
    quiet = ("--no-show-signature", "--no-ext-diff", "--no-textconv", "-O/dev/null")
    output = _git(folder, "log", *quiet, *what, head, *until, "--", seconds=_RENAME_SECONDS)
    return tuple(_renamed(os.fsdecode(output))) if output is not None else ()


_STATUS = regex(r"\n?R\d+\Z")


def _renamed(log: str) -> Iterator[Renamed]:
    """Yield the renames in the words of a log: a commit, then a status with two paths, or several."""
    words = iter(log.split("\0"))
    commit = ""
    for word in words:
        if _STATUS.match(word):
            yield Renamed(next(words, ""), next(words, ""), commit)
        elif word.strip():
            commit = word.strip()


def exported_folder(folder: Path, top: Path, commit: str, empty: Path) -> Path:
    """Write a folder as it was at a commit into an empty one, without links, and return that. Raises `FileProblem` for
    a folder that was not there."""
    name = real_path(folder).relative_to(top).as_posix()
    packed = _git(top, "archive", "--format=tar", f"{commit}:{name}" if name != "." else commit)
    if packed is None:
        raise FileProblem(folder, "missing", f"was not there at {commit[:12]}")
    with tarfile.open(fileobj=io.BytesIO(packed)) as archive:
        members = (member for member in archive if member.isfile() or member.isdir())
        archive.extractall(empty, members=members, filter="data")
    return empty


class RevisionFiles(Struct, frozen=True):
    """Files below ``root`` as they were at ``commit``. ``top`` is the top folder of the repository."""

    root: Path
    top: Path
    commit: str
    max_size: int = MAX_DOCUMENT_BYTES
    known: dict[str, bytes | None] = field(default_factory=dict)

    def read(self, path: Path) -> SourceText:
        """Return the text of a document as it was. Raises `FileProblem`."""
        data = self._bytes(path)
        return SourceText(decode(path, data), str(path), hashlib.sha256(data).hexdigest())

    def real(self, path: Path) -> Path:
        """Return the path, with the links of its folder resolved in their present state."""
        return real_path(path.parent) / path.name

    def inside_root(self, path: Path) -> bool:
        """Return whether it lies below the root."""
        return self.real(path).is_relative_to(self.root)

    def exists(self, path: Path) -> bool:
        """Return whether a document was there."""
        return self.inside_root(path) and self._blob(path) is not None

    def digest(self, path: Path, limit: int) -> str:
        """Return the SHA-256 of its bytes. Raises `FileProblem`."""
        data = self._bytes(path)
        if len(data) > limit:
            raise FileProblem(path, "too-large", f"has more than {limit:,} bytes")
        return hashlib.sha256(data).hexdigest()

    def _bytes(self, path: Path) -> bytes:
        if not self.inside_root(path):
            raise FileProblem(path, "outside-root", "lies outside the root")
        data = self._blob(path)
        if data is None:
            raise FileProblem(path, "missing", f"was not there at {self.commit[:12]}")
        if len(data) > self.max_size:
            raise FileProblem(path, "too-large", f"has more than {self.max_size:,} bytes")
        return data

    def _blob(self, path: Path) -> bytes | None:
        name = self.real(path).relative_to(self.top).as_posix()
        if name not in self.known:
            size = _git(self.top, "cat-file", "-s", f"{self.commit}:{name}")
            large = size is not None and int(size) > self.max_size
            blob = b" " * (self.max_size + 1) if large else None
            self.known[name] = blob or _git(self.top, "cat-file", "blob", f"{self.commit}:{name}")
        return self.known[name]


def has_git() -> bool:
    """Return whether there is a git to ask."""
    from shutil import which  # it loads three compressors

    return which("git") is not None


def changed_since(commit: str, top: Path, paths: Iterable[Path]) -> set[Path]:
    """Return which real paths hold other bytes than at ``commit``, or than where the checked out branch left it; line
    ends may differ. Bytes are compared here, because git would run filters for it. Raises `FileProblem`."""
    wanted = {path.relative_to(top).as_posix(): path for path in paths if path.is_relative_to(top)}
    base = _git(top, "merge-base", commit, "HEAD")
    listed = _git(top, "ls-tree", "-r", "-z", "--full-tree", base.decode().strip() if base else commit)
    if listed is None:
        raise FileProblem(top, "unreadable", f"git cannot list the files at {commit[:12]}")
    before: dict[str, str] = {}
    for row in listed.split(b"\0"):
        about, _, name = row.partition(b"\t")
        path = os.fsdecode(name)
        if path in wanted:
            before[path] = about.split()[2].decode()
    return {path for name, path in wanted.items() if not _is_blob(path, before.get(name))}


def _is_blob(path: Path, name: str | None) -> bool:
    """Return whether a file holds the bytes of a blob, perhaps with other line ends."""
    if name is None:
        return False
    try:
        data = read_bytes(path, path, MAX_DOCUMENT_BYTES)
    except FileProblem:
        return False
    forms = (data, data.replace(b"\r\n", b"\n")) if b"\r\n" in data else (data,)
    algorithm = "sha1" if len(name) == 40 else "sha256"
    blobs = (hashlib.new(algorithm, b"blob %d\0" % len(form) + form, usedforsecurity=False) for form in forms)
    return any(blob.hexdigest() == name for blob in blobs)
