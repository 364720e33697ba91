"""The documents of a site under file names, so that the rules that read folders read them too. Meets `Files`.

`/` is `index.md`, `/hours` is `hours.md`: the way back of `md_url`. Each document is called by its URL in messages.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from msgspec import Struct

from prosa.source import FileProblem, SourceText

ROOT = Path("/")


def file_of(path: str) -> Path:
    """Return the file name for a decoded URL path."""
    inner = path.replace("\0", "\ufffd").strip("/")
    return ROOT / (f"{inner}/index.md" if path.endswith("/") else f"{inner}.md")


class ProbedFiles(Struct, frozen=True):
    """``texts`` by file; ``there`` are further paths of the site that something was found at, decoded."""

    texts: Mapping[Path, SourceText]
    there: frozenset[str]

    def read(self, path: Path) -> SourceText:
        """Return the document. Raises `FileProblem` for any other file: its content was not kept."""
        if path in self.texts:
            return self.texts[path]
        raise FileProblem(path, "unreadable" if self.exists(path) else "missing", "is no document of the site")

    def real(self, path: Path) -> Path:
        """Return the path itself: there are no links."""
        return path

    def inside_root(self, path: Path) -> bool:
        """Everything on a site is inside it."""
        return path.is_absolute()

    def exists(self, path: Path) -> bool:
        """Return whether something was found there."""
        return path in self.texts or path.as_posix() in self.there

    def digest(self, path: Path, limit: int) -> str:
        """Never known. Raises `FileProblem`."""
        del limit
        raise FileProblem(path, "unreadable", "is no file of this machine")
