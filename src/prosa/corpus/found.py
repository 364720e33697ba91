"""What a look at the files of a corpus gives, and what a refresh of its index has to say. Plain values."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import NamedTuple

from msgspec import Struct

from prosa.dialects.dialect import DialectName
from prosa.source import FileProblem


class Stamp(NamedTuple):
    """What the system says of a file without reading it: bytes, times in nanoseconds, and its number."""

    size: int
    mtime_ns: int
    ctime_ns: int
    inode: int


RACY_NS = 2_000_000_000
"""A file that changed this little before it was looked at may change again without looking different: file systems
count time in steps, the coarsest in two seconds. Such a file is read again the next time."""


def is_sure(stamp: Stamp, old_ns: int) -> bool:
    """Whether a stamp tells every later change of the file: the last one is as old as this, `RACY_NS` before the look.

    Nobody can set the time of the last change of a file but by changing the clock; where the system has none (Windows),
    the time of its content has to do.
    """
    latest = max(stamp.mtime_ns, stamp.ctime_ns) if sys.platform == "win32" else stamp.ctime_ns
    return latest <= old_ns


class Found(NamedTuple):
    """A document. ``path`` is relative to the root of the corpus, with `/`; ``place`` is where it is opened; ``hint``
    is the dialect that the settings of the project give it, or an empty text."""

    path: str
    place: Path
    stamp: Stamp
    hint: DialectName | str = ""


class Scan(Struct, frozen=True):
    """The documents of a corpus as they lie there. ``at_ns`` is the time when the look began; ``problems`` are folders
    that cannot be listed and files that cannot be looked at."""

    documents: tuple[Found, ...]
    at_ns: int
    problems: tuple[FileProblem, ...] = ()


class Refreshed(Struct, frozen=True):
    """What a refresh did. The first four count documents; ``unreadable`` are those that are not in the index, and
    folders that cannot be listed. ``seconds`` is how long it took; ``healed`` says what was wrong with an index that
    was made anew, and is empty where nothing was."""

    added: int = 0
    changed: int = 0
    removed: int = 0
    unchanged: int = 0
    unreadable: tuple[FileProblem, ...] = ()
    seconds: float = 0.0
    healed: str = ""

    @property
    def documents(self) -> int:
        """How many documents are in the index now."""
        return self.added + self.changed + self.unchanged
