"""The location of the index of a corpus: one file for each root and version, for its owner alone (X10).

In: the private folder of indexes and the root of a corpus. Out: a path, and a file there that no other user could have
written. The content is not checked here.
"""

# Texts, not Paths: `os` says what a link is, and what its owner is.
# ruff: noqa: PTH108
from __future__ import annotations

import contextlib
import os
import stat
import sys
from hashlib import sha256
from pathlib import Path

from prosa.adapters.sqlite.schema import SCHEMA_VERSION
from prosa.corpus.errors import IndexProblem

PRIVATE = 0o600

COMPANIONS = ("", "-wal", "-shm", "-journal")
"""What stands behind the name of each file that SQLite keeps for one database."""

UNFINISHED = ".new"
"""Suffix of an index that is being built."""


def index_path(folder: Path, root: Path) -> Path:
    """Return the file of the corpus at ``root``, a real path. ``folder`` is private."""
    name = sha256(os.fsencode(root)).hexdigest()[:32]
    return folder / f"{name}-v{SCHEMA_VERSION}.sqlite"


def make_private(path: Path) -> None:
    """Make the file if it is absent, and refuse one that another user owns or may write to. Raises `IndexProblem`."""
    try:
        with contextlib.suppress(FileExistsError):
            flags = os.O_CREAT | os.O_EXCL | os.O_RDWR | getattr(os, "O_NOFOLLOW", 0)
            os.close(os.open(path, flags, PRIVATE))
        found = path.lstat()
    except OSError as error:
        raise IndexProblem(
            f"the index {path} cannot be made: {error.strerror or error}", hint="PROSA_CACHE_DIR names another place"
        ) from None
    if not stat.S_ISREG(found.st_mode):
        raise IndexProblem(f"the index {path} is not a regular file and is not used", hint="remove it")
    if sys.platform == "win32":
        return  # rights there are lists, inherited from the profile folder, which is private
    if found.st_uid != os.geteuid():
        raise IndexProblem(f"the index {path} belongs to another user and is not used", hint="remove it")
    if found.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
        raise IndexProblem(f"the index {path} may be written by others and is not used", hint="remove it")
    if stat.S_IMODE(found.st_mode) != PRIVATE:
        path.chmod(PRIVATE)


def inode_of(path: Path) -> int:
    """Return the number of the file that lies there now, 0 for none."""
    try:
        return path.lstat().st_ino
    except OSError:
        return 0


def remove(path: Path) -> None:
    """Remove an index with everything that SQLite keeps beside it."""
    for each in COMPANIONS:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(f"{path}{each}")


def remove_older(path: Path) -> None:
    """Remove indexes of the same corpus that older versions left behind."""
    corpus, _, version = path.stem.rpartition("-v")
    for number in range(1, int(version)):
        older = path.with_name(f"{corpus}-v{number}{path.suffix}")
        with contextlib.suppress(OSError):
            remove(older)
            remove_unfinished(older)


def remove_unfinished(path: Path) -> None:
    """Remove the remains of an index whose build was killed."""
    for each in path.parent.glob(f"{path.name}.*{UNFINISHED}"):
        with contextlib.suppress(OSError):
            remove(each)
