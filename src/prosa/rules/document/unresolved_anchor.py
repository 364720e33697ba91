"""`unresolved-anchor`: a link to a heading that its target does not have."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from prosa.diagnostics import Misspelling, Problem
from prosa.diagnostics.nearest import nearest
from prosa.rules.document.targets import followed
from prosa.rules.document.wikilinks import followed_wikilinks
from prosa.rules.subject import Corpus, Facts, LocalLink

_NO_HEADING = re.compile(r":~:|[Ll][0-9]+|fn|footnote|top\Z|_[0-9]*\Z|[!/=?]")
"""Fragments that name something else: a text, lines of a file, a footnote, the top of the page, a heading without
letters that a generator numbered, the state of an app."""

_SILENT = re.compile(r"[\W_]+")
_NUMBER = "0123456789"
_SITE_PREFIX = "user-content-"
"""What GitHub puts before the ids of a document."""

MAX_GUESSED = 200
"""Headings of one document that are compared with a mistyped one."""


class Named(NamedTuple):
    """A heading that a document names: the link at ``source``, the document it is looked for in, and whether the link
    names it as an address does (`#the-end`) or as it reads, like wikilinks."""

    source: Path
    link: LocalLink
    real: Path
    as_address: bool = True


def check_corpus(corpus: Corpus) -> Iterator[tuple[Path, Problem]]:
    """At the destination. Generators make anchors in different ways, so only letters and digits are compared."""
    known: dict[Path, frozenset[str] | None] = {}
    for each in _named(corpus):
        if each.real not in known:
            known[each.real] = _headings(_facts(corpus, each.real))
        there = known[each.real]
        heard = _heard(each.link.fragment.removeprefix(_SITE_PREFIX))
        if there is not None and heard and heard not in there:
            yield each.source, _problem(each, _facts(corpus, each.real))


def _named(corpus: Corpus) -> Iterator[Named]:
    """Of `[[a#b#c]]` the last heading counts, and `^c` is a block. Which document a wikilink names is certain only
    where all documents are known."""
    for found in followed(corpus):
        if found.real is not None and found.link.fragment and not _NO_HEADING.match(found.link.fragment):
            yield Named(found.source, found.link, found.real)
    for each in followed_wikilinks(corpus) if corpus.complete else ():
        heading = each.link.fragment.rpartition("#")[2].strip()
        if len(each.candidates) == 1 and heading and not heading.startswith("^") and not _NO_HEADING.match(heading):
            yield Named(each.source, each.link._replace(fragment=heading), each.candidates[0], as_address=False)


def _problem(named: Named, facts: Facts | None) -> Problem:
    link = named.link
    where = f"`{link.target}`" if link.target else "this document"
    guess = nearest(link.fragment, sorted(facts.anchors)[:MAX_GUESSED]) if facts and named.as_address else None
    notes = (f"did you mean `#{guess}`?",) if guess else ()
    message = f"{where} has no heading `#{link.fragment}`"
    meant = Misspelling(f"#{link.fragment}", f"#{guess}") if guess else None
    return Problem("unresolved-anchor", message, link.span, notes, misspelling=meant)


def _facts(corpus: Corpus, real: Path) -> Facts | None:
    return corpus.entries.get(real) or corpus.load(real)


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
