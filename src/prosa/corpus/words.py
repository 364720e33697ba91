"""Words as the full-text index splits them: runs of letters and digits, without case and accents.

In: a text. Out: its words with their places. It follows the tokenizer `unicode61 remove_diacritics 2` of SQLite, which
decides in the index; here it is needed to distinguish words from punctuation before a query.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

from prosa.regex import regex

_RUN = regex(r"[\w\u0300-\u0331]+")
_MARKS = frozenset(map(chr, (*range(0x300, 0x305), *range(0x306, 0x30D), 0x30F, 0x311, 0x31B, *range(0x323, 0x332))))
"""Combining marks that are part of a word and do not count."""

_CJK = regex(
    "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff\uff66-\uff9f\U00020000-\U0003134f]"
)
"""Scripts that set no spaces between words: Thai, Lao, Burmese, Khmer, Japanese, Chinese."""


class Word(NamedTuple):
    """A word, folded, and the offsets of its characters in the text."""

    text: str
    start: int
    end: int


def has_words(text: str) -> bool:
    """Return whether a text holds a letter or a digit."""
    return next(words(text), None) is not None


def words(text: str) -> Iterator[Word]:
    """Yield the words of a text, in order. `_` and every other mark separates them."""
    for run in _RUN.finditer(text):
        yield from _split(run[0], run.start())


def is_cjk(text: str) -> bool:
    """Return whether some of the text is written without spaces between words."""
    return not text.isascii() and _CJK.search(text) is not None


def fold(word: str) -> str:
    """Return a word without case, and its Latin letters without accents."""
    if word.isascii():
        return word.lower()
    return "".join(_plain(char) for char in word.lower() if char not in _MARKS)


def _plain(char: str) -> str:
    first = unicodedata.normalize("NFD", char)[0]
    return first if first.isascii() else char


def _split(run: str, offset: int) -> Iterator[Word]:
    start = None
    for at, char in enumerate(run):
        if _is_letter(char) or (start is not None and char in _MARKS):
            start = at if start is None else start
        elif start is not None:
            yield Word(fold(run[start:at]), offset + start, offset + at)
            start = None
    if start is not None:
        yield Word(fold(run[start:]), offset + start, offset + len(run))


@lru_cache(maxsize=4096)
def _is_letter(char: str) -> bool:
    return unicodedata.category(char)[0] in "LN"
