"""What `prosa show` says about plain Markdown beyond what it says about every document: nothing (interface.md)."""

from __future__ import annotations

from prosa.data import Value
from prosa.dialects.plain.model import PlainModel


def facts(_: PlainModel) -> dict[str, Value]:
    """No further keys."""
    return {}
