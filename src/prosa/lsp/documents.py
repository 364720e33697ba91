"""The documents that are open in the editor, updated with every notification, and the view of one for a handler.

Line ends are those of X2, which the protocol shares; half a surrogate pair, which no file can hold, is replaced.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path, PurePosixPath
from types import MappingProxyType
from urllib.parse import unquote, urlsplit

from lsprotocol import types
from msgspec import Struct

from prosa.app.check.workspace import Workspace
from prosa.app.editor.changes import DocumentSpan, Edit
from prosa.lsp.positions import Encoding, offset_at, range_of
from prosa.source import LineIndex, SourceText
from prosa.source.values import kept

UNTITLED = "untitled"
"""The scheme of documents that have no file yet."""

_SUFFIXES: Mapping[str, str] = MappingProxyType({"mda": ".mda", "ymj": ".ymj"})
"""The suffix of a document without a file, by its language in the editor."""


class OpenDocument(Struct):
    """A document as the editor shows it. ``path`` is its real path; one without a file has a path that is nowhere."""

    uri: str
    path: Path
    version: int
    lines: LineIndex

    @property
    def text(self) -> str:
        """The text, line ends unchanged."""
        return self.lines.text

    def change(self, version: int, changes: Iterable[types.TextDocumentContentChangeEvent], encoding: Encoding) -> None:
        """Take in changes, one after the other."""
        for change in changes:
            if isinstance(change, types.TextDocumentContentChangePartial):
                start = offset_at(self.lines, change.range.start, encoding)
                end = max(start, offset_at(self.lines, change.range.end, encoding))
                self.lines = self.lines.replaced(start, end, whole_characters(change.text))
            else:
                self.lines = LineIndex(whole_characters(change.text))
        self.version = version


class Documents:
    """The open documents by URI."""

    def __init__(self) -> None:
        self._by_uri: dict[str, OpenDocument] = {}

    def open(self, item: types.TextDocumentItem) -> OpenDocument | None:
        """Take in a document; None for one that is no file and will be none."""
        path = path_of(item.uri, item.language_id)
        if path is None:
            return None
        made = OpenDocument(item.uri, path, item.version, LineIndex(whole_characters(item.text)))
        self._by_uri[item.uri] = made
        return made

    def close(self, uri: str) -> OpenDocument | None:
        """Forget a document."""
        return self._by_uri.pop(uri, None)

    def at(self, uri: str) -> OpenDocument | None:
        """Return the document of a URI; None where it is not open."""
        return self._by_uri.get(uri)

    def __iter__(self) -> Iterator[OpenDocument]:
        return iter([*self._by_uri.values()])


def whole_characters(text: str) -> str:
    """Return a text with each half of a surrogate pair replaced."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return text


def path_of(uri: str, language: str = "") -> Path | None:
    """Return the real path of a document; None for a URI that no document has."""
    try:
        parts = urlsplit(uri)
        path = unquote(parts.path)
        if parts.scheme == UNTITLED:
            name = PurePosixPath(path).name or UNTITLED
            suffix = _SUFFIXES.get(language, ".md")
            return Path("/", UNTITLED, name if PurePosixPath(name).suffix else f"{name}{suffix}")
        if parts.scheme != "file" or parts.netloc not in ("", "localhost") or not path:
            return None
        return Path(os.path.realpath(path[1:] if os.name == "nt" else path))
    except ValueError:  # a NUL in it, or no URL at all
        return None


def uri_of(path: Path) -> str:
    """Return the URI of a file."""
    return path.as_uri()


class View(Struct, frozen=True, dict=True):
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
        path = path or self.path
        index = self._lines.get(path)
        if index is None:
            source = self.workspace.source(path)
            index = self._lines[path] = source.lines if source is not None else LineIndex("")
        return index

    def know(self, sources: Mapping[Path, SourceText]) -> None:
        """Take in the texts of documents, which need not be read for their lines."""
        self._lines.update((path, source.lines) for path, source in sources.items())

    @kept
    def _lines(self) -> dict[Path, LineIndex]:
        """The documents that were asked for: a view is made for one question."""
        return {}

    def offset(self, position: types.Position) -> int:
        """Return the character at a position."""
        return offset_at(self.lines(), position, self.encoding)

    def range(self, start: int, end: int, path: Path | None = None) -> types.Range:
        """Return the range of characters, in this document or in another one."""
        return range_of(self.lines(path), start, end, self.encoding)

    def location(self, place: DocumentSpan) -> types.Location:
        """Return a place as the protocol names it."""
        return types.Location(self.uris(place.path), self.range(place.start, place.end, place.path))

    def text_edit(self, edit: Edit) -> types.TextEdit:
        """Return one change of a document."""
        return types.TextEdit(self.range(edit.start, edit.end, edit.path), edit.text)

    def workspace_edit(self, edits: Iterable[Edit]) -> types.WorkspaceEdit:
        """Change of any documents, for the versions that they were made for."""
        by_path: dict[Path, list[types.TextEdit]] = {}
        for edit in edits:
            by_path.setdefault(edit.path, []).append(self.text_edit(edit))
        if not self.versioned:
            return types.WorkspaceEdit({self.uris(path): path_edits for path, path_edits in by_path.items()})
        return types.WorkspaceEdit(
            document_changes=[
                types.TextDocumentEdit(
                    types.OptionalVersionedTextDocumentIdentifier(self.uris(path), self.versions.get(path)), path_edits
                )
                for path, path_edits in by_path.items()
            ]
        )
