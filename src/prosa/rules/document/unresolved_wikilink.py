"""`unresolved-wikilink`: `[[name]]`, and no document is called so (YA21)."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from prosa.diagnostics import Misspelling, Problem
from prosa.diagnostics.nearest import nearest
from prosa.graph.stems import is_attachment
from prosa.rules.document.wikilinks import followed_wikilinks
from prosa.rules.subject import Corpus


def check_corpus(corpus: Corpus) -> Iterator[tuple[Path, Problem]]:
    """At the link; only when all documents below the root are known."""
    if not corpus.complete:
        return
    stems: tuple[str, ...] = ()
    for each in followed_wikilinks(corpus):
        if not each.candidates and not each.is_file:
            stems = stems or tuple(path.stem for path in corpus.entries)
            guess = nearest(each.link.target, stems)
            notes = (f"did you mean `[[{guess}]]`?",) if guess else ()
            what = "file" if is_attachment(each.link.target) else "document"
            message = f"no {what} is called `{each.link.target}`"
            meant = Misspelling(each.link.target, guess) if guess else None
            yield each.source, Problem("unresolved-wikilink", message, each.link.span, notes, misspelling=meant)
