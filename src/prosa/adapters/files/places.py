"""The locations of a user's settings, caches and home (X10, XDG Base Directory 0.8, the conventions of macOS and
Windows).

In: an environment, passed in instead of read from the process. Out: folders. A cache folder is created for its owner
alone and refused if another user could have written to it: loading from it is code execution.
"""

from __future__ import annotations

import os
import stat
import sys
from collections.abc import Mapping
from pathlib import Path

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
    there is none."""
    named = environ.get("HOME") or (environ.get("USERPROFILE") if sys.platform == "win32" else None)
    try:
        return Path(named) if named else Path.home()
    except RuntimeError:
        raise OSError("this user has no home folder; set HOME") from None


def private_dir(path: Path, *, variable: str = "PROSA_CACHE_DIR", again: bool = True) -> Path:
    """Return the folder, created if absent, for its owner alone. ``variable`` names the override, ``again`` is true if
    its content can be recreated. Raises `UnsafePlace` if others own it or may write to it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.mkdir(mode=PRIVATE, exist_ok=True)
    if sys.platform == "win32":
        return path  # rights there are lists, inherited from the profile folder, which is private
    found = path.stat()
    if found.st_uid != os.geteuid():
        remedy = "remove it or " if again else ""
        raise UnsafePlace(f"{path} belongs to another user and is not used; {remedy}set {variable}")
    if found.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
        way = "remove it, it is made anew" if again else f"run: chmod 700 {path}"
        raise UnsafePlace(f"{path} may be written by others and is not used; {way}")
    if stat.S_IMODE(found.st_mode) != PRIVATE:
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
