"""When a store changes: asked for as often as its viewers want to know, by one connection that only reads (X37).

In: the place of the store. Out: a mark, another one after every change. A file that was deleted, or replaced by another
one, has changed too.
"""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from prosa.adapters.store.opening import in_words, open_reader
from prosa.runtime.errors import StoreProblem

if TYPE_CHECKING:
    from prosa.adapters.store.database import Database
    from prosa.records.run import StorePlace


class StoreWatch:
    """One watched store. All calls come from the same thread."""

    def __init__(self, place: StorePlace) -> None:
        self._place = place
        self._connection: Database | None = None
        self._file = ""

    def mark(self) -> str:
        """Return a text that is another one once something in the store has changed. Raises `StoreProblem`, and opens
        the store anew the next time."""
        file = _identity(self._place)
        if file != self._file:
            self.close()
            self._file = file
        try:
            if self._connection is None:
                self._connection = open_reader(self._place)
            if self._connection is None:
                return ""
            with in_words(self._place):
                return f"{file} {self._connection.mark()}"
        except StoreProblem:
            self.close()
            raise

    def close(self) -> None:
        """End the connection."""
        if self._connection is not None:
            with suppress(Exception):  # it may be lost already
                self._connection.close()
        self._connection = None


def _identity(place: StorePlace) -> str:
    """Return which file it is; empty for a server, and where there is none."""
    if not isinstance(place, Path):
        return ""
    try:
        status = place.stat()
    except OSError:
        return ""
    return f"{status.st_dev}:{status.st_ino}"
