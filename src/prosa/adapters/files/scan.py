"""A scan of the files of a corpus without reading them: the documents, and their stamps.

In: a folder. Out: `Scan`, by folder: most files are unchanged, and no objects are built for those. Only regular files
inside the root, those of agents' folders included, and none that git ignores (X5).
"""

# Texts, not Paths: thousands of files, one after the other.
# ruff: noqa: PTH116, PTH118, PTH119
from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from prosa.adapters.files.places import is_in_vault
from prosa.adapters.files.walk import Listing, Walk
from prosa.corpus.found import Folders, Scan, SettingsHint, Stamp, Stamps, StampTuple
from prosa.dialects.table import DOCUMENT_SUFFIXES
from prosa.source import FileProblem, Files
from prosa.source.files import Skipped

MAX_DOCUMENTS = 1_000_000
"""Maximum number of documents in one corpus; with more, the folder was probably named by mistake."""


def scan(
    root: Path,
    files: Files,
    hint: Callable[[Path], SettingsHint] | None = None,
    *,
    hints: str = "",
    gitignore: bool = True,
    agents: bool = True,
    skipped: Skipped | None = None,
    suffixes: Sequence[str] = DOCUMENT_SUFFIXES,
    most_folders: int | None = None,
    most: int = MAX_DOCUMENTS,
) -> Scan:
    """Return the documents below ``root``, a real path, optionally only those with some ``suffixes``. ``hint`` returns
    the dialect in the settings for the document at a real path, or an empty text; ``hints`` identifies all its
    results. More folders than ``most_folders`` are reported as a problem; more documents than ``most`` raise
    `FileProblem`."""
    at_ns = time.time_ns()
    problems: list[FileProblem] = []
    stamps: Stamps = {}
    links: list[str] = []
    top, count = os.path.join(root, ""), 0  # a root of the system has its slash already
    vaults = [os.fspath(root)] if is_in_vault(root) else []
    for listing in Walk(suffixes, files, gitignore, most_folders, agents, skipped, vaults).listings(root):
        if isinstance(listing, FileProblem):
            problems.append(listing)
            continue
        folder = _below(top, listing.folder)
        by_name = stamps.setdefault(folder, {})
        count -= len(by_name)
        _look(listing, by_name, problems)
        links += (folder + name for link in listing.links if (name := os.path.basename(link)) in by_name)
        count += len(by_name)
        if count > most:
            raise FileProblem(root, "too-large", f"holds more than {most:,} documents")
    named = (lambda path: hint(files.real(path))) if hint is not None else None
    inside = sorted({_below(top, vault) for vault in vaults})
    settings = f"{hints} {inside}" if inside else hints
    return Scan(Folders(top, stamps, named, inside), at_ns, tuple(problems), settings, tuple(links))


def _below(top: str, folder: str) -> str:
    """Return a folder as the keys of `Stamps` have it."""
    return os.path.join(folder, "")[len(top) :].replace(os.sep, "/")


def _look(listed: Listing, by_name: dict[str, StampTuple], problems: list[FileProblem]) -> None:
    """Add the stamps of the documents of a folder. Windows reports less about an entry than about a file."""
    is_text = _is_text(listed.folder)
    for entry in listed.entries:
        name = entry.name
        if not (is_text and (name.isascii() or _is_text(name))):
            problems.append(_no_text(entry.path))
            continue
        try:
            status = entry.stat() if _TELLS_ALL else os.stat(entry.path)
        except OSError as error:
            problems += _unreadable(entry.path, error)
        else:
            by_name[name] = status.st_size, status.st_mtime_ns, status.st_ctime_ns, status.st_ino
    for link in listed.links:
        stamp = stamp_of(Path(link))
        if isinstance(stamp, FileProblem):
            problems.append(stamp)
        elif stamp is not None:
            by_name[os.path.basename(link)] = stamp


_TELLS_ALL = sys.platform != "win32"


def stamp_of(path: Path) -> Stamp | FileProblem | None:
    """Return the stamp of a file; None for one that has vanished. An invalid name cannot be a key."""
    if not _is_text(os.fspath(path)):
        return _no_text(os.fspath(path))
    try:
        status = os.stat(path)
    except ValueError:
        return None
    except OSError as error:
        return next(iter(_unreadable(os.fspath(path), error)), None)
    return Stamp(status.st_size, status.st_mtime_ns, status.st_ctime_ns, status.st_ino)


def _is_text(name: str) -> bool:
    try:
        name.encode()
    except UnicodeEncodeError:
        return False
    return True


def _no_text(path: str) -> FileProblem:
    return FileProblem(Path(path), "not-utf-8", "has a name that is not UTF-8")


def _unreadable(path: str, error: OSError) -> Iterator[FileProblem]:
    """Yield the problem of a file that cannot be examined; nothing if it has vanished."""
    if not isinstance(error, FileNotFoundError | NotADirectoryError):
        yield FileProblem(Path(path), "unreadable", f"cannot be examined ({error.strerror or error})")
