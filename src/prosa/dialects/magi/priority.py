"""Which script comes first: high before medium before low, then the order of the document (M26, MA13). Pure."""

from __future__ import annotations

from collections.abc import Iterable

from prosa.dialects.magi.model import Script

_RANKS = {"high": 0, None: 1, "medium": 1, "low": 2}


def rank(script: Script) -> int:
    """0 for high, 1 for medium and for none, 2 for low, 3 for a value that nobody knows."""
    return _RANKS.get(script.fields.text("priority"), 3)


def in_order(scripts: Iterable[Script]) -> tuple[Script, ...]:
    """The scripts in the order in which they would run."""
    return tuple(sorted(scripts, key=rank))
