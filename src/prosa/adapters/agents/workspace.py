"""The workspace of one attempt of an agent (X36): a fresh folder with the files of a case, and what became of it.

In: contents and relative paths. Out: the folder, the state of its files before and after, and the changes between
them. The agent owns the folder, so nothing in it is believed: no link is followed, no device opened, and there are
limits. Deleting it cannot reach anything outside of it.
"""

from __future__ import annotations

import asyncio
import codecs
import difflib
import errno
import hashlib
import os
import secrets
import stat
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from itertools import count
from pathlib import Path, PurePosixPath

from msgspec import Struct

from prosa.records.agent import FileChange
from prosa.source import ProsaError

MOST_FILES = 10_000
"""Files, folders and links of a workspace; a project with its dependencies has more, a result has dozens."""

MOST_BYTES = 256 * 2**20
"""Bytes of a workspace, as its files say and as the disk counts them, whichever is more."""

MOST_DEPTH = 100
"""Folders inside one another. Each is open while what is below it is read."""

MOST_DIFFED = 256 * 1024
"""Bytes of a file of which a diff is made."""

MOST_COMPARED_LINES = 3_000
"""Lines of two files that are compared with each other, which may take the square of it."""

MOST_DIFF = 20_000
"""Characters of a diff."""

WATCH_SECONDS = 0.5
"""Between two looks at the size of a workspace while an agent works in it."""

GIT = ".git"
"""The insides of a repository are no output. They count towards the limits."""

_PIECE = 1 << 20
_FOLDER = os.O_RDONLY | getattr(os, "O_DIRECTORY", 0) | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0)
_FILE = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0)
_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0)


class WorkspaceProblem(ProsaError):
    """A workspace that cannot be made, read or deleted, as a whole sentence."""


class DiskFull(WorkspaceProblem):
    """No space is left for a workspace or for what is kept of it."""


class WorkspaceLimits(Struct, frozen=True):
    """How much a workspace may hold: ``files`` (folders and links count) and ``size`` in bytes."""

    files: int = MOST_FILES
    size: int = MOST_BYTES


class FileState(Struct, frozen=True):
    """One regular file: the SHA-256 of its content, and its bytes."""

    digest: str
    size: int


class Snapshot(Struct, frozen=True):
    """The files of a workspace at one moment, by relative path with slashes. ``refused`` are paths that are no output,
    each with what it is: a link, a device, a file that is linked to from outside. ``excess`` says which limit ended
    the reading; then files are missing."""

    files: Mapping[str, FileState]
    refused: Mapping[str, str]
    excess: str = ""


