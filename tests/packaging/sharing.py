"""The rule of Windows that Linux lacks: a file that is open can be neither moved, replaced nor removed."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

CHANGES = ("rename", "replace", "unlink", "remove")


def is_open(path: object, dir_fd: int | None = None) -> bool:
    """Whether this process has the file open; asked of `/proc`, so what a library has open counts too."""
    if dir_fd is not None or isinstance(path, int):
        return False
    name = os.path.realpath(os.path.dirname(os.fspath(path))) + os.sep + os.path.basename(os.fspath(path))
    for each in os.listdir("/proc/self/fd"):
        try:
            if os.readlink(f"/proc/self/fd/{each}") == name:
                return True
        except OSError:
            continue
    return False


def guarded(call: Callable[..., object]) -> Callable[..., object]:
    """A call that fails as Windows fails where one of its paths is open."""

    def checked(*paths: object, **options: object) -> object:
        for path in paths:
            if is_open(path, options.get("dir_fd")):
                raise PermissionError(13, "The process cannot access the file", os.fspath(path))
        return call(*paths, **options)

    return checked


def refuse_open_files() -> None:
    """From now on, for this process."""
    for name in CHANGES:
        setattr(os, name, guarded(getattr(os, name)))


def refusing_open_files(monkeypatch: pytest.MonkeyPatch) -> None:
    """Within a test."""
    for name in CHANGES:
        monkeypatch.setattr(os, name, guarded(getattr(os, name)))


assert Path("/proc/self/fd").is_dir(), "only Linux can play this"
