"""A status line on a terminal: rewritten in place, cleared at the end, absent everywhere else.

In: the current activity, as short texts. Out: at most one line on stderr. Nothing is ever written to stdout, to a
file, in CI or after ``--no-progress``.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from msgspec import Struct

from prosa.cli.console import Console

# Erases from the cursor to the end of the line (ECMA-48 EL); every terminal that is not "dumb" knows it.
_ERASE = "\r\x1b[K"


class Progress(Struct, frozen=True):
    """The receiver of status texts; ``enabled`` is False without a terminal."""

    console: Console
    enabled: bool

    def show(self, text: str) -> None:
        """Replace the status by the first line of ``text``, cut to the width of the terminal."""
        if self.enabled:
            from shutil import get_terminal_size

            first = "".join(c if c.isprintable() else " " for c in text.split("\n", 1)[0])
            self.console.err(_fit(first, get_terminal_size().columns - 1), end="", control=_ERASE)

    def clear(self) -> None:
        """Remove the status, so that other text can follow."""
        if self.enabled:
            self.console.err("", end="", control=_ERASE)


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
