"""The temporary folder of one run: measured while a hostile program fills it, and removed whatever it holds.

Nothing here follows a symbolic link, and nothing recurses: a program can nest folders deeper than Python's stack.
"""

from __future__ import annotations

import os
import stat
import sys
from contextlib import suppress
from pathlib import Path

from prosa.adapters.sandbox.limits import MAX_OPEN_FILES, MAX_TEMP_BYTES, MAX_TEMP_ENTRIES, megabytes

_BLOCK = 512
"""Bytes per unit of ``st_blocks``, whatever the file system's own block size is."""

_LONG = "\\\\?\\"
"""In front of a path of Windows that may have more than 260 characters."""


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
        return _taken(entry.stat(follow_symlinks=False))
    except OSError:
        return 0


def _taken(state: os.stat_result) -> int:
    """Return the bytes that a file takes; Windows says only how long it is."""
    return state.st_size if sys.platform == "win32" else state.st_blocks * _BLOCK


def _unlinked_bytes() -> int:
    """Return what this process's open files hold that no folder lists any more."""
    size = 0
    for descriptor in range(MAX_OPEN_FILES):
        with suppress(OSError):
            state = os.fstat(descriptor)
            if stat.S_ISREG(state.st_mode) and state.st_nlink == 0:
                size += _taken(state)
    return size


def remove(folder: str) -> None:
    """Remove the folder and everything in it; what cannot be removed stays without an error.

    Folders inside folders are first moved up to the top, one level at a time. So no path grows long, and the work is
    linear in the number of entries. No other process may change the folder meanwhile.
    """
    with suppress(OSError):
        Path(folder).rmdir()
        return
    if sys.platform == "win32":
        _remove_by_paths(folder)
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


def _remove_by_paths(folder: str) -> None:
    """Remove a folder of Windows, whose folders cannot be held open: by long paths, and without entering a link."""
    paths = [f"{_LONG}{Path(folder)}"]
    for path in paths:
        with suppress(OSError), os.scandir(path) as listing:
            for entry in listing:
                if entry.is_dir(follow_symlinks=False) and not _is_link(entry):
                    paths.append(entry.path)
                    continue
                with suppress(OSError):
                    (os.rmdir if entry.is_dir(follow_symlinks=False) else os.unlink)(entry.path)
    for path in reversed(paths):
        with suppress(OSError):
            Path(path).rmdir()


def _is_link(entry: os.DirEntry[str]) -> bool:
    """Return whether a folder leads elsewhere: a junction is one, and no symbolic link to Python."""
    attributes = getattr(entry.stat(follow_symlinks=False), "st_file_attributes", 0)
    return bool(attributes & stat.FILE_ATTRIBUTE_REPARSE_POINT)


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
