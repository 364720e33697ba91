"""`unresolved-wikilink`: `[[name]]`, and no document is called so (YA21)."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from prosa.diagnostics import Problem
from prosa.diagnostics.nearest import nearest
from prosa.rules.document.wikilinks import followed_wikilinks
from prosa.rules.subject import Corpus


def check_corpus(corpus: Corpus) -> Iterator[tuple[Path, Problem]]:
    """At the link; only when all documents below the root are known."""
    if not corpus.complete:
        return
    stems: tuple[str, ...] = ()
    for each in followed_wikilinks(corpus):
        if not each.candidates:
            stems = stems or tuple(path.stem for path in corpus.entries)
            guess = nearest(each.link.target, stems)
            notes = (f"did you mean `[[{guess}]]`?",) if guess else ()
            message = f"no document is called `{each.link.target}`"
            yield each.source, Problem("unresolved-wikilink", message, each.link.span, notes)
