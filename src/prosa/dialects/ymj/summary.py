"""`validate_summary` (Y26): does the summary speak of what the body speaks of? Words are compared, no model is asked.

In: two texts. Out: the share of the summary's words that the body has. The body is everything a person reads in it, so
a summary is only found to diverge when it speaks of something else altogether.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

HANDLER = "validate_summary"
"""The name in `ops.handlers` that asks for the comparison."""

LEAST_SHARE = 0.25
"""Below this a summary that its record wants compared is reported."""

MIN_WORDS = 2
"""A summary of fewer words says too little to compare."""

MIN_BODY_WORDS = 12
"""A shorter body may leave its subject to the header."""

_PREFIX = 4
"""Characters of a word that count: `deploy`, `deploys` and `deployment` are one word."""

MAX_BODY = 200_000
"""Characters of the body that are compared; its subject shows long before."""

_WORD = re.compile(r"[^\W_]{3,}")
_SYLLABIC = re.compile("[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]+")
_COMMON_WORDS = """
about after again also because before been being between both could does each from have here into just like
more most much must only other over same should some such than that their them then there these they this those
through under very were what when where which while with would your and are but can for has how its not one our out
the two was who why all any new per via document file summary record
"""
_COMMON = frozenset(_COMMON_WORDS.split())


def share_of_words(summary: str, body: str) -> float | None:
    """How many of the summary's words are in the body, 0 to 1; None when either says too little to compare."""
    wanted = frozenset(_words(summary))
    if len(wanted) < MIN_WORDS:
        return None
    there = list(_words(body[:MAX_BODY]))
    if len(there) < MIN_BODY_WORDS:
        return None
    return len(wanted & frozenset(there)) / len(wanted)


def _words(text: str) -> Iterator[str]:
    """The beginnings of the words that carry meaning; pairs of characters where a script sets no spaces."""
    folded = text.casefold()
    for run in _SYLLABIC.findall(folded):
        yield from (run[at : at + 2] for at in range(max(len(run) - 1, 1)))
    for word in _WORD.findall(_SYLLABIC.sub(" ", folded)):
        if word not in _COMMON:
            yield word[:_PREFIX]
