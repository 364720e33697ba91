"""`unresolved-anchor`: a link to a heading that its target does not have."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from pathlib import Path

from prosa.diagnostics import Misspelling, Problem
from prosa.diagnostics.nearest import nearest
from prosa.rules.document.targets import followed
from prosa.rules.subject import Corpus, Facts

_NO_HEADING = re.compile(r":~:|[Ll][0-9]+|fn|footnote|top\Z|_[0-9]*\Z|[!/=?]")
"""Fragments that name something else: a text, lines of a file, a footnote, the top of the page, a heading without
letters that a generator numbered, the state of an app."""

_SILENT = re.compile(r"[\W_]+")
_NUMBER = "0123456789"
_SITE_PREFIX = "user-content-"
"""What GitHub puts before the ids of a document."""

MAX_GUESSED = 200
"""Headings of one document that are compared with a mistyped one."""


def check_corpus(corpus: Corpus) -> Iterator[tuple[Path, Problem]]:
    """At the destination. Generators make anchors in different ways, so only letters and digits are compared."""
    known: dict[Path, frozenset[str] | None] = {}
    for found in followed(corpus):
        fragment = found.link.fragment
        if found.real is None or not fragment or _NO_HEADING.match(fragment):
            continue
        if found.real not in known:
            facts = corpus.entries.get(found.real) or corpus.load(found.real)
            known[found.real] = _headings(facts)
        there = known[found.real]
        if there is not None and (heard := _heard(fragment.removeprefix(_SITE_PREFIX))) and heard not in there:
            facts = corpus.entries.get(found.real) or corpus.load(found.real)
            where = f"`{found.link.target}`" if found.link.target else "this document"
            guess = nearest(fragment, sorted(facts.anchors)[:MAX_GUESSED]) if facts else None
            notes = (f"did you mean `#{guess}`?",) if guess else ()
            message = f"{where} has no heading `#{fragment}`"
            meant = Misspelling(f"#{fragment}", f"#{guess}") if guess else None
            yield found.source, Problem("unresolved-anchor", message, found.link.span, notes, misspelling=meant)


def _headings(facts: Facts | None) -> frozenset[str] | None:
    """The anchors as they are compared; None where not all of them are known. Some generators leave out the number
    before a heading."""
    if facts is None or "*" in facts.anchors:
        return None
    heard = [_heard(each) for each in facts.anchors]
    return frozenset((*heard, *(each.lstrip(_NUMBER) for each in heard)))


def _heard(anchor: str) -> str:
    """Letters and digits, without accents: some generators take them away."""
    return _SILENT.sub("", unicodedata.normalize("NFKD", anchor.casefold()))
