"""Replacing files: whole or not at all, and only when unchanged since they were read.

In: a path, the new text, the digest of the text that was read; or the files of a new folder. Out: the file replaced,
or `FileChanged`, or `OSError`. It never leaves an incomplete file, never uses a path from a document (the caller names
it), and never changes the owner of a file.
"""

from __future__ import annotations

import contextlib
import errno
import os
import re
import stat
import sys
import time
from collections.abc import Iterable, Iterator
from pathlib import Path

from msgspec import Struct

from prosa.adapters.files.lock import BUSY, try_lock
from prosa.adapters.files.read import real_path
from prosa.regex import regex
from prosa.source import FileProblem
from prosa.source.files import MUCH, sha256

_CHUNK = 1024 * 1024
_MAX_NUMBER = 1_000_000


class FileChanged(FileProblem):
    """The file changed since it was read: another process wrote, removed or created it. Nothing was written."""

    def __init__(self, path: Path) -> None:
        super().__init__(path, "changed", "changed since it was read; nothing was written. Run the command again")


def replace_file(
    path: Path, text: str | bytes, *, expect_digest: str | None = None, private: bool = False, durable: bool = True
) -> None:
    """Replace the file by ``text`` (UTF-8, line ends unchanged), or bytes, in one step.

    ``expect_digest`` is the SHA-256 in hex of the bytes that were read; the file must still have it. An empty digest
    requires that there is no file. None writes in any case. A link stays a link: its target is replaced. Mode, owner
    and group stay; a new file follows the umask, or is 0600 with ``private``. A read-only file is refused although its
    folder would allow the replacement. Without ``durable`` a power cut, but no kill, may leave an empty file: only for
    data that can be recreated.

    Raises `FileChanged`, and `OSError` for errors of the system. A process killed in between leaves the old file whole
    and at most a hidden ``.NAME.….prosa.tmp`` beside it, which the next write to the folder removes.
    """
    data = text.encode("utf-8") if isinstance(text, str) else text
    replace_with(path, (data,), expect_digest=expect_digest, private=private, durable=durable)


def replace_with(
    path: Path,
    pieces: Iterable[bytes],
    *,
    expect_digest: str | None = None,
    private: bool = False,
    durable: bool = True,
) -> str:
    """Return the same with content that comes in pieces, and need not fit into memory. Return its SHA-256 in hex."""
    target = real_path(path)
    before = _existing(path, target)
    hasher = sha256(size=MUCH)
    with temporary_beside(target, 0o600 if private or before else 0o666) as temporary:
        with naming(path):
            for piece in pieces:
                hasher.update(piece)
                _write_all(temporary.descriptor, piece)
            if before is not None:
                _keep(temporary.descriptor, before)
            if durable:
                os.fsync(temporary.descriptor)
        if expect_digest is not None and _digest(target) != expect_digest:
            raise FileChanged(path)
        temporary.move_to(target)
    if durable:
        _sync_folder(target.parent)
    return hasher.hexdigest()


@contextlib.contextmanager
def naming(path: Path) -> Iterator[None]:
    """Give an error of an open file, such as one on a full disk, the name of the file."""
    try:
        yield
    except OSError as error:
        if error.filename is not None or error.errno is None:
            raise
        raise OSError(error.errno, error.strerror, str(path)) from error


def write_numbered(parent: Path, stem: str, files: Iterable[tuple[str, bytes]]) -> Path:
    """Return a new folder `STEM-N` with files at paths below it, N being one more than the highest that is there. It
    appears whole or not at all, and none that is there is touched. Raises `OSError`.

    A process killed in between leaves at most a hidden ``.STEM.….prosa.tmp`` beside it.
    """
    with _made(parent, stem, files) as temporary:
        return _numbered(temporary, parent, stem)


def write_folder(target: Path, files: Iterable[tuple[str, bytes]]) -> None:
    """Write a new folder in the same way. Raises `OSError` where something is there."""
    with _made(target.parent, target.name, files) as temporary:
        if os.path.lexists(target):
            raise OSError(errno.EEXIST, "is there already", str(target))
        temporary.rename(target)


