"""Stamps of documents, and of the code: data of the system that changes with every change of a file (X10).

A document has no reliable stamp if it changed too recently, was replaced by an unsaved text, or lies on a system
without file numbers or times of the last change. Then its content must be read and hashed.
"""

# Texts, not Paths: this runs before every check.
# ruff: noqa: PTH116, PTH118, PTH120

from __future__ import annotations

import os
import sys
import time
from collections.abc import Collection, Iterator
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from zlib import adler32, crc32

from msgspec import Struct, field

import prosa
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
        status = self.files.look(path)
        if status is None:
            return None
        if self.apart and self.files.real(path) in self.apart:
            return None
        stamp = Stamp(status.st_size, status.st_mtime_ns, status.st_ctime_ns, status.st_ino)
        return stamp if self.tells(stamp, self.at_ns) else None

    def tells(self, stamp: StampTuple, at_ns: int) -> bool:
        """Return whether a stamp that was taken after this time tells every later change of the file."""
        _, _, ctime_ns, inode = stamp
        return tells_changes(inode, ctime_ns) and is_sure(stamp, at_ns - RACY_NS)


def tells_changes(inode: int, ctime_ns: int) -> bool:
    """Return whether the system knows which file it is, and when it changed last: on Windows that time is when it was
    made."""
    return inode != 0 and ctime_ns != 0 and sys.platform != "win32"


_FOLDERS = (
    *("adapters/sqlite", "corpus", "data", "diagnostics", "dialects", "document"),
    "evaluation",
    *("graph", "rules", "schema", "source", "template"),
)
_LIBRARIES = ("pyromark", "yaml", "jsonschema_rs")


def code_mark() -> str:
    """Return the version, and a checksum of name, size and time of every file that affects findings, or of the list of
    installed files. Forgery is no concern, so it need not be a cryptographic digest."""
    package = os.path.dirname(prosa.__file__)
    parts = [prosa.__version__, sys.version]
    parts += _installed(package) or [
        stamp for folder in _FOLDERS for stamp in (folder, *_stamps(os.path.join(package, folder)))
    ]
    for name in _LIBRARIES:
        spec = find_spec(name)
        if spec is not None and spec.origin is not None:
            parts.append(_stamp(spec.origin, os.stat(spec.origin)))
    text = "\n".join(parts).encode("utf-8", "surrogateescape")
    return f"{prosa.__version__} {len(text)} {crc32(text):08x}{adler32(text):08x}"


@cache
def running_mark() -> str:
    """Return the mark of the code that this process runs, which is not what is installed while it runs."""
    return code_mark()


def _installed(package: str) -> list[str]:
    """Return the stamp of the list of files that an installer writes beside a package; nothing where there is none, as
    in a checkout, whose files change one by one. To look at every file takes a tenth of a check."""
    record = os.path.join(os.path.dirname(package), f"prosa_core-{prosa.__version__}.dist-info", "RECORD")
    try:
        return [_stamp(record, os.stat(record))]
    except OSError:
        return []


def _stamps(folder: str, above: int | None = None) -> Iterator[str]:
    """Yield the stamps of the modules of a folder. Where the system can, it is opened: a name in an open folder is
    found in half the time of a path."""
    place: int | str = folder
    try:
        if _OPENS_FOLDERS:
            place = os.open(folder, os.O_RDONLY, dir_fd=above)
        for entry in sorted(os.scandir(place), key=lambda entry: entry.name):
            if entry.name.endswith(".py"):
                yield _stamp(entry.name, entry.stat())
            elif not entry.name.startswith(("_", ".")) and entry.is_dir():
                yield entry.name
                yield from _stamps(entry.path, place if isinstance(place, int) else None)
    except OSError:
        return  # it is not there
    finally:
        if isinstance(place, int):
            os.close(place)


_OPENS_FOLDERS = os.scandir in os.supports_fd and os.open in os.supports_dir_fd


def _stamp(name: str, status: os.stat_result) -> str:
    return f"{name}:{status.st_size}:{status.st_mtime_ns}"
