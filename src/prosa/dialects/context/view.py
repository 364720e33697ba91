"""What a host reads at a path, as a value: files in its order, with the tokens that they take (X38)."""

from __future__ import annotations

from pathlib import Path

from msgspec import Struct

from prosa.dialects.context.hosts import Host

CHARACTERS = 4
"""Characters of one token, by which tokens are estimated: close enough to compare files and hosts."""


class HostFile(Struct, frozen=True):
    """A file that a host reads. ``loaded`` says when: `start`, `match`, `choice` or `call`; ``text`` is what enters the
    conversation then or, for a choice, what is listed. ``imported_by`` is the file that imports it, ``cut`` is true
    where the host's limit ends the text."""

    path: str
    kind: str
    loaded: str
    text: str
    imported_by: str = ""
    cut: bool = False

    @property
    def tokens(self) -> int:
        """About how many tokens the text takes."""
        return tokens_of(self.text)


class HostView(Struct, frozen=True):
    """``files`` are in the order of the host; ``path`` is where it works, ``root`` the root of the project."""

    host: Host
    root: Path
    path: str
    files: tuple[HostFile, ...]

    @property
    def tokens(self) -> int:
        """About how many tokens are loaded before the first word: instructions, and the list to choose from."""
        return sum(file.tokens for file in self.files if file.loaded in ("start", "choice"))


def tokens_of(text: str) -> int:
    """Return about how many tokens a text takes."""
    return -(-len(text) // CHARACTERS)