class Workspace(Struct, frozen=True):
    """The folder in which an agent works."""

    folder: Path
    limits: WorkspaceLimits = WorkspaceLimits()

    @classmethod
    def create(
        cls,
        folder: Path,
        files: Iterable[tuple[bytes | Path, str]] = (),
        limits: WorkspaceLimits = WorkspaceLimits(),  # noqa: B008 - frozen
    ) -> Workspace:
        """Make a folder that does not exist, private to this user, and lay the files into it: each a content, or the
        path of a file, and where it goes. Raises `WorkspaceProblem`."""
        made = cls(folder, limits)
        with _on_disk(folder):
            folder.mkdir(parents=True, mode=0o700)
        made.lay(files)
        return made

    def lay(self, files: Iterable[tuple[bytes | Path, str]]) -> None:
        """Write further files, before an agent runs. Raises `WorkspaceProblem` for a path that is not safe or taken,
        and for a source that is no regular file."""
        size = 0
        for number, (source, path) in enumerate(files, 1):
            content, mode = (source, 0o644) if isinstance(source, bytes) else _source(source, self.limits.size)
            size += len(content)
            if excess := _excess(self.limits, number, size):
                raise WorkspaceProblem(f"the files of the case are too many: {excess}")
            self._write(path, content, mode)

    def _write(self, path: str, content: bytes, mode: int) -> None:
        target = self.folder.joinpath(*_safe_parts(path))
        with _on_disk(self.folder):
            try:
                target.parent.mkdir(parents=True, exist_ok=True)
                descriptor = os.open(target, _NEW, mode)
            except (FileExistsError, NotADirectoryError):
                raise WorkspaceProblem(f"two files are to be laid at `{path}`") from None
            with os.fdopen(descriptor, "wb") as file:
                file.write(content)

    def copy(self, source: Path, path: str, *, without: frozenset[str] = frozenset()) -> tuple[str, ...]:
        """Copy the regular files below a folder to a relative path, without top-level names such as `evals`. Return
        the paths below ``source`` that were left out because they are no regular files, links above all."""
        with _opened(source) as folder:
            entries = [entry for entry in _walk(folder) if entry.path.partition("/")[0] not in without]
        plain = [entry for entry in entries if stat.S_ISREG(entry.info.st_mode)]
        self.lay((source / entry.path, f"{path}/{entry.path}") for entry in plain)
        return tuple(entry.path for entry in entries if _kind(entry.info) not in ("a file", "a folder"))

    def snapshot(self, contents: Path | None = None) -> Snapshot:
        """Read every file. With ``contents``, an existing folder outside of the workspace, files small enough for a
        diff are copied there under their digest. Raises `WorkspaceProblem`."""
        files: dict[str, FileState] = {}
        refused: dict[str, str] = {}
        links: dict[tuple[int, int], list[tuple[str, int]]] = {}
        excess = ""
        with _opened(self.folder) as folder:
            for entry, excess in _counted(folder, self.limits):
                if excess:
                    break
                if entry.path.partition("/")[0] == GIT or (stat.S_ISDIR(entry.info.st_mode) and not entry.problem):
                    continue
                state = entry.problem or _read(entry, contents)
                if isinstance(state, str):
                    refused[entry.path] = state
                    continue
                files[entry.path] = state
                if entry.info.st_nlink > 1:
                    key = (entry.info.st_dev, entry.info.st_ino)
                    links.setdefault(key, []).append((entry.path, entry.info.st_nlink))
        for path in _linked_outside(links):
            del files[path]
            refused[path] = "a file that is linked to from outside the workspace"
        return Snapshot(dict(sorted(files.items())), dict(sorted(refused.items())), excess)

    def changes(self, before: Snapshot, after: Snapshot, contents: Path) -> tuple[FileChange, ...]:
        """Return what differs, by path. The new contents are copied into the folder ``contents`` under their digests,
        in which `snapshot` has put the old ones. Raises `WorkspaceProblem`."""
        changed = []
        for path in sorted(before.files.keys() | after.files.keys()):
            old, new = before.files.get(path), after.files.get(path)
            if new is not None and (old is None or old.digest != new.digest):
                self._keep(path, new, contents)
                changed.append(_change(path, old, new, contents))
            elif new is None and old is not None and path not in after.refused and not after.excess:
                changed.append(FileChange(path, "deleted", diff=_diff(path, old, None, contents)))
            elif new is None and path in after.refused:
                changed.append(FileChange(path, "deleted"))
        return tuple(changed)

    def _keep(self, path: str, state: FileState, contents: Path) -> None:
        """Copy one file. Raises `WorkspaceProblem` where it is not the one that was read, or no file any more."""
        if (contents / state.digest).exists():
            return
        folder, _, name = path.rpartition("/")
        with _opened(self.folder) as top, _below(top, folder) as parent:
            descriptor = _regular(parent, name)
            if descriptor is None:
                raise WorkspaceProblem(f"`{path}` in the workspace changed while it was read")
            with os.fdopen(descriptor, "rb") as file, _on_disk(contents):
                digest, kept = hashlib.sha256(), contents / f".{secrets.token_hex(8)}"
                with kept.open("xb") as out:
                    while piece := file.read(_PIECE):
                        digest.update(piece)
                        out.write(piece)
                kept.rename(contents / digest.hexdigest())
        if digest.hexdigest() != state.digest:
            raise WorkspaceProblem(f"`{path}` in the workspace changed while it was read")

    def stamp(self) -> int:
        """Return a number that changes as soon as a file outside of hidden folders is written, added or removed. Cheap:
        no file is read."""
        with _opened(self.folder) as folder:
            seen = [
                (entry.path, entry.info.st_ino, entry.info.st_size, entry.info.st_mtime_ns)
                for entry, excess in _counted(folder, self.limits)
                if not excess and not stat.S_ISDIR(entry.info.st_mode) and not _is_hidden(entry.path)
            ]
        return hash(frozenset(seen))

    def excess(self) -> str:
        """Return which limit the workspace is over, as a sentence; empty where it is within both."""
        with _opened(self.folder) as folder:
            return next((excess for _, excess in _counted(folder, self.limits) if excess), "")

    async def overflow(self, seconds: float = WATCH_SECONDS) -> str:
        """Return the sentence of `excess` as soon as there is one; look again and again until then."""
        loop = asyncio.get_running_loop()
        while True:
            start = loop.time()
            if excess := await asyncio.to_thread(self.excess):
                return excess
            await asyncio.sleep(max(seconds, 5 * (loop.time() - start)))

    def remove(self) -> None:
        """Delete the folder. Raises `WorkspaceProblem` for what cannot be deleted."""
        remove_folder(self.folder)


