"""The significant words of a text, to compare the topics of two texts.

In: a text. Out: the beginnings of its words, or pairs of characters where a script sets no spaces. No model is called.
"""

from __future__ import annotations

from collections.abc import Iterator

from prosa.regex import regex

_PREFIX = 4
"""Characters of a word that count: `deploy`, `deploys` and `deployment` are one word."""

_WORD = regex(r"[^\W_]{3,}")
_ASCII = bytes(range(0x80))
_SYLLABIC = regex("[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]+")
_COMMON_WORDS = """
about after again also because before been being between both could does each from have here into just like
more most much must only other over same should some such than that their them then there these they this those
through under very were what when where which while with would your and are but can for has how its not one our out
the two was who why all any new per via document file summary record
"""
_COMMON = frozenset(_COMMON_WORDS.split())


def words(text: str) -> Iterator[str]:
    """Yield the beginnings of the words that carry meaning; pairs of characters where a script sets no spaces."""
    folded = text.casefold()
    if not folded.isascii() and _SYLLABIC.search(_beyond_ascii(folded)):
        for run in _SYLLABIC.findall(folded):
            yield from (run[at : at + 2] for at in range(max(len(run) - 1, 1)))
        folded = _SYLLABIC.sub(" ", folded)
    for match in _WORD.finditer(folded):  # few who ask need all of them
        if (word := match[0]) not in _COMMON:
            yield word[:_PREFIX]


def _beyond_ascii(text: str) -> str:
    """Return the characters that are not ASCII, in which a search for rare ones is much quicker."""
    return text.encode("utf-8", "surrogatepass").translate(None, _ASCII).decode("utf-8", "surrogatepass")
