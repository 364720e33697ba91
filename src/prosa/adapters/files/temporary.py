"""Temporary files beside the files that they replace, and the end of those that a killed process left behind.

In: the file to be replaced. Out: an open file with a hidden name in the same folder. Its creator holds its lock while
it is open, so a file with a free lock belongs to a dead process. On file systems without locks, nothing is swept.
"""

from __future__ import annotations

import contextlib
import os
import re
import stat
from collections.abc import Iterator
from pathlib import Path

from prosa.adapters.files.lock import BUSY, try_lock
from prosa.regex import regex

_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)
_LOOK = os.O_RDWR | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)

_NAME = regex(r"\..+\.[0-9a-f]{12}\.prosa\.tmp", re.DOTALL)

MAX_SEEN = 10_000
"""Folders that are remembered as swept."""

_seen: dict[Path, int] = {}
"""Swept folders, with the time of their last change as this process left it."""


@contextlib.contextmanager
def temporary_beside(target: Path, mode: int) -> Iterator[tuple[int, Path]]:
    """Return a new file beside the target, removed at the end unless it was moved into place. Sweeps the folder first
    if another process changed it since. Raises `OSError`."""
    if _changed_at(target.parent) != _seen.get(target.parent, -1):
        sweep(target.parent)
    descriptor, temporary = _held(target, mode)
    try:
        yield descriptor, temporary
    except OSError as error:
        if error.filename is None and error.errno is not None:
            raise OSError(error.errno, error.strerror, str(target)) from None  # a write does not say where
        raise
    finally:
        with contextlib.suppress(FileNotFoundError):
            temporary.unlink()
        os.close(descriptor)
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


def _held(target: Path, mode: int) -> tuple[int, Path]:
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
            return descriptor, temporary
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
        found = os.fstat(descriptor)
        own = not hasattr(os, "geteuid") or found.st_uid == os.geteuid()
        if stat.S_ISREG(found.st_mode) and own:
            try_lock(descriptor)
            if os.path.samestat(path.lstat(), found):
                path.unlink()
    finally:
        os.close(descriptor)


def _changed_at(folder: Path) -> int:
    try:
        return folder.stat().st_mtime_ns
    except OSError:
        return 0
