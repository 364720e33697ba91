"""What a user may ask of `prosa fmt` beyond the normal form."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class FormatOptions:
    """``rehash``: stored hashes that no longer match their text are written anew (X22); else they stay as they are.
    ``sync``: what repeats something else in the document for people is written anew from it (MA19b)."""

    rehash: bool = False
    sync: bool = False