@contextlib.contextmanager
def _made(parent: Path, stem: str, files: Iterable[tuple[str, bytes]]) -> Iterator[Path]:
    """Give a hidden folder with these files, which goes unless it is renamed."""
    parent.mkdir(parents=True, exist_ok=True)
    temporary = parent / f".{stem}.{os.urandom(6).hex()}.prosa.tmp"
    temporary.mkdir()
    try:
        for path, content in files:
            target = temporary / path
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(content)
        yield temporary
    finally:
        from shutil import rmtree  # it loads three compressors

        rmtree(temporary, ignore_errors=True)


def _numbered(temporary: Path, parent: Path, stem: str) -> Path:
    """Move a folder to the first free number; another process may take the same at the same time."""
    numbers = [int(path.name.removeprefix(f"{stem}-")) for path in parent.iterdir() if _is_numbered(path.name, stem)]
    for number in range(max(numbers, default=0) + 1, _MAX_NUMBER):
        target = parent / f"{stem}-{number}"
        try:
            if not os.path.lexists(target):
                return temporary.rename(target)
        except OSError as error:
            if error.errno not in (errno.EEXIST, errno.ENOTEMPTY, errno.ENOTDIR):
                raise
    raise OSError(errno.EEXIST, "has no free number", str(parent / stem))


def _is_numbered(name: str, stem: str) -> bool:
    number = name.removeprefix(f"{stem}-")
    return number != name and number.isascii() and number.isdigit() and len(number) < len(str(_MAX_NUMBER))


def file_digest(path: Path) -> str:
    """Return the SHA-256 in hex of the bytes of a file, as `replace_file` expects it; empty where there is none."""
    return _digest(real_path(path))


def write_output(path: Path, text: str) -> None:
    """Write a result where the user wants it: a file is replaced, a device or pipe (`/dev/stdout`) is written to."""
    if path.exists() and not path.is_file() and not path.is_dir():
        with path.open("w", encoding="utf-8", newline="") as stream:
            stream.write(text)
    else:
        replace_file(path, text)


def _existing(path: Path, target: Path) -> os.stat_result | None:
    """Return the present file, None if there is none. Refuses files that cannot be replaced."""
    try:
        status = target.stat()
    except FileNotFoundError:
        return None
    if stat.S_ISDIR(status.st_mode):
        raise IsADirectoryError(errno.EISDIR, "is a folder", str(path))
    if not stat.S_ISREG(status.st_mode):
        raise OSError(errno.EINVAL, "is not a regular file", str(path))
    if not os.access(target, os.W_OK):
        raise PermissionError(errno.EACCES, "is write-protected", str(path))
    return status


def _write_all(descriptor: int, data: bytes) -> None:
    """All bytes: one call may write fewer."""
    view = memoryview(data)
    while view:
        view = view[os.write(descriptor, view) :]


def _keep(descriptor: int, before: os.stat_result) -> None:
    """Return the new file the owner, group and mode of the old one. Raises `OSError` where that is not allowed."""
    if not hasattr(os, "fchown"):
        return
    now = os.fstat(descriptor)
    if (now.st_uid, now.st_gid) != (before.st_uid, before.st_gid):
        os.fchown(descriptor, before.st_uid, before.st_gid)
    os.fchmod(descriptor, stat.S_IMODE(before.st_mode))


def _digest(target: Path) -> str:
    """Return the digest of the bytes that are there now; empty for no file."""
    try:
        with target.open("rb") as stream:
            hasher = sha256(size=os.fstat(stream.fileno()).st_size)
            while chunk := stream.read(_CHUNK):
                hasher.update(chunk)
    except FileNotFoundError:
        return ""
    return hasher.hexdigest()


def _sync_folder(folder: Path) -> None:
    """Make the new name survive a power cut, where the system can do that."""
    with contextlib.suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY | getattr(os, "O_DIRECTORY", 0))
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)
_LOOK = os.O_RDWR | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)

_NAME = regex(r"\..+\.[0-9a-f]{12}\.prosa\.tmp", re.DOTALL)

MAX_SEEN = 10_000
"""Folders that are remembered as swept."""

_seen: dict[Path, int] = {}
"""Swept folders, with the time of their last change as this process left it."""

