"""Places in documents and changes of them, as every answer to an editor names them: real paths and characters."""

from __future__ import annotations

from pathlib import Path

from msgspec import Struct


class Place(Struct, frozen=True, order=True):
    """The characters from ``start`` up to, not including, ``end`` of the document at a real path. Offsets count code
    points in the text of the workspace."""

    path: Path
    start: int
    end: int


class Edit(Struct, frozen=True, order=True):
    """Put ``text`` in place of the characters from ``start`` to ``end`` of the document at a real path."""

    path: Path
    start: int
    end: int
    text: str
