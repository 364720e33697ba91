"""The query language of search: text → clauses, and the places of their terms in a text. Nothing is an error; anything
without a meaning is a word or a blank.

In: any text. Out: a `Query`. The grammar, where blanks separate items:

    query  = item { ["OR"] item }        every item must be found; items joined by OR are alternatives
    item   = ["-" | "NOT "] [field ":"] (word ["*"] | '"' phrase '"')
    field  = "title" | "heading" | "tag" | "text"

OR binds its two neighbours, `AND` is the default. An excluded item is no alternative: OR beside it is a blank.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterator, Sequence
from typing import Literal, TypeAlias

from msgspec import Struct

from prosa.corpus.snippet import Mark
from prosa.corpus.words import Word, has_words, is_cjk, words
from prosa.regex import regex

MAX_QUERY = 2_000
"""Maximum length of a query that is read. Longer than any question; of a pasted document only the beginning counts."""

MAX_TERMS = 64
"""Items of a query that are read: each is a lookup of its own."""

Field: TypeAlias = Literal["title", "heading", "tags", "text"]
"""The columns in which a section is found."""

FIELDS: dict[str, Field] = {"title": "title", "heading": "heading", "tag": "tags", "tags": "tags", "text": "text"}
"""Prefixes before a colon."""

_OPEN, _CLOSE = '"“„«', '"”“»'
_ITEM = regex(
    rf"""(?P<minus>-(?=[^\s-]))?
         (?:(?P<field>[A-Za-z]+):(?=[^\s:]))?
         (?:[{_OPEN}](?P<phrase>[^{_CLOSE}]*)[{_CLOSE}]?(?P<stars>\*?)|(?P<word>[^\s{_OPEN}]+))""",
    re.VERBOSE,
)


class Term(Struct, frozen=True):
    """Words to find in a section, one after another. ``prefix``: the last word may continue. ``field``: in this
    column only."""

    text: str
    field: Field | None = None
    prefix: bool = False

    @property
    def is_cjk(self) -> bool:
        """Whether it is found as a piece of text, since its words are not set off by blanks."""
        return is_cjk(self.text)


Clause: TypeAlias = tuple[Term, ...]
"""Alternatives, at least one."""


class Query(Struct, frozen=True):
    """A section answers when every clause is found in it and nothing of ``excluded``."""

    clauses: tuple[Clause, ...] = ()
    excluded: tuple[Term, ...] = ()

    @property
    def terms(self) -> tuple[Term, ...]:
        """All terms to find, including those of all alternatives."""
        return tuple(term for clause in self.clauses for term in clause)

    @property
    def is_empty(self) -> bool:
        """Whether it has no terms."""
        return not self.clauses and not self.excluded


def parse_query(text: str) -> Query:
    """Return the meaning of a text; an empty query for a text without words."""
    clauses: list[Clause] = []
    excluded: list[Term] = []
    joins, negates, joinable = False, False, False
    for count, item in enumerate(_items(text)):
        if count >= MAX_TERMS:
            break
        if isinstance(item, str):
            joins, negates = item == "OR", item == "NOT"
            continue
        term, minus = item
        if minus or negates:
            excluded.append(term)
            joinable = False
        elif joins and joinable:
            clauses[-1] = (*clauses[-1], term)
        else:
            clauses.append((term,))
            joinable = True
        joins, negates = False, False
    return Query(tuple(clauses), tuple(excluded))


def _items(text: str) -> Iterator[str | tuple[Term, bool]]:
    """Yield the operators, and the terms that hold a word with whether a minus stands before them."""
    for match in _ITEM.finditer(text[:MAX_QUERY]):
        if match[0] in ("OR", "AND", "NOT"):
            yield match[0]
        elif has_words((term := _term(match)).text):
            yield term, match["minus"] is not None


def _term(match: re.Match[str]) -> Term:
    name = (match["field"] or "").lower()
    field = FIELDS.get(name)
    written = match["phrase"] if match["word"] is None else match["word"]
    text = written if field or not name else f"{match['field']}:{written}"
    prefix = bool(match["stars"]) or (match["word"] is not None and text.endswith("*") and _ends_in_word(text))
    return Term(text.rstrip("*"), field, prefix)


def _ends_in_word(text: str) -> bool:
    """Return whether the star follows a word, and not a bracket or another mark."""
    return has_words(text.rstrip("*")[-1:])


def occurrences(text: str, terms: Sequence[Term], field: str) -> Iterator[Mark]:
    """Yield the places of the wanted terms in a column, phrases as a whole, in the order of their ends.

    The full-text index reports them too, but copies the whole text for every place: for a long text full of matches
    this takes a single pass.
    """
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
