"""The documents in a folder, in a fixed order (X5).

In: a folder and the suffixes that count. Out: paths, sorted by name, each real file once. Hidden folders are skipped
and links to folders are not followed, so a walk ends; a link to a file counts when it stays inside the root.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path

from prosa.source import FileProblem, Files

MAX_FOLDER_DEPTH = 64
"""Folders inside one another; deeper trees are made, not written."""


def documents_in(paths: Sequence[Path], suffixes: Sequence[str], files: Files) -> list[Path]:
    """The files named and the documents of the folders named, each once; a folder that cannot be listed as its path,
    so that reading it says why."""
    found: dict[Path, None] = {}
    for path in paths:
        inside = walk_documents(path, suffixes, files) if path.is_dir() else (path,)
        found |= dict.fromkeys(each.path if isinstance(each, FileProblem) else each for each in inside)
    return list(found)


def walk_documents(folder: Path, suffixes: Sequence[str], files: Files) -> Iterator[Path | FileProblem]:
    """Every document under ``folder``; a folder that cannot be listed is a `FileProblem` in its place."""
    seen: set[Path] = set()
    waiting: list[tuple[Path, int]] = [(folder, 0)]
    while waiting:
        path, depth = waiting.pop()
        try:
            entries = sorted(os.scandir(path), key=lambda entry: entry.name)
        except OSError as error:
            yield FileProblem(path, "unreadable", f"the folder cannot be listed ({error.strerror})")
            continue
        folders = [Path(entry.path) for entry in entries if _is_visible_folder(entry)]
        if depth < MAX_FOLDER_DEPTH:
            waiting += [(each, depth + 1) for each in reversed(folders)]
        for entry in entries:
            if _is_document(entry, tuple(suffixes)) and files.inside_root(Path(entry.path)):
                real = files.real(Path(entry.path))
                if real not in seen:
                    seen.add(real)
                    yield Path(entry.path)


def _is_visible_folder(entry: os.DirEntry[str]) -> bool:
    try:
        return not entry.name.startswith(".") and entry.is_dir(follow_symlinks=False)
    except OSError:
        return False


def _is_document(entry: os.DirEntry[str], suffixes: tuple[str, ...]) -> bool:
    try:
        return entry.name.lower().endswith(suffixes) and not entry.name.startswith(".") and entry.is_file()
    except OSError:
        return False
