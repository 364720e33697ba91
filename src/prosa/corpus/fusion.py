"""Reciprocal rank fusion: several rankings of the same things become one (Cormack, Clarke, Büttcher 2009).

In: rankings, best first. Out: one, with a score for each. Scores of the rankings are not compared: BM25 and cosine are
only comparable by their order.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from typing import TypeVar

Key = TypeVar("Key", bound=Hashable)

SMOOTHING = 60
"""The constant of the paper: it limits the weight of the first places."""


def fused(rankings: Iterable[Sequence[Key]]) -> list[tuple[Key, float]]:
    """Return everything that any ranking names, best first, each once; equals in the order in which they were met."""
    scores: dict[Key, float] = {}
    for ranking in rankings:
        for place, key in enumerate(dict.fromkeys(ranking), 1):
            scores[key] = scores.get(key, 0.0) + 1.0 / (SMOOTHING + place)
    return sorted(scores.items(), key=lambda pair: -pair[1])
