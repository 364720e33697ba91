"""The view of a document for a handler: the workspace, the text, and places in the terms of the protocol.

In: an open workspace and a path, in the worker thread. Out: offsets for the client's positions, and ranges, locations
and edits for the answers of `app.editor`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

from lsprotocol import types
from msgspec import Struct

from prosa.app.check.workspace import Workspace
from prosa.app.editor.place import Edit, Place
from prosa.lsp.positions import Encoding, offset_at, range_of
from prosa.source import LineIndex


class View(Struct, frozen=True):
    """A document at a real path. ``uris`` returns the URI of any document in the client's spelling, ``versions`` the
    version of open ones; ``versioned`` is true if the client accepts edits with them; ``documentation`` is the address
    of the pages of rules, empty if unknown."""

    workspace: Workspace
    path: Path
    encoding: Encoding
    uris: Callable[[Path], str]
    versions: Mapping[Path, int]
    versioned: bool = True
    documentation: str = ""

    def lines(self, path: Path | None = None) -> LineIndex:
        """Return the text of a document by lines, of this one without a path; empty where it cannot be read."""
        source = self.workspace.source(path or self.path)
        return source.lines if source is not None else LineIndex("")

    def offset(self, position: types.Position) -> int:
        """Return the character at a position."""
        return offset_at(self.lines(), position, self.encoding)

    def range(self, start: int, end: int, path: Path | None = None) -> types.Range:
        """Return the range of characters, in this document or in another one."""
        return range_of(self.lines(path), start, end, self.encoding)

    def location(self, place: Place) -> types.Location:
        """Return a place as the protocol names it."""
        return types.Location(self.uris(place.path), self.range(place.start, place.end, place.path))

    def text_edit(self, edit: Edit) -> types.TextEdit:
        """Return one change of a document."""
        return types.TextEdit(self.range(edit.start, edit.end, edit.path), edit.text)

    def workspace_edit(self, edits: Iterable[Edit]) -> types.WorkspaceEdit:
        """Change of any documents, for the versions that they were made for."""
        by_path: dict[Path, list[types.TextEdit]] = {}
        for each in edits:
            by_path.setdefault(each.path, []).append(self.text_edit(each))
        if not self.versioned:
            return types.WorkspaceEdit({self.uris(path): found for path, found in by_path.items()})
        return types.WorkspaceEdit(
            document_changes=[
                types.TextDocumentEdit(
                    types.OptionalVersionedTextDocumentIdentifier(self.uris(path), self.versions.get(path)), found
                )
                for path, found in by_path.items()
            ]
        )
