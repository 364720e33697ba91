"""The temporary folder of one run: measured while a hostile program fills it, and removed whatever it holds.

Nothing here follows a symbolic link, and nothing recurses: a program can nest folders deeper than Python's stack.
"""

from __future__ import annotations

import os
import stat
from contextlib import suppress
from pathlib import Path

from prosa.adapters.sandbox.limits import MAX_OPEN_FILES, MAX_TEMP_BYTES, MAX_TEMP_ENTRIES, megabytes

_BLOCK = 512
"""Bytes per unit of ``st_blocks``, whatever the file system's own block size is."""


def over_quota(folder: str) -> str | None:
    """Say which limit the folder breaks, or None. Stops counting at the limits."""
    size, entries, waiting = _unlinked_bytes(), 0, [folder]
    while waiting:
        path = waiting.pop()
        try:
            with os.scandir(path) as listing:
                for entry in listing:
                    entries += 1
                    size += _size(entry)
                    if entry.is_dir(follow_symlinks=False):
                        waiting.append(entry.path)
                    if entries > MAX_TEMP_ENTRIES:
                        return f"temporary folder limit of {MAX_TEMP_ENTRIES} files reached"
        except FileNotFoundError:
            continue  # the program removed it meanwhile
        except OSError:
            return "temporary folder nested too deep"
    if size > MAX_TEMP_BYTES:
        return f"temporary folder limit of {megabytes(MAX_TEMP_BYTES)} reached"
    return None


def _size(entry: os.DirEntry[str]) -> int:
    try:
        return entry.stat(follow_symlinks=False).st_blocks * _BLOCK
    except OSError:
        return 0


def _unlinked_bytes() -> int:
    """Return what this process's open files hold that no folder lists any more."""
    size = 0
    for descriptor in range(MAX_OPEN_FILES):
        with suppress(OSError):
            state = os.fstat(descriptor)
            if stat.S_ISREG(state.st_mode) and state.st_nlink == 0:
                size += state.st_blocks * _BLOCK
    return size


def remove(folder: str) -> None:
    """Remove the folder and everything in it; what cannot be removed stays without an error.

    Folders inside folders are first moved up to the top, one level at a time. So no path grows long, and the work is
    linear in the number of entries. No other process may change the folder meanwhile.
    """
    with suppress(OSError):
        Path(folder).rmdir()
        return
    try:
        top = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    except OSError:
        return
    try:
        _empty(top)
    finally:
        os.close(top)
    with suppress(OSError):
        Path(folder).rmdir()


def _empty(top: int) -> None:
    moved = 0
    waiting = _split(top)
    while waiting:
        name = waiting.pop()
        with suppress(OSError):
            os.chmod(name, 0o700, dir_fd=top)
            inner = os.open(name, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW, dir_fd=top)
            try:
                for child in _split(inner):
                    moved += 1
                    target = f".moved-{moved}-{os.urandom(8).hex()}"
                    os.rename(child, target, src_dir_fd=inner, dst_dir_fd=top)
                    waiting.append(target)
            finally:
                os.close(inner)
            os.rmdir(name, dir_fd=top)


def _split(directory: int) -> list[str]:
    """Unlinks every file and link of an open directory; returns the names of its folders."""
    folders = []
    with os.scandir(directory) as listing:
        entries = list(listing)
    for entry in entries:
        if entry.is_dir(follow_symlinks=False):
            folders.append(entry.name)
        else:
            with suppress(OSError):
                os.unlink(entry.name, dir_fd=directory)
    return folders
