"""What a query in SQL may take and what it gives (X10). The index answers it; these are the values on both sides."""

from __future__ import annotations

from msgspec import Struct

from prosa.data import Value

MAX_SECONDS = 10.0
"""How long a query may take when nobody says otherwise."""

MAX_ROWS = 1_000
"""Rows of an answer when nobody says otherwise: more do not fit a screen or a prompt."""


class QueryLimits(Struct, frozen=True):
    """Bounds of one query."""

    seconds: float = MAX_SECONDS
    rows: int = MAX_ROWS


class QueryAnswer(Struct, frozen=True):
    """The columns and the rows of an answer; ``more`` says that there are further rows."""

    columns: tuple[str, ...]
    rows: tuple[tuple[Value, ...], ...]
    more: bool = False
