"""Texts with a cursor: `|` marks an offset, and is no part of the text."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from prosa.app.check.check import CheckOptions
from prosa.app.check.workspace import Workspace
from prosa.app.editor.changes import DocumentSpan

MARK = "|"


class Marked(NamedTuple):
    """A workspace, and the place of the cursor in one of its documents."""

    workspace: Workspace
    path: Path
    offset: int

    def show(self, place: DocumentSpan) -> str:
        """A place as `path:line text`."""
        source = self.workspace.source(place.path)
        root = self.workspace.root
        assert source is not None and place.path.is_relative_to(root)
        line = source.position(place.start).line
        text = source.text[place.start : place.end].replace("\n", "⏎")
        return f"{place.path.relative_to(root).as_posix()}:{line} {text}".rstrip()


def opened(root: Path, texts: Mapping[str, str]) -> Workspace:
    """The workspace of some documents, written below a root."""
    root = root.resolve()
    (root / ".git").mkdir(parents=True, exist_ok=True)
    for name, text in texts.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode("utf-8"))
    return Workspace.open(root, CheckOptions(), {})


def marked(root: Path, texts: Mapping[str, str]) -> Marked:
    """The same where the first text that can hold the cursor does: it is open in the editor, and not saved."""
    name = next(name for name, text in texts.items() if MARK in text)
    offset = texts[name].index(MARK)
    text = texts[name].replace(MARK, "", 1)
    workspace = opened(root, {**texts, name: "something else\n"})
    path = workspace.root / name
    workspace.update(path, text)
    return Marked(workspace, path, offset)
