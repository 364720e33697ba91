"""A reply as it arrives, for a person at a terminal: on stderr, where it disturbs no result."""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from typing import TYPE_CHECKING

from prosa.cli.console import Console

if TYPE_CHECKING:
    from prosa.app.chat.writing import Place


def is_live(args: argparse.Namespace, console: Console) -> bool:
    """Whether somebody watches, and nothing else is written there."""
    return console.shows_progress and not args.no_progress and not args.debug and args.events != "jsonl"


@dataclass(slots=True)
class Live:
    """Shows the pieces of replies; of ``several`` each stands below its heading."""

    console: Console
    several: int = 1
    _at: Place | None = None
    _open: bool = False

    def __call__(self, place: Place, text: str | None) -> None:
        """Shows a piece; None says that the reply begins anew."""
        if text is None:
            self.end()
            self.console.note("note: the reply broke off and begins anew")
            return
        if place is not self._at:
            self.end()
            self._at = place
            if self.several > 1:
                self.console.err(f"{place.heading}\n")
        self.console.err(shown(text), end="")
        self._open = not text.endswith("\n")

    def end(self) -> None:
        """Ends a line that is open."""
        if self._open:
            self.console.err("")
            self._open = False


def shown(text: str) -> str:
    """Text without what a terminal would obey, its lines kept."""
    from prosa.render.plain import safe_source

    return "\n".join(map(safe_source, text.replace("\r\n", "\n").split("\n")))
