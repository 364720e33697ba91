"""Stamps of documents: data of the system that changes with every change of a file (X10).

In: paths. Out: reliable stamps, or None: for a file that changed too recently, for one replaced by an unsaved text, or
on a system without file numbers or times of the last change. Then its content must be read and hashed.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Collection
from pathlib import Path

from msgspec import Struct, field

from prosa.adapters.files.read import RootedFiles
from prosa.corpus.found import RACY_NS, Stamp, StampTuple, is_sure


class FileStamps(Struct, frozen=True):
    """Gives stamps. ``apart`` are the real paths of files that are not what they are on the disk; ``at_ns`` is a time
    before all looks."""

    files: RootedFiles
    apart: Collection[Path] = ()
    at_ns: int = field(default_factory=time.time_ns)

    def __call__(self, path: Path) -> Stamp | None:
        """Return the stamp of a document that can be read."""
        found = self.files.look(path)
        if found is None:
            return None
        if self.apart and self.files.real(path) in self.apart:
            return None
        stamp = Stamp(found.st_size, found.st_mtime_ns, found.st_ctime_ns, found.st_ino)
        return stamp if self.tells(stamp, self.at_ns) else None

    def tells(self, stamp: StampTuple, at_ns: int) -> bool:
        """Return whether a stamp that was taken after this time tells every later change of the file."""
        _, _, ctime_ns, inode = stamp
        return tells_changes(inode, ctime_ns) and is_sure(stamp, at_ns - RACY_NS)


def tells_changes(inode: int, ctime_ns: int) -> bool:
    """Return whether the system knows which file it is, and when it changed last: on Windows that time is when it was
    made."""
    return inode != 0 and ctime_ns != 0 and sys.platform != "win32"
