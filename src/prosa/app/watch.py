"""Waiting for documents to change. In: folders. Out: the paths that changed, as it happens."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterator
from pathlib import Path

from prosa.adapters.files.watch import HEARTBEAT, NoWatcher, changes
from prosa.dialects.table import DOCUMENT_SUFFIXES, dialect_of_file_name

__all__ = ["NoWatcher", "document_changes"]

QUIET_MILLISECONDS = 50
"""An editor writes a file in several steps; changes this close together are one."""

SETTINGS = ("prosa.toml", "pyproject.toml", ".gitignore")


def document_changes(folders: Collection[Path]) -> Iterator[Collection[str]]:
    """Return the paths of documents, and of what decides about them, as they change below the folders, until Ctrl-C.
    The first answer is empty: the system watches from then on. Raises `NoWatcher`, at once where the library for that
    is not installed."""
    own = {str(folder.absolute()) for folder in folders}

    def begin() -> Iterator[frozenset[str]]:
        return changes(
            folders,
            lambda path: path in own or _matters(path),
            step=QUIET_MILLISECONDS,
            longest=QUIET_MILLISECONDS * 4,
        )

    return _followed(folders, own, begin, begin())


def _followed(
    folders: Collection[Path],
    own: set[str],
    begin: Callable[[], Iterator[frozenset[str]]],
    batches: Iterator[frozenset[str]],
) -> Iterator[Collection[str]]:
    """Yield what one watch after another gives. The system watches a folder and not its name, so a folder that was
    removed or replaced is watched anew as soon as it is there again."""
    while True:
        watched, is_first = _identities(folders), True
        for paths in batches:
            now = _identities(folders)
            again = bool(own & paths) or now != watched
            # What changed with a folder itself is in the first answer of the next watch, unless the folder is gone.
            if is_first or (paths and (not again or None in now)):
                yield paths
            is_first = False
            if again:
                break
        else:
            return
        while None in _identities(folders):
            time.sleep(HEARTBEAT / 1000)
        batches = begin()


def _identities(folders: Collection[Path]) -> list[tuple[int, int] | None]:
    """Return which folders have these names now, with None for one that is not there."""
    return [_identity(folder) for folder in folders]


def _identity(folder: Path) -> tuple[int, int] | None:
    try:
        status = folder.stat()
    except OSError:
        return None
    return status.st_dev, status.st_ino


def _matters(path: str) -> bool:
    name = Path(path).name
    return path.lower().endswith(DOCUMENT_SUFFIXES) or name in SETTINGS or dialect_of_file_name(name) is not None
