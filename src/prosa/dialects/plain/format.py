"""The normal form of plain Markdown: whatever its author wrote."""

from __future__ import annotations

from prosa.dialects.dialect import FormatOptions
from prosa.dialects.plain.model import PlainModel
from prosa.source import Edit


def format_edits(_model: PlainModel, _options: FormatOptions) -> tuple[Edit, ...]:
    """No edits: no form of Markdown is better than another without a dialect that says so."""
    return ()
