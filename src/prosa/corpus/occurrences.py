"""The places of the terms of a query in a text, as the full-text index would report them.

In: a text and terms that are words. Out: places, in the order of their ends. The index reports them too, but copies
the whole text for every place: for a long text full of matches this takes a single pass.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence

from prosa.corpus.query import Term
from prosa.corpus.snippet import Mark
from prosa.corpus.words import Word, words


def occurrences(text: str, terms: Sequence[Term], field: str) -> Iterator[Mark]:
    """Yield the places of the wanted terms in a column, phrases as a whole."""
    wanted = [
        (tuple(word.text for word in words(term.text)), term.prefix) for term in terms if term.field in (None, field)
    ]
    recent = deque[Word](maxlen=max((len(names) for names, _ in wanted), default=0))
    for word in words(text):
        recent.append(word)
        for names, prefix in wanted:
            if names and _ends_with(recent, names, prefix=prefix):
                yield recent[-len(names)].start, word.end


def _ends_with(recent: Sequence[Word], names: Sequence[str], *, prefix: bool) -> bool:
    """Return whether the words read last are those of a term."""
    if len(recent) < len(names):
        return False
    last = recent[-1].text
    if not (last.startswith(names[-1]) if prefix else last == names[-1]):
        return False
    return all(recent[-at].text == names[-at] for at in range(2, len(names) + 1))
