"""`ambiguous-wikilink`: `[[name]]`, and several documents have this file name (YA21)."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from prosa.diagnostics import Problem
from prosa.rules.document.wikilinks import followed_wikilinks
from prosa.rules.subject import Corpus

MAX_NAMED = 3
"""Documents that the message names."""


def check_corpus(corpus: Corpus) -> Iterator[tuple[Path, Problem]]:
    """At the link. A document in the same folder is meant before all others."""
    for each in followed_wikilinks(corpus):
        if len(each.candidates) > 1:
            named = ", ".join(corpus.entries[path].path for path in each.candidates[:MAX_NAMED])
            more = ", …" if len(each.candidates) > MAX_NAMED else ""
            message = f"`{each.link.target}` may be any of {named}{more}"
            note = "write as much of the path as makes it one: `[[folder/name]]`"
            yield each.source, Problem("ambiguous-wikilink", message, each.link.span, (note,))
