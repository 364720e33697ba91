"""New texts over the files they would replace, so that a change can be checked before it is written."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from msgspec import Struct

from prosa.source import FileProblem, Files, SourceText
from prosa.source.files import sha256


class Overlay(Struct, frozen=True):
    """Meets `Files`: ``texts`` by real path, everything else from ``under``. A text of more bytes than ``max_size`` is
    refused, as its file would be."""

    texts: Mapping[Path, str]
    under: Files
    max_size: int | None = None

    def read(self, path: Path) -> SourceText:
        """Return the text of a document. Raises `FileProblem`."""
        text = self.texts.get(self.under.real(path))
        if text is None:
            return self.under.read(path)
        data = text.encode("utf-8", "surrogatepass")
        if self.max_size is not None and len(data) > self.max_size:
            raise FileProblem(path, "too-large", f"is larger than {self.max_size:,} bytes")
        return SourceText(text, str(path), sha256(data).hexdigest())

    def real(self, path: Path) -> Path:
        """Return the path with links and ``..`` resolved."""
        return self.under.real(path)

    def inside_root(self, path: Path) -> bool:
        """Return whether the real path lies inside the root."""
        return self.under.inside_root(path)

    def exists(self, path: Path) -> bool:
        """Return whether a file or a folder is there, inside the root; a new text is, whether or not it is written
        yet."""
        return self.under.real(path) in self.texts or self.under.exists(path)

    def digest(self, path: Path, limit: int) -> str:
        """Return the SHA-256 of a file's raw bytes. Raises `FileProblem`."""
        if self.under.real(path) in self.texts:
            return self.read(path).digest
        return self.under.digest(path, limit)