def remove_folder(folder: Path) -> None:
    """Delete a folder with everything in it, however deep, read-only or full of links; nothing that a link points at.

    Folders are moved to the top before they are emptied, so no path is longer than two names, nothing recurses, and two
    folders are open at a time. Raises `WorkspaceProblem`; a folder that is not there is none.
    """
    moved = (f".{secrets.token_hex(8)}-{number}" for number in count())
    if not folder.exists() and not folder.is_symlink():
        return
    with _on_disk(folder):
        if not folder.is_symlink():
            folder.chmod(0o700)
        with _opened(folder) as top:
            while names := _names(top):
                for name in names:
                    if not _unlinked(name, top):
                        _flatten(name, top, moved)
        folder.rmdir()


def _names(folder: int) -> list[str]:
    with os.scandir(folder) as entries:
        return [entry.name for entry in entries]


def _unlinked(name: str, folder: int) -> bool:
    """Delete anything but a folder; False for a folder."""
    try:
        os.unlink(name, dir_fd=folder)
    except (IsADirectoryError, PermissionError):
        if not stat.S_ISDIR(os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode):
            raise
        os.chmod(name, 0o700, dir_fd=folder)  # to be opened, emptied and moved
        return False
    return True


def _flatten(name: str, top: int, moved: Iterator[str]) -> None:
    inner = os.open(name, _FOLDER, dir_fd=top)
    try:
        for child in _names(inner):
            if not _unlinked(child, inner):
                os.rename(child, next(moved), src_dir_fd=inner, dst_dir_fd=top)
    finally:
        os.close(inner)
    os.rmdir(name, dir_fd=top)


# Reading a folder that belongs to somebody else.


class _Found(Struct, frozen=True):
    """One name in a folder, which is open as ``parent`` until the next one is asked for. ``problem`` is why what is
    below it was not read."""

    path: str
    parent: int
    info: os.stat_result
    problem: str = ""

    @property
    def name(self) -> str:
        return self.path.rpartition("/")[2]


def _walk(folder: int, above: str = "", depth: int = 1) -> Iterator[_Found]:
    """Yield everything below an open folder; links are not followed. What vanishes meanwhile is passed over."""
    with os.scandir(folder) as entries:
        for entry in entries:
            path = f"{above}{entry.name}"
            try:
                info = entry.stat(follow_symlinks=False)
                if not stat.S_ISDIR(info.st_mode):
                    yield _Found(path, folder, info)
                    continue
                if depth == MOST_DEPTH:
                    yield _Found(path, folder, info, f"more than {MOST_DEPTH} folders deep")
                    continue
                inner = os.open(entry.name, _FOLDER, dir_fd=folder)
            except FileNotFoundError:
                continue
            except OSError as error:
                yield _Found(path, folder, info, f"a folder that cannot be read: {_words(error)}")
                continue
            try:
                yield _Found(path, folder, info)
                yield from _walk(inner, f"{path}/", depth + 1)
            finally:
                os.close(inner)


