"""A suppression: a comment with which an author keeps rules quiet. `rules.suppress` finds them, `rules.quiet` obeys."""

from __future__ import annotations

from dataclasses import dataclass

from prosa.source import Span


@dataclass(frozen=True, slots=True)
class Suppression:
    """``names`` are the rules as written, each with its span; ``comment`` is the whole comment, ``covers`` the
    characters whose findings it keeps quiet (both ends included, so that an empty last line counts)."""

    names: tuple[tuple[str, Span], ...]
    comment: Span
    covers: Span
