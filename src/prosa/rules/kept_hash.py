"""Hashes that a document keeps of its own text: one that was true before a fix is true after it (X22).

In: a source and its text after fixes. Out: that text, with the edits that its dialect asks for. The dialect is the one
that the file name decides: only such dialects keep hashes of themselves.
"""

from __future__ import annotations

from importlib import import_module
from pathlib import PurePath
from typing import TYPE_CHECKING, Any

from prosa.dialects.table import dialect, dialect_of_file_name
from prosa.source import SourceText, apply_edits

if TYPE_CHECKING:
    from prosa.source import Edit


def with_kept_hash(source: SourceText, text: str) -> str:
    """``text``, with hashes that were right in ``source`` right again."""
    name = dialect_of_file_name(PurePath(source.path).name)
    module = dialect(name).module if name else None
    package: Any = import_module(module) if module else None
    if not hasattr(package, "after_fix"):
        return text
    edits: tuple[Edit, ...] = package.after_fix(source, SourceText(text, source.path))
    return apply_edits(text, edits)
