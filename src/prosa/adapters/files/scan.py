"""A look at the files of a corpus without reading them: which documents there are, and what the system says of each.

In: a folder. Out: `Scan`. Only regular files inside the root, those of agents' folders included, and none that git
ignores (X5).
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Sequence
from itertools import islice
from pathlib import Path

from prosa.adapters.files.read import RootedFiles
from prosa.adapters.files.walk import Walk
from prosa.corpus.found import Found, Scan, Stamp
from prosa.dialects.table import DOCUMENT_SUFFIXES
from prosa.source import FileProblem
from prosa.source.files import Skipped

MAX_DOCUMENTS = 1_000_000
"""Documents of one corpus; whoever has more did not mean this folder."""


def scan(
    root: Path,
    files: RootedFiles,
    hint: Callable[[Path], str] | None = None,
    *,
    gitignore: bool = True,
    agents: bool = True,
    skipped: Skipped | None = None,
    suffixes: Sequence[str] = DOCUMENT_SUFFIXES,
) -> Scan:
    """The documents below ``root``, a real path, or those with some ``suffixes`` alone. ``hint`` gives the dialect that
    settings give the document at a real path, or an empty text. Raises `FileProblem` where there are too many."""
    at_ns = time.time_ns()
    problems: list[FileProblem] = []
    found: list[Found] = []
    walk = Walk(suffixes, files, gitignore, None, agents, skipped)
    below = len(os.path.join(root, ""))  # noqa: PTH118 - with the slash, which a root of the system has already
    for each in islice(walk.documents(root), MAX_DOCUMENTS + 1):
        if isinstance(each, FileProblem):
            problems.append(each)
        elif isinstance(stamp := stamp_of(each), FileProblem):
            problems.append(stamp)
        elif stamp is not None:
            path = os.fspath(each)[below:].replace(os.sep, "/")
            found.append(Found(path, each, stamp, hint(files.real(each)) if hint else ""))
    if len(found) > MAX_DOCUMENTS:
        raise FileProblem(root, "too-large", f"holds more than {MAX_DOCUMENTS:,} documents")
    return Scan(tuple(found), at_ns, tuple(problems))


def stamp_of(path: Path) -> Stamp | FileProblem | None:
    """What the system says of a file; None for one that has vanished. A name that is no text can be no key."""
    try:
        os.fspath(path).encode()
    except UnicodeEncodeError:
        return FileProblem(path, "not-utf-8", "has a name that is not UTF-8")
    try:
        found = os.stat(path)  # noqa: PTH116 - thousands of files, one after the other
    except (FileNotFoundError, NotADirectoryError, ValueError):
        return None
    except OSError as error:
        return FileProblem(path, "unreadable", f"cannot be looked at ({error.strerror or error})")
    return Stamp(found.st_size, found.st_mtime_ns, found.st_ctime_ns, found.st_ino)
