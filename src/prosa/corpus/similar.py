"""The characteristic words of a document: those it uses often and few others use.

In: the texts of its sections, and how many sections of the corpus hold a word. Out: the most characteristic terms. No
corpus is read here.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from math import log

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
