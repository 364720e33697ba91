"""What makes documents alike: their characteristic words, their vectors, and several rankings fused into one.

In: the texts of its sections, and how many sections of the corpus hold a word. Out: the most characteristic terms. No
corpus is read here.

Scores of the rankings are not compared: BM25 and cosine are only comparable by their order.

Bytes are 32-bit floats, little endian. A vector without length is like nothing; it never divides by zero (YW7).
"""

from __future__ import annotations

import math
import sys
from array import array
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Sequence
from heapq import nlargest
from math import log
from operator import mul
from typing import TypeVar

from prosa.corpus.query import Term
from prosa.corpus.words import words
from prosa.regex import regex

MAX_TERMS = 30
"""Maximum number of terms: more of them find the same documents, only slower."""

MAX_CANDIDATES = 300
"""Maximum number of frequent words that are looked up; the number of different words in a document has no bound."""

MIN_LETTERS = 3
"""Shorter words say little; of Chinese and Japanese, what the trigram table cannot find."""

MOST_SHARED = 0.2
"""Share of all sections beyond which a word is not characteristic."""

_PIECES = regex("[\u3400-\u9fff\uf900-\ufaff]{3,8}|[\u30a1-\u30fa\u30fc]{3,20}")
"""Runs of Chinese characters and of katakana: what names are written in."""


def telling_terms(texts: Iterable[str], spread: Callable[[Term], int], sections: int) -> tuple[Term, ...]:
    """Return the most characteristic terms, best first. ``spread`` returns the number of sections of the corpus that
    hold a term, ``sections`` is the number of them all. Terms that only occur in ``texts`` are left out."""
    used: Counter[str] = Counter()
    own: Counter[str] = Counter()
    for text in texts:
        here = Counter(_words(text))
        used += here
        own.update(here.keys())
    scored = []
    for word, count in used.most_common(MAX_CANDIDATES):
        held = spread(Term(word))
        if own[word] < held <= max(sections * MOST_SHARED, own[word] + 1):
            scored.append(((1 + log(count)) * log(1 + sections / held), word))
    scored.sort(key=lambda pair: (-pair[0], pair[1]))
    return tuple(Term(word) for _, word in scored[:MAX_TERMS])


def _words(text: str) -> Iterable[str]:
    for word in words(text):
        if not word.text.isascii() and _PIECES.search(word.text):
            yield from _PIECES.findall(word.text)
        elif len(word.text) >= MIN_LETTERS and not word.text.isdecimal():
            yield word.text


# Reciprocal rank fusion: several rankings of the same things become one (Cormack, Clarke, Büttcher 2009).

K = TypeVar("K", bound=Hashable)

SMOOTHING = 60
"""The constant of the paper: it limits the weight of the first places."""


def fused(rankings: Iterable[Sequence[K]]) -> list[tuple[K, float]]:
    """Return everything that any ranking names, best first, each once; equals in the order in which they were met."""
    scores: dict[K, float] = {}
    for ranking in rankings:
        for place, key in enumerate(dict.fromkeys(ranking), 1):
            scores[key] = scores.get(key, 0.0) + 1.0 / (SMOOTHING + place)
    return sorted(scores.items(), key=lambda pair: -pair[1])


# Vectors: as the bytes that are kept, how alike two are, and which are nearest. Pure arithmetic, no library needed.

Key = TypeVar("Key")


def to_bytes(vector: Sequence[float]) -> bytes:
    """Return a vector as it is kept."""
    packed = array("f", vector)
    if sys.byteorder == "big":
        packed.byteswap()
    return packed.tobytes()


def from_bytes(data: bytes) -> Sequence[float]:
    """Return the vector that was kept. Raises ValueError for bytes that are none."""
    packed = array("f")
    packed.frombytes(data)
    if sys.byteorder == "big":
        packed.byteswap()
    return packed


def cosine(one: Sequence[float], other: Sequence[float]) -> float:
    """Return how alike two vectors of the same length are; 0 where one has no length."""
    size = math.sqrt(sum(map(mul, one, one)) * sum(map(mul, other, other)))
    return sum(map(mul, one, other)) / size if size > 0 and math.isfinite(size) else 0.0


def nearest(query: Sequence[float], kept: Iterable[tuple[Key, bytes]], limit: int) -> list[tuple[Key, float]]:
    """Return the ``limit`` vectors most like ``query``, best first; those of another length are skipped.

    Equal ones keep their order.
    """
    length = len(query) * 4
    scored = [(key, cosine(query, from_bytes(data))) for key, data in kept if len(data) == length]
    return nlargest(limit, scored, key=lambda pair: pair[1])
