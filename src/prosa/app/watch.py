"""Waiting for documents to change. In: folders. Out: the paths that changed, as it happens."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from pathlib import Path

from prosa.adapters.files.watch import NoWatcher, changes
from prosa.dialects.table import DOCUMENT_SUFFIXES, dialect_of_file_name

__all__ = ["NoWatcher", "document_changes"]

QUIET_MILLISECONDS = 50
"""An editor writes a file in several steps; changes this close together are one."""

SETTINGS = ("prosa.toml", "pyproject.toml", ".gitignore")


def document_changes(folders: Collection[Path]) -> Iterator[frozenset[str]]:
    """Return the paths of documents, and of what decides about them, as they change below the folders, until Ctrl-C.
    Raises `NoWatcher`, at once where the library for that is not installed."""
    found = changes(folders, _matters, step=QUIET_MILLISECONDS, longest=QUIET_MILLISECONDS * 4)
    return (each for each in found if each)


def _matters(path: str) -> bool:
    name = Path(path).name
    return path.lower().endswith(DOCUMENT_SUFFIXES) or name in SETTINGS or dialect_of_file_name(name) is not None
