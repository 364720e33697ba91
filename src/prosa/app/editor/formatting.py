"""The normal form of a document that is being written: what `prosa fmt` would make of it, as edits (X22).

In: a document of a workspace, or some of its lines. Out: edits, or why it is left alone, in words.
"""

from __future__ import annotations

from pathlib import Path

from msgspec import Struct

from prosa.app.check.workspace import Workspace
from prosa.app.editor.changes import edits_between
from prosa.app.editor.place import Edit
from prosa.rules.formatting import format_text
from prosa.source import SourceText
from prosa.source.text import Edit as SourceEdit
from prosa.source.text import Span, apply_edits


class FormatEdits(Struct, frozen=True):
    """``edits`` bring a document to its normal form; ``problem`` says why it is left alone."""

    edits: tuple[Edit, ...] = ()
    problem: str = ""


def format_document(workspace: Workspace, path: Path) -> FormatEdits:
    """Return the edits of a whole document."""
    source = workspace.source(path)
    if source is None:
        return FormatEdits(problem=f"not formatted: {path} cannot be read")
    made = format_text(source, workspace.profile.hints(path))
    if made.text is not None:
        return FormatEdits(edits_between(path, source.text, made.text))
    line = source.position(made.problem.span.start).line if made.problem else 1
    words = f"{made.problem.message} [{made.problem.rule}]" if made.problem else made.reason
    return FormatEdits(problem=f"not formatted: {path.name}:{line}: {words}")


def format_range(workspace: Workspace, path: Path, start: int, end: int) -> FormatEdits:
    """Return those of them that change lines of a range."""
    found = format_document(workspace, path)
    source = workspace.source(path)
    some = tuple(each for each in found.edits if _touches(each, start, end))
    if source is None or not some or some == found.edits:
        return FormatEdits(some, found.problem)
    text = apply_edits(source.text, [SourceEdit(Span(each.start, each.end), each.text) for each in some])
    again = format_text(SourceText(text, source.path), workspace.profile.hints(path))
    if again.text is None:
        return FormatEdits(problem=f"not formatted: {path.name}: its normal form needs changes outside the selection")
    return FormatEdits(some)


def _touches(edit: Edit, start: int, end: int) -> bool:
    """Return whether an edit changes lines of a range; one that inserts does at both of its ends."""
    return edit.start < end and start < edit.end if edit.start < edit.end else start <= edit.start <= end