_TRIES, _TRY_SECONDS = 20, 0.05
"""How often, and how far apart, a file is replaced on Windows while another process has it open."""


class _Temporary(Struct):
    """A new file whose lock is held while it is open. Windows neither moves nor removes a file that is open."""

    descriptor: int
    path: Path
    is_open: bool = True

    def move_to(self, target: Path) -> None:
        """Move it into place. Raises `OSError`."""
        if sys.platform == "win32":
            self.close()
        replace_patiently(self.path, target)

    def remove(self) -> None:
        """Remove it where it was not moved, and release its lock."""
        if sys.platform == "win32":
            self.close()
        with contextlib.suppress(FileNotFoundError):
            self.path.unlink()
        self.close()

    def close(self) -> None:
        """Release its lock. Safe to call twice."""
        if self.is_open:
            self.is_open = False
            os.close(self.descriptor)


def replace_patiently(path: Path, target: Path) -> None:
    """Move a closed file into place. On Windows this waits up to a second for a process that has the target open, a
    virus scanner for example. Raises `OSError`."""
    for left in reversed(range(_TRIES if sys.platform == "win32" else 1)):
        try:
            path.replace(target)
            return
        except PermissionError:
            if not left:
                raise
            time.sleep(_TRY_SECONDS)


@contextlib.contextmanager
def temporary_beside(target: Path, mode: int) -> Iterator[_Temporary]:
    """Return a new file beside the target, removed at the end unless it was moved into place. Sweeps the folder first
    if another process changed it since. Raises `OSError`."""
    if _changed_at(target.parent) != _seen.get(target.parent, -1):
        sweep(target.parent)
    temporary = _held(target, mode)
    try:
        yield temporary
    except OSError as error:
        if error.filename is None and error.errno is not None:
            raise OSError(error.errno, error.strerror, str(target)) from None  # a write does not say where
        raise
    finally:
        temporary.remove()
        if len(_seen) >= MAX_SEEN:
            _seen.clear()
        _seen[target.parent] = _changed_at(target.parent)


def sweep(folder: Path) -> None:
    """Remove the temporary files of processes that were killed. Never raises: what cannot be removed stays."""
    try:
        names = [name for name in os.listdir(folder) if _NAME.fullmatch(name)]  # noqa: PTH208 - names are all it needs
    except OSError:
        return
    for name in names:
        with contextlib.suppress(OSError):
            _remove_dead(folder / name)


def _held(target: Path, mode: int) -> _Temporary:
    """Return a new file whose lock is held. One that another process took for abandoned meanwhile is created again."""
    # 100 of 255 characters leave room for the rest of the name in any encoding.
    name = os.fsencode(target.name)[:100].decode(errors="ignore")
    while True:
        temporary = target.with_name(f".{name}.{os.urandom(6).hex()}.prosa.tmp")
        try:
            descriptor = os.open(temporary, _NEW, mode)
        except OSError as error:
            raise OSError(error.errno, error.strerror, str(target)) from None  # the user knows no temporary file
        if _hold(descriptor):
            return _Temporary(descriptor, temporary)
        os.close(descriptor)


def _hold(descriptor: int) -> bool:
    try:
        try_lock(descriptor)
    except OSError as error:
        return error.errno not in BUSY  # without locks no other process sweeps either
    return os.fstat(descriptor).st_nlink > 0


def _remove_dead(path: Path) -> None:
    """Remove a file of this user that no process holds. Raises `OSError` for one that is held."""
    descriptor = os.open(path, _LOOK)
    try:
        status = os.fstat(descriptor)
        own = not hasattr(os, "geteuid") or status.st_uid == os.geteuid()
        if not stat.S_ISREG(status.st_mode) or not own:
            return
        try_lock(descriptor)
        if sys.platform != "win32" and os.path.samestat(path.lstat(), status):
            path.unlink()
    finally:
        os.close(descriptor)
    if sys.platform == "win32":  # not while it is open; a process that has opened it meanwhile keeps it
        path.unlink()


def _changed_at(folder: Path) -> int:
    try:
        return folder.stat().st_mtime_ns
    except OSError:
        return 0
