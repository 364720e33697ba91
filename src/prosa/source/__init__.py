"""Text with places in it: spans, lines and edits. Pure; everything else in the house stands on this folder."""

from prosa.source.files import FileProblem, Files, ProsaError, Renamed, TextFiles
from prosa.source.text import Edit, LineIndex, OverlappingEdits, Position, SourceText, Span, apply_edits

__all__ = [
    "Edit",
    "FileProblem",
    "Files",
    "LineIndex",
    "OverlappingEdits",
    "Position",
    "ProsaError",
    "Renamed",
    "SourceText",
    "Span",
    "TextFiles",
    "apply_edits",
]
