"""Names that are unknown: the error, and the known name that was most likely meant."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import islice

from prosa.source import ProsaError

MAX_LENGTH = 64
"""Longer names are not compared: matching is quadratic in their length, and long typos are rare."""

MAX_CANDIDATES = 200
"""More names than this are not compared, for the same reason."""


class UnknownName(ProsaError, ValueError):
    """An unknown name; ``what`` it should name, and ``hint`` says what to do."""

    def __init__(self, what: str, name: str, known: Iterable[str]) -> None:
        guess = nearest(name, known)
        self.what, self.name = what, name
        self.hint = f"did you mean {guess}?" if guess else "see: prosa explain"
        super().__init__(f"unknown {what} {name!r}; {self.hint}")


def nearest(name: str, known: Iterable[str], *, cutoff: float = 0.7) -> str | None:
    """Return one of ``known``, or None when none is near: ``cutoff`` is how alike they must be, 0 to 1.

    Case, hyphen and underscore do not count.
    """
    from difflib import get_close_matches

    if len(name) > MAX_LENGTH:
        return None
    plain = {_plain(candidate): candidate for candidate in islice(known, MAX_CANDIDATES)}
    close = get_close_matches(_plain(name), plain, n=1, cutoff=cutoff)
    return plain[close[0]] if close else None


def _plain(name: str) -> str:
    return name[:MAX_LENGTH].lower().replace("-", "_")
