"""Which process has a run: a locked file for each process that writes the store, gone with it, however it ends (X25).

In: the path of a store and the name that a process gave itself. Out: whether that process is still there. A number of a
process would not do: it is given again, and each container has its own.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING

from prosa.adapters.store.opening import server_adapter
from prosa.records.run import StorePlace, StoreServer

if TYPE_CHECKING:
    from prosa.adapters.store.database import Database

_PRIVATE_FOLDER, _PRIVATE_FILE = 0o700, 0o600
_OPEN = os.O_RDWR | os.O_CREAT | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_NOFOLLOW", 0)


class Holder:
    """This process, as long as it writes the store. Raises `OSError` where its file cannot be made."""

    def __init__(self, store: Path) -> None:
        self.name = os.urandom(8).hex()
        folder = _folder(store)
        folder.mkdir(mode=_PRIVATE_FOLDER, exist_ok=True)
        self._file = folder / self.name
        self._descriptor = os.open(self._file, _OPEN, _PRIVATE_FILE)
        _lock(self._descriptor)

    def release(self) -> None:
        """Remove the file and release its lock."""
        with suppress(OSError):
            self._file.unlink()
        os.close(self._descriptor)


class ServerHolder:
    """This process, as long as its connection to a server lives."""

    def __init__(self, database: Database) -> None:
        self.name = os.urandom(8).hex()
        database.hold(self.name)

    def release(self) -> None:
        """Do nothing: the server releases the lock when the connection closes."""


def holder_of(place: StorePlace, database: Database) -> Holder | ServerHolder:
    """Register this process as a writer of the store. Raises `OSError`."""
    return ServerHolder(database) if isinstance(place, StoreServer) else Holder(place)


def is_alive(store: StorePlace, name: str) -> bool:
    """Return whether the process that gave itself this name still writes the store. Raises `StoreProblem`."""
    return living(store)(name)


def living(store: StorePlace) -> Callable[[str], bool]:
    """Return which processes still write the store, by their names; a server is asked once. Raises `StoreProblem`."""
    return server_adapter().living_names(store) if isinstance(store, StoreServer) else partial(_holds_file, store)


def _holds_file(store: Path, name: str) -> bool:
    if not name:
        return False
    try:
        descriptor = os.open(_folder(store) / name, os.O_RDWR)
    except OSError:
        return False
    try:
        _lock(descriptor)
    except OSError:
        return True
    finally:
        os.close(descriptor)
    return False


def clear_dead(store: StorePlace) -> None:
    """Remove what processes left behind that were killed."""
    if isinstance(store, StoreServer):
        return
    for name in _names(store):
        if not is_alive(store, name):
            with suppress(OSError):
                (_folder(store) / name).unlink()


@cache
def host_name() -> str:
    """Return the name of this machine."""
    return os.uname().nodename if hasattr(os, "uname") else os.environ.get("COMPUTERNAME", "")


def _names(store: Path) -> Iterator[str]:
    try:
        yield from (each.name for each in _folder(store).iterdir())
    except OSError:
        return


def _folder(store: Path) -> Path:
    return store.with_name(f"{store.name}.live")


def _lock(descriptor: int) -> None:
    """Lock an open file until it is closed. Raises `OSError` where another one has it."""
    if sys.platform == "win32":
        import msvcrt

        msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
    else:
        import fcntl

        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