def _counted(folder: int, limits: WorkspaceLimits) -> Iterator[tuple[_Found, str]]:
    """Yield everything below a folder, each with the sentence of a limit that it is over; that one is the last."""
    size = 0
    for number, entry in enumerate(_walk(folder), 1):
        is_file = stat.S_ISREG(entry.info.st_mode)
        size += max(entry.info.st_size, getattr(entry.info, "st_blocks", 0) * 512) if is_file else 0
        excess = _excess(limits, number, size)
        yield entry, excess
        if excess:
            return


def _excess(limits: WorkspaceLimits, files: int, size: int) -> str:
    if files > limits.files:
        return f"more than {limits.files:,} files and folders"
    return f"more than {limits.size / 2**20:,.0f} MB" if size > limits.size else ""


def _kind(info: os.stat_result) -> str:
    kinds = ((stat.S_ISREG, "a file"), (stat.S_ISDIR, "a folder"), (stat.S_ISLNK, "a link"))
    others = ((stat.S_ISFIFO, "a pipe"), (stat.S_ISSOCK, "a socket"), (stat.S_ISCHR, "a device"))
    return next((name for test, name in (*kinds, *others) if test(info.st_mode)), "a device")


def _read(entry: _Found, contents: Path | None) -> FileState | str:
    """Return the state of a file, or what it is instead."""
    if not stat.S_ISREG(entry.info.st_mode):
        return _kind(entry.info)
    if not _is_text_name(entry.path):
        return "a file whose name is not UTF-8"
    try:
        descriptor = _regular(entry.parent, entry.name)
    except OSError as error:
        return f"a file that cannot be read: {_words(error)}"
    if descriptor is None:
        return "no longer a regular file"
    with os.fdopen(descriptor, "rb") as file:
        digest, size, first = hashlib.sha256(), 0, b""
        while piece := file.read(_PIECE):
            first = first or piece
            digest.update(piece)
            size += len(piece)
    state = FileState(digest.hexdigest(), size)
    if contents is not None and size <= MOST_DIFFED and not (contents / state.digest).exists():
        with _on_disk(contents):
            (contents / state.digest).write_bytes(first)
    return state


def _regular(parent: int, name: str) -> int | None:
    """Open a regular file without following a link or waiting for a pipe; None for anything else."""
    try:
        descriptor = os.open(name, _FILE, dir_fd=parent)
    except FileNotFoundError:
        return None
    except OSError as error:
        if error.errno in (errno.ELOOP, errno.ENXIO):  # became a link, or a socket
            return None
        raise
    if stat.S_ISREG(os.fstat(descriptor).st_mode):
        return descriptor
    os.close(descriptor)
    return None


def _linked_outside(links: Mapping[tuple[int, int], list[tuple[str, int]]]) -> Iterator[str]:
    """Yield files with more names than the workspace has: what they hold may be a file of the user's."""
    for names in links.values():
        if len(names) < names[0][1]:
            yield from (path for path, _ in names)


def _is_text_name(path: str) -> bool:
    try:
        path.encode()
    except UnicodeEncodeError:
        return False
    return True


def _is_hidden(path: str) -> bool:
    """Return whether a path is in a hidden folder of the workspace, in which agents keep their own files."""
    return path.startswith(".") and "/" in path


@contextmanager
def _opened(folder: Path) -> Iterator[int]:
    try:
        descriptor = os.open(folder, _FOLDER)
    except OSError as error:
        raise WorkspaceProblem(f"the folder {folder} cannot be read: {_words(error)}") from None
    try:
        yield descriptor
    finally:
        os.close(descriptor)


