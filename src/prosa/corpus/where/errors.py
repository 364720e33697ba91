"""A condition that cannot be read, as a record that builds its own sentence."""

from __future__ import annotations

from prosa.source import ProsaError

MOST_SHOWN = 60
"""Characters of what was found that are repeated in a message."""


class WhereError(ProsaError):
    """``column`` counts characters of ``text`` from 1. ``found`` and ``expected`` are words for people; ``field`` is
    the name in front of the place, if one was read."""

    def __init__(self, text: str, offset: int, found: str, expected: str, *, field: str = "") -> None:
        self.text = text
        self.column = offset + 1
        self.found = found
        self.expected = expected
        self.field = field
        super().__init__(f"column {self.column}: found {found}, expected {expected}")

    @property
    def excerpt(self) -> str:
        """The part of the condition around the place, with a caret under it: two lines."""
        start = max(self.column - 1 - MOST_SHOWN, 0)
        shown = self.text[start : self.column - 1 + MOST_SHOWN]
        line = "".join(char if char.isprintable() else " " for char in shown)
        return f"{line}\n{' ' * (self.column - 1 - start)}^"


def quoted(text: str) -> str:
    """Return what was found, between backticks and not too long."""
    return f"`{text}`" if len(text) <= MOST_SHOWN else f"`{text[:MOST_SHOWN]}…`"
