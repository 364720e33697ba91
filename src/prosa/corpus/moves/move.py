"""What is asked for: a document gets another path or another id; and why it cannot have it.

In: nothing but plain values. Out: `Move`, and `MoveRefused` with a sentence and what to do about it.
"""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

MAX_SHOWN = 5
"""References that a refusal names one by one; a common name may have thousands."""


class Move(Struct, frozen=True):
    """The document at ``path`` gets ``new_path``, or ``new_id`` in place of ``old_id``; never both at once.

    Paths are relative to the root of the corpus, with `/`. Where an id changes, ``new_path`` is ``path``.
    """

    path: str
    new_path: str
    old_id: str = ""
    new_id: str = ""

    @property
    def changes_id(self) -> bool:
        """Whether an id changes and no path."""
        return bool(self.new_id)

    def path_after(self, path: str) -> str:
        """Where a document is after the move."""
        return self.new_path if path == self.path else path


class MoveRefused(Exception):
    """A move that would do harm, or that cannot be written down. ``message`` stands alone; ``hint`` says what to do."""

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint


class NameRefused(MoveRefused):
    """The new name itself cannot be: it is taken, lies elsewhere, or is no name."""


def listed(places: Sequence[str]) -> str:
    """The first of several places, and how many more there are."""
    rest = len(places) - MAX_SHOWN
    return ", ".join(places[:MAX_SHOWN]) + (f" and {rest} more" if rest > 0 else "")
