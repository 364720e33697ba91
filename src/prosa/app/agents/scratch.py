"""Temporary folders of calls that run agents (X36): private, deleted with the call, or by the next one after a kill.

In: a prefix. Out: a folder that this process holds by a lock. Folders whose owner is gone are deleted; those without a
lock file, links, and those of other users are left alone.
"""

from __future__ import annotations

import os
import stat
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from prosa.adapters.agents.workspace import WorkspaceProblem, remove_folder
from prosa.adapters.files.lock import try_lock

LOCK = "owner.lock"
"""The file in a folder that its owner has locked."""

_NEW = "prosa-new-"
_OPEN = os.O_RDWR | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0)


@contextmanager
def scratch_folder(prefix: str) -> Iterator[Path]:
    """Give a new folder, after deleting those of the same prefix whose owners are gone. Raises `OSError` where none can
    be made."""
    if sys.platform == "win32":  # agents do not start there, and a folder with an open file has its name for good
        with tempfile.TemporaryDirectory(prefix=prefix) as temporary:
            yield Path(temporary)
        return
    _sweep(prefix)
    made = Path(tempfile.mkdtemp(prefix=_NEW))
    descriptor = os.open(made / LOCK, _OPEN | os.O_CREAT, 0o600)
    folder = made.with_name(prefix + made.name.removeprefix(_NEW))
    try:
        with suppress(OSError):  # a file system without locks keeps what a killed call leaves
            try_lock(descriptor)
        made.rename(folder)  # named only once it is locked: another call may sweep at this moment
        yield folder
    finally:
        for path in (made, folder):
            _deleted(path)
        os.close(descriptor)


def _sweep(prefix: str) -> None:
    """Delete the folders of this user whose lock nothing holds."""
    for folder in Path(tempfile.gettempdir()).glob(f"{prefix}*"):
        if not _is_own(folder):
            continue
        with suppress(OSError):
            descriptor = os.open(folder / LOCK, _OPEN)
            try:
                try_lock(descriptor)
                _deleted(folder)
            finally:
                os.close(descriptor)


def _is_own(folder: Path) -> bool:
    try:
        info = folder.lstat()
    except OSError:
        return False
    return stat.S_ISDIR(info.st_mode) and (not hasattr(os, "getuid") or info.st_uid == os.getuid())


def _deleted(folder: Path) -> None:
    # What cannot be deleted is left to the owner of the folder above, as after a disk error.
    with suppress(WorkspaceProblem, OSError):
        remove_folder(folder)
