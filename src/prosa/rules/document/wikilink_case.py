"""`wikilink-case`: `[[name]]` that differs from the file name in upper and lower case (YA21)."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from prosa.diagnostics import Problem
from prosa.rules.document.wikilinks import followed_wikilinks
from prosa.rules.subject import Corpus


def check_corpus(corpus: Corpus) -> Iterator[tuple[Path, Problem]]:
    """At the link; it is followed all the same."""
    for each in followed_wikilinks(corpus):
        if each.candidates and not each.exact:
            name = each.candidates[0].stem
            message = f"`{each.link.target}` is written `{name}` in the name of the file"
            yield each.source, Problem("wikilink-case", message, each.link.span, (f"write `[[{name}]]`",))