@contextmanager
def _below(top: int, path: str) -> Iterator[int]:
    """Open a folder below another one, name by name, so that none of them is a link."""
    current = os.dup(top)
    try:
        for name in filter(None, path.split("/")):
            inner = os.open(name, _FOLDER, dir_fd=current)
            os.close(current)
            current = inner
        yield current
    except OSError as error:
        raise WorkspaceProblem(f"`{path}` in the workspace changed while it was read: {_words(error)}") from None
    finally:
        os.close(current)


@contextmanager
def disk_with_space(folder: Path) -> Iterator[None]:
    """Raise `DiskFull` where a full disk ends the block; other errors pass."""
    try:
        yield
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            raise DiskFull(f"there is no space left on the disk of {folder}") from None
        raise


@contextmanager
def _on_disk(folder: Path) -> Iterator[None]:
    """Turn what a disk refuses into a sentence."""
    try:
        with disk_with_space(folder):
            yield
    except OSError as error:
        raise WorkspaceProblem(f"{folder} cannot be changed: {_words(error)}") from None


def _words(error: OSError) -> str:
    return (error.strerror or str(error)).lower()


def _source(source: Path, most: int) -> tuple[bytes, int]:
    """Return the content of a file of the case, and its mode."""
    try:
        descriptor = os.open(source, _FILE)
        with os.fdopen(descriptor, "rb") as file:
            info = os.fstat(file.fileno())
            if not stat.S_ISREG(info.st_mode):
                raise WorkspaceProblem(f"{source} is {_kind(info)}; only regular files are laid into a workspace")
            content = file.read(most + 1)
    except OSError as error:
        reason = "it is a link" if error.errno == errno.ELOOP else _words(error)
        raise WorkspaceProblem(f"{source} cannot be laid into the workspace: {reason}") from None
    return content, 0o755 if info.st_mode & 0o100 else 0o644


def _safe_parts(path: str) -> tuple[str, ...]:
    """Return the names of a relative path. Raises `WorkspaceProblem` for any other."""
    parts = PurePosixPath(path).parts
    odd = not parts or path.startswith("/") or ".." in parts or "\\" in path or "\0" in path or ":" in parts[0]
    if odd or not _is_text_name(path) or path.endswith("/"):
        raise WorkspaceProblem(f"`{path!a}` is not a path below the workspace: it must be relative, without `..`")
    return parts


# Changes.


def _change(path: str, old: FileState | None, new: FileState, contents: Path) -> FileChange:
    is_text = _text(new, contents) is not None
    diff = _diff(path, old, new, contents)
    return FileChange(path, "added" if old is None else "changed", new.digest, new.size, is_text, diff)


def _diff(path: str, old: FileState | None, new: FileState | None, contents: Path) -> str:
    """Return a unified diff, empty for binary files and where the texts are too long to compare."""
    before, after = _text(old, contents), _text(new, contents)
    if before is None or after is None or any(state and state.size > MOST_DIFFED for state in (old, new)):
        return ""
    sides = (before.splitlines(keepends=True), after.splitlines(keepends=True))
    if all(sides) and sum(map(len, sides)) > MOST_COMPARED_LINES:
        return ""
    named = ("/dev/null" if old is None else f"a/{path}", "/dev/null" if new is None else f"b/{path}")
    lines = difflib.unified_diff(*sides, *named)
    diff = "".join(line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in lines)
    return diff if len(diff) <= MOST_DIFF else f"{diff[:MOST_DIFF]}\n[{len(diff) - MOST_DIFF:,} more characters]\n"


def _text(state: FileState | None, contents: Path) -> str | None:
    """Return the text of a content, of a long one its beginning; None for a binary one, and one that was not copied."""
    if state is None or not state.size:
        return ""
    try:
        with (contents / state.digest).open("rb") as file:
            head = file.read(MOST_DIFFED + 4)
    except FileNotFoundError:
        return None
    try:
        text = codecs.getincrementaldecoder("utf-8")().decode(head, final=len(head) == state.size)
    except UnicodeDecodeError:
        return None
    return None if "\0" in text else text
