"""One at a time: a lock on a file by its real path, held by a process and gone with it, however it ends.

In: the path, and a private folder for locks. The lock is a file of its own, because an editor may replace the file that
is locked. Where no lock can be made there is none: it guards against mistakes, not against enemies.
"""

from __future__ import annotations

import contextlib
import errno
import os
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

from prosa.adapters.files.places import cache_dir
from prosa.adapters.files.read import real_path
from prosa.source.files import sha256

FOLDER = "locks"

BUSY = (errno.EACCES, errno.EAGAIN, errno.EDEADLK)
"""The errors of the system for a lock held by another process."""

_OPEN = os.O_RDWR | os.O_CREAT | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_NOFOLLOW", 0)


class Locked(Exception):
    """Another process holds the lock."""

    def __init__(self, path: Path) -> None:
        super().__init__(f"{path}: another process is at work on it")
        self.path = path


@contextlib.contextmanager
def only_one(path: Path, folder: Path) -> Iterator[None]:
    """Hold the lock of ``path`` for the length of a block; ``folder`` is private (`places.cache_dir`). Raises `Locked`
    at once where another process holds it."""
    name = sha256(os.fsencode(real_path(path))).hexdigest()
    file = folder / FOLDER / f"{name}.lock"
    descriptor: int | None = None
    try:
        file.parent.mkdir(mode=0o700, exist_ok=True)
        descriptor = _locked(file)
    except OSError as error:
        if error.errno in BUSY:
            raise Locked(path) from None
    try:
        yield
    finally:
        if descriptor is not None:
            _release(file, descriptor)


def lock_of(path: Path, environ: Mapping[str, str]) -> contextlib.AbstractContextManager[None]:
    """Return the lock of ``path`` in the user's cache folder; none where this user has no safe place for it. Entering
    it raises `Locked`."""
    try:
        return only_one(path, cache_dir(environ))
    except OSError:
        return contextlib.nullcontext()


def _locked(file: Path) -> int:
    """Return the open lock. Raises `OSError`, of the busy kind where another process holds it."""
    while True:
        descriptor = os.open(file, _OPEN, 0o600)
        try:
            try_lock(descriptor)
            if _is_same(file, descriptor):
                return descriptor
        except OSError:
            os.close(descriptor)
            raise
        os.close(descriptor)


def _release(file: Path, descriptor: int) -> None:
    """Remove the lock while it is held: a process that opened it meanwhile sees that, and creates a new one. Windows
    removes no open file, so it is closed first there, and stays where another process has opened it."""
    if sys.platform == "win32":
        os.close(descriptor)
    with contextlib.suppress(OSError):
        file.unlink()
    if sys.platform != "win32":
        os.close(descriptor)


def try_lock(descriptor: int) -> None:
    """Lock an open file until it is closed. Raises `OSError`, one of `BUSY` if another process holds the lock."""
    if sys.platform == "win32":
        import msvcrt

        msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
    else:
        import fcntl

        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)


def _is_same(file: Path, descriptor: int) -> bool:
    """Return whether the file is still the one that was opened."""
    try:
        return os.path.samestat(file.stat(), os.fstat(descriptor))
    except FileNotFoundError:
        return False
