"""The request to give a document another path or id, and the reasons to refuse it.

In: plain values. Out: `Move`, and `MoveRefused` with a sentence and a hint.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property

from msgspec import Struct

MAX_SHOWN = 5
"""References that a refusal names one by one; a common name may have thousands."""


class Move(Struct, frozen=True, dict=True):
    """The document at ``path`` gets ``new_path``, or ``new_id`` in place of ``old_id``; never both at once.

    Paths are relative to the root of the corpus, with `/`. Where an id changes, ``new_path`` is ``path``. ``along`` are
    pairs of paths, before and after, of documents that move with it; ``files`` those of folders and of files that are
    no documents. Where only such move, ``path`` is empty. Where nothing moves and a document gets another ``title``,
    these are the old one and the new one, and both paths are the same.
    """

    path: str
    new_path: str
    old_id: str = ""
    new_id: str = ""
    along: tuple[tuple[str, str], ...] = ()
    files: tuple[tuple[str, str], ...] = ()
    title: tuple[str, str] = ("", "")

    @classmethod
    def of(cls, documents: Mapping[str, str], files: Mapping[str, str]) -> Move:
        """Return the move of several documents, and of folders and other files: the paths after by those before."""
        first, *rest = sorted(documents.items()) or [("", "")]
        return cls(*first, along=tuple(rest), files=tuple(sorted(files.items())))

    @cached_property
    def paths(self) -> Mapping[str, str]:
        """The path after the move of every document that is its subject, by the path before."""
        return {old: new for old, new in ((self.path, self.new_path), *self.along) if old}

    @property
    def changes_id(self) -> bool:
        """Whether an id changes and no path."""
        return bool(self.new_id)

    def path_after(self, path: str) -> str:
        """Return where a document is after the move."""
        return self.paths.get(path, path)

    def file_after(self, path: str) -> str:
        """Return where a file is after the move, be it a document or not; a slash at the end of a folder stays."""
        if (path_after := self.paths.get(path)) is not None:
            return path_after
        for old, new in self.files:
            if path == old or path.startswith(f"{old}/"):
                return new + path[len(old) :]
        return path


class MoveRefused(Exception):
    """A move that would do harm or cannot be expressed. ``message`` stands alone; ``hint`` says what to do."""

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint


class NameRefused(MoveRefused):
    """The new name itself cannot be: it is taken, lies elsewhere, or is no name."""


def listed(places: Sequence[str]) -> str:
    """Return the first of several places, and the number of others."""
    rest = len(places) - MAX_SHOWN
    return ", ".join(places[:MAX_SHOWN]) + (f" and {rest} more" if rest > 0 else "")
