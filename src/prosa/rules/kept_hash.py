"""Hashes that a document keeps of its own text: one that was true before a fix is true after it (X22).

In: a source and its text after fixes. Out: that text, with the edits that its dialect asks for. The dialect is the one
that the file name decides: only such dialects keep hashes of themselves.
"""

from __future__ import annotations

from pathlib import PurePath

from prosa.dialects.table import dialect, dialect_of_file_name
from prosa.source import SourceText, apply_edits


def with_kept_hash(source: SourceText, text: str) -> str:
    """``text``, with hashes that were right in ``source`` right again."""
    name = dialect_of_file_name(PurePath(source.path).name)
    if name is None:
        return text
    return apply_edits(text, dialect(name).load().after_fix(source, SourceText(text, source.path)))
