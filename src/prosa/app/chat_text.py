"""The end of a chat that is no file: what `prosa.adapters.files.append.Below` is to a file.

In: pieces of text. Out: the chat with them below it, lines ending as its own do. It never fails.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from prosa.adapters.files.append import State


@dataclass(slots=True)
class TextBelow:
    """Pieces below the text ``before``, each ending with a line feed."""

    path: Path
    before: str
    pieces: list[str] = field(default_factory=list)
    lost: bool = False
    state: State = "new"

    @property
    def text(self) -> str:
        """The chat and the pieces."""
        from prosa.dialects.prapti.below import lead, line_end

        if not self.pieces:
            return self.before
        added = lead(self.before) + "".join(self.pieces)
        return self.before + added.replace("\n", line_end(self.before))

    def add(self, *pieces: str) -> None:
        """Puts more below."""
        self.pieces += pieces

    def cut(self, count: int) -> None:
        """Takes everything behind the first ``count`` pieces away."""
        del self.pieces[count:]

    def above(self) -> str:
        """The text above: nobody edits it."""
        return self.before

    def finish(self) -> None:
        """Nothing is left to do."""
