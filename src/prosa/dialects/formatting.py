"""What a user may ask of `prosa fmt` beyond the normal form."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class FormatOptions:
    """``rehash``: stored hashes that no longer match their text are written anew (X22); else they stay as they are."""

    rehash: bool = False
