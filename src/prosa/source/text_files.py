"""One text under its own name, in front of other files: standard input, or a text that has no file at all."""

from __future__ import annotations

from pathlib import Path

from msgspec import Struct

from prosa.source.files import FileProblem, Files
from prosa.source.text import SourceText


class TextFiles(Struct, frozen=True):
    """Meets `Files`: ``source`` under its own path, everything else from ``under``.

    Without ``under`` there is nothing else: every other path lies outside the root, so nothing is opened for it.
    """

    source: SourceText
    under: Files | None = None

    def read(self, path: Path) -> SourceText:
        """Return the text of a document. Raises `FileProblem`."""
        if self._is_source(path):
            return self.source
        if self.under is None:
            raise FileProblem(path, "outside-root", "is not opened for a text that has no file")
        return self.under.read(path)

    def real(self, path: Path) -> Path:
        """Return the path with links and ``..`` resolved; as it is without files."""
        return self.under.real(path) if self.under else path

    def inside_root(self, path: Path) -> bool:
        """Return whether the real path lies inside the root."""
        return self.under.inside_root(path) if self.under else self._is_source(path)

    def exists(self, path: Path) -> bool:
        """Return whether a file or a folder is there, inside the root."""
        return self._is_source(path) or (self.under is not None and self.under.exists(path))

    def digest(self, path: Path, limit: int) -> str:
        """Return the SHA-256 of a file. Raises `FileProblem`."""
        if self.under is None:
            raise FileProblem(path, "outside-root", "is not opened for a text that has no file")
        return self.under.digest(path, limit)

    def _is_source(self, path: Path) -> bool:
        return self.real(path) == self.real(Path(self.source.path))
