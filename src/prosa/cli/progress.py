"""A status line on a terminal: rewritten in place, cleared at the end, absent everywhere else.

In: what is going on, as short texts. Out: at most one line on stderr, with the seconds for which nothing else came.
Nothing is ever written to stdout, to a file, in CI or after ``--no-progress``.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

from msgspec import Struct

from prosa.cli.console import Console

if TYPE_CHECKING:
    from asyncio import TimerHandle

TICK = 1.0
"""Seconds after which a status that still holds is shown again."""

# Erases from the cursor to the end of the line (ECMA-48 EL); every terminal that is not "dumb" knows it.
_ERASE = "\r\x1b[K"


class Progress(Struct):
    """The receiver of status texts; ``enabled`` is False without a terminal. A status counts the seconds for which
    asynchronous work is awaited."""

    console: Console
    enabled: bool
    _timer: TimerHandle | None = None

    def show(self, text: str) -> None:
        """Replace the status by the first line of ``text``, cut to the width of the terminal."""
        if self.enabled:
            self._stop()
            self._tick("".join(c if c.isprintable() else " " for c in text.split("\n", 1)[0]), 0)

    def clear(self) -> None:
        """Remove the status, so that other text can follow."""
        if self.enabled:
            self._stop()
            self.console.err("", end="", control=_ERASE)

    def _tick(self, line: str, ticks: int) -> None:
        from shutil import get_terminal_size

        waited = f" · {ticks} s" if ticks else ""
        shown = _fit(line, get_terminal_size().columns - 1 - len(waited))
        self.console.err(f"{shown}{waited}", end="", control=_ERASE)
        if "asyncio" in sys.modules:
            from asyncio import get_running_loop

            with suppress(RuntimeError):  # nothing is awaited
                self._timer = get_running_loop().call_later(TICK, self._tick, line, ticks + 1)

    def _stop(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None


@contextmanager
def progress(console: Console, *, wanted: bool = True) -> Iterator[Progress]:
    """Return a status line for the length of a block, cleared however the block ends."""
    line = Progress(console, wanted and console.shows_progress)
    try:
        yield line
    finally:
        line.clear()


def _fit(text: str, width: int) -> str:
    """Return the text cut to ``width`` characters, with an ellipsis where something is missing."""
    return text if len(text) <= width else text[: max(width - 1, 0)] + "…"
