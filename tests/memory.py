"""Temporary files of the tests in memory: tens of thousands are made, written to the disk, and deleted.

A file in memory costs a tenth of one on a disk to make and to delete, and nothing to write through. What the person who
runs the tests has chosen stays: `TMPDIR`, or pytest's `--basetemp`.
"""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

SHARED = Path("/dev/shm")
"""Where Linux keeps files in memory."""

NEEDED = 4 * 2**30
"""Bytes that must be free: a session writes less than one of them in four, and deletes it if all its tests pass."""


def in_memory() -> None:
    """Take the memory for temporary files of this process, and of those that it starts, where there is enough."""
    if "TMPDIR" not in os.environ and _has_room(SHARED):
        os.environ["TMPDIR"] = str(SHARED)
        tempfile.tempdir = None  # pytest has asked before, and the answer is kept


def _has_room(folder: Path) -> bool:
    """Return whether there is such a folder for files that are written and executed."""
    if not (folder.is_dir() and os.access(folder, os.W_OK)):
        return False
    state = os.statvfs(folder)
    return not state.f_flag & os.ST_NOEXEC and state.f_bavail * state.f_frsize >= NEEDED
