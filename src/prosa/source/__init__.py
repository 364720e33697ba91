"""Text with places in it: spans, lines and edits. Pure; everything else in the house stands on this folder."""

from prosa.source.edit import Edit, OverlappingEdits, apply_edits
from prosa.source.files import FileProblem, Files, ProsaError
from prosa.source.lines import LineIndex, Position
from prosa.source.span import Span
from prosa.source.text import SourceText
from prosa.source.text_files import TextFiles

__all__ = [
    "Edit",
    "FileProblem",
    "Files",
    "LineIndex",
    "OverlappingEdits",
    "Position",
    "ProsaError",
    "SourceText",
    "Span",
    "TextFiles",
    "apply_edits",
]
