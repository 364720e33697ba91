"""The folders of a user (X10, XDG Base Directory 0.8, the conventions of macOS and Windows), and the root of a
document: the folder outside of which nothing that it names is opened (X5).

The environment is passed in and not read from the process. A cache folder is created for its owner alone and refused if
another user could have written to it: loading from it is code execution.
"""

from __future__ import annotations

import os
import stat
import sys
from collections.abc import Mapping
from itertools import chain
from pathlib import Path

from prosa.adapters.files.read import real_path

# Private to the user: caches may hold compiled code and content of documents (X10).
PRIVATE = 0o700


class UnsafePlace(OSError):
    """A private folder that others own or may write to. The message names it and says what to do."""


def config_dir(environ: Mapping[str, str]) -> Path:
    """Return where user settings are read from; it need not exist. ``PROSA_CONFIG_DIR`` overrides it."""
    return _place(environ, "PROSA_CONFIG_DIR", "XDG_CONFIG_HOME", ".config", "APPDATA", "Library/Application Support")


def cache_dir(environ: Mapping[str, str]) -> Path:
    """Return the user's cache folder, created with mode 0700 (X10). ``PROSA_CACHE_DIR`` overrides it.

    Raises `UnsafePlace`, or `OSError` when it cannot be made.
    """
    return private_dir(cache_place(environ))


def cache_place(environ: Mapping[str, str]) -> Path:
    """Return where that folder is, or will be; nothing is made."""
    return _place(environ, "PROSA_CACHE_DIR", "XDG_CACHE_HOME", ".cache", "LOCALAPPDATA", "Library/Caches")


def data_dir(environ: Mapping[str, str]) -> Path:
    """Return the user's data folder, created with mode 0700: its content exists nowhere else (X10). ``PROSA_DATA_DIR``
    overrides it.

    Raises `UnsafePlace`, or `OSError` if it cannot be created.
    """
    return private_dir(data_place(environ), variable="PROSA_DATA_DIR", again=False)


def data_place(environ: Mapping[str, str]) -> Path:
    """Return where the user's data folder is, or would be: nothing is made. Raises `OSError` where there is no home."""
    mac, windows = "Library/Application Support", "LOCALAPPDATA"
    return _place(environ, "PROSA_DATA_DIR", "XDG_DATA_HOME", ".local/share", windows, mac)


def home(environ: Mapping[str, str]) -> Path:
    """Return the user's home: ``HOME`` (``USERPROFILE`` on Windows), otherwise that of the system. Raises `OSError` if
    there is none, and for a relative one, which would be another folder in every folder."""
    named = environ.get("HOME") or (environ.get("USERPROFILE") if sys.platform == "win32" else None)
    try:
        path = Path(named) if named else Path.home()
    except RuntimeError:
        raise OSError("this user has no home folder; set HOME") from None
    if not path.root:
        raise OSError(f"the home folder is a relative path, {str(path)!r}; set HOME to an absolute one")
    return path


def private_dir(path: Path, *, variable: str = "PROSA_CACHE_DIR", again: bool = True) -> Path:
    """Return the folder, created if absent, for its owner alone. ``variable`` names the override, ``again`` is true if
    its content can be recreated. Raises `UnsafePlace` if others own it or may write to it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.mkdir(mode=PRIVATE, exist_ok=True)
    if sys.platform == "win32":
        return path  # rights there are lists, inherited from the profile folder, which is private
    status = path.stat()
    if status.st_uid != os.geteuid():
        remedy = "remove it or " if again else ""
        raise UnsafePlace(f"{path} belongs to another user and is not used; {remedy}set {variable}")
    if status.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
        way = "remove it, it is made anew" if again else f"run: chmod 700 {path}"
        raise UnsafePlace(f"{path} may be written by others and is not used; {way}")
    if stat.S_IMODE(status.st_mode) != PRIVATE:
        path.chmod(PRIVATE)
    return path


def _place(environ: Mapping[str, str], override: str, xdg: str, dot: str, windows: str, mac: str) -> Path:
    """Return the folder by the customs of the system. A relative path in a variable is ignored, as XDG demands."""
    if (named := environ.get(override)) and Path(named).is_absolute():
        return Path(named)
    if (named := environ.get(xdg)) and Path(named).is_absolute():
        return Path(named) / "prosa"
    if sys.platform == "win32" and (named := environ.get(windows)):
        return Path(named) / "prosa"
    return home(environ) / (mac if sys.platform == "darwin" else dot) / "prosa"


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
    name = os.fspath(folder)  # an editor asks at every keystroke, and a `Path` of each mark takes most of the time
    return any(os.path.lexists(f"{name}/{mark}") for mark in ROOT_MARKS)


def is_project(folder: Path) -> bool:
    """Return whether its owner says that the documents below a folder belong together, which a mere checkout does not
    say."""
    return any(os.path.lexists(folder / mark) for mark in ("prosa.toml", VAULT_MARK))


def is_settings_file(path: Path) -> bool:
    """Return whether a path holds the settings of a project. Whatever is called `prosa.toml` does, so that one that
    cannot be read is reported."""
    return path.is_file() or (path.name == ROOT_MARKS[0] and os.path.lexists(path))


def is_in_vault(folder: Path) -> bool:
    """Return whether a folder is a vault of Obsidian or lies in one (X45)."""
    return any((parent / VAULT_MARK).is_dir() for parent in (folder, *folder.parents))


def _folder_of(path: Path) -> Path:
    return real_path(path) if path.is_dir() else real_path(path.parent)


def _marked(folder: Path) -> Path | None:
    return next((path for path in chain((folder,), folder.parents) if is_marked(path)), None)


def _here(folder: Path, environ: Mapping[str, str]) -> Path | None:
    here = real_path(Path())
    if not folder.is_relative_to(here) or here == here.parent:
        return None
    try:
        return None if here == real_path(home(environ)) else here
    except OSError:
        return here  # a user without a home folder
