"""The root of a document: the folder outside of which nothing that it names is opened (X5).

In: a path as the user named it. Out: a folder, always a real path.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from prosa.adapters.files.places import home
from prosa.adapters.files.read import real_path

VAULT_MARK = ".obsidian"
"""The folder that makes the folder around it a vault of Obsidian."""

ROOT_MARKS = ("prosa.toml", VAULT_MARK, ".git")
"""Any of them marks the folder that documents belong to."""


def find_root(path: Path) -> Path:
    """Return the nearest ancestor that holds a mark, else the document's folder, or the folder that is named.

    Ancestors are those of the folder the document is in, links to that folder resolved; a link that *is* the document
    is not followed, so that it cannot choose its own root.
    """
    folder = _folder_of(path)
    return _marked(folder) or folder


def find_program_root(path: Path, environ: Mapping[str, str]) -> Path:
    """Return the root of a program that is run, planned or rendered: the nearest ancestor that holds a mark, else the
    current folder where it holds the program and is neither the home folder nor that of the whole system, else the
    program's folder. Programs that import one another across folders are run from above them."""
    folder = _folder_of(path)
    return _marked(folder) or _here(folder, environ) or folder


def is_marked(folder: Path) -> bool:
    """Return whether something in a folder says that a project begins there."""
    return any(os.path.lexists(folder / mark) for mark in ROOT_MARKS)


def is_project(folder: Path) -> bool:
    """Return whether its owner says that the documents below a folder belong together, which a mere checkout does not
    say."""
    return any(os.path.lexists(folder / mark) for mark in ("prosa.toml", VAULT_MARK))


def is_in_vault(folder: Path) -> bool:
    """Return whether a folder is a vault of Obsidian or lies in one (X45)."""
    return any((each / VAULT_MARK).is_dir() for each in (folder, *folder.parents))


def _folder_of(path: Path) -> Path:
    return real_path(path) if path.is_dir() else real_path(path.parent)


def _marked(folder: Path) -> Path | None:
    return next((each for each in (folder, *folder.parents) if is_marked(each)), None)


def _here(folder: Path, environ: Mapping[str, str]) -> Path | None:
    here = real_path(Path())
    if not folder.is_relative_to(here) or here == here.parent:
        return None
    try:
        return None if here == real_path(home(environ)) else here
    except OSError:
        return here  # a user without a home folder
