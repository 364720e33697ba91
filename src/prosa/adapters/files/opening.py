"""Opening a file below a folder without following links, even if folders change meanwhile (X5).

In: a folder and the parts of a path in it. Out: a descriptor of a regular file, or `OSError`, or `NotRegular`. No name
is checked first and opened later: each folder is opened relative to the one before it. If the system cannot do that,
the opened file is compared with the file at the path without links, before and after.
"""

# Texts, not Paths: thousands of files are opened one after the other.
# ruff: noqa: PTH116, PTH118
from __future__ import annotations

import errno
import os
import stat
from collections.abc import Sequence

READING = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_NOFOLLOW", 0)
READING |= getattr(os, "O_NOCTTY", 0) | getattr(os, "O_BINARY", 0)
"""How a document is opened: it waits for no pipe, follows no link, and takes no terminal."""

_FOLDER = getattr(os, "O_PATH", os.O_RDONLY) | getattr(os, "O_DIRECTORY", 0) | getattr(os, "O_CLOEXEC", 0)
_INNER = _FOLDER | getattr(os, "O_NOFOLLOW", 0)

CHAINED = os.open in os.supports_dir_fd and os.stat in os.supports_dir_fd and hasattr(os, "O_NOFOLLOW")
"""Whether a file can be opened in an open folder."""


class NotRegular(Exception):
    """Something else than a regular file. ``mode`` is its mode as `os.stat` gives it."""

    def __init__(self, mode: int) -> None:
        super().__init__("not a regular file")
        self.mode = mode


def open_below(folder: str, parts: Sequence[str]) -> int:
    """Return a descriptor of the regular file at ``parts`` below a folder, a real path. Raises `OSError`, of ``ELOOP``
    for a file that is a link, and `NotRegular`, before anything else than a file is opened."""
    if not any(parts):
        raise NotRegular(stat.S_IFDIR)
    if any(part in ("", os.curdir, os.pardir) for part in parts):
        raise OSError(errno.ENOENT, os.strerror(errno.ENOENT))
    return _in_chain(folder, parts) if CHAINED else _compared(folder, parts)


def open_real(path: str) -> int:
    """Return a descriptor of the regular file at a real path, whatever folders lead to it. Raises as `open_below`."""
    require_regular(os.stat(path))
    return os.open(path, READING)


def require_regular(found: os.stat_result) -> None:
    """Refuse folders, pipes, sockets and devices. Raises `NotRegular`."""
    if stat.S_ISLNK(found.st_mode):
        raise OSError(errno.ELOOP, os.strerror(errno.ELOOP))
    if not stat.S_ISREG(found.st_mode):
        raise NotRegular(found.st_mode)


def _in_chain(folder: str, parts: Sequence[str]) -> int:
    at = os.open(folder, _FOLDER)
    try:
        for part in parts[:-1]:
            inner = os.open(part, _INNER, dir_fd=at)
            os.close(at)
            at = inner
        require_regular(os.stat(parts[-1], dir_fd=at, follow_symlinks=False))
        return os.open(parts[-1], READING, dir_fd=at)
    finally:
        os.close(at)


def _compared(folder: str, parts: Sequence[str]) -> int:
    before = _without_links(folder, parts)
    require_regular(before)
    descriptor = os.open(os.path.join(folder, *parts), READING)
    try:
        if not _same(os.fstat(descriptor), before) or not _same(before, _without_links(folder, parts)):
            raise OSError(errno.ELOOP, os.strerror(errno.ELOOP))
    except BaseException:
        os.close(descriptor)
        raise
    return descriptor


def _without_links(folder: str, parts: Sequence[str]) -> os.stat_result:
    """Return what lies at a path that no link leads to. Raises `OSError`."""
    for end in range(1, len(parts)):
        inner = os.stat(os.path.join(folder, *parts[:end]), follow_symlinks=False)
        if not stat.S_ISDIR(inner.st_mode):
            raise OSError(errno.ENOTDIR, os.strerror(errno.ENOTDIR))
    return os.stat(os.path.join(folder, *parts), follow_symlinks=False)


def _same(one: os.stat_result, other: os.stat_result) -> bool:
    return (one.st_dev, one.st_ino) == (other.st_dev, other.st_ino)
