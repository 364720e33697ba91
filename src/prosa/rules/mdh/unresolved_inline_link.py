"""`unresolved-inline-link`: a link of the body that leads to nothing on its site (H21 MUST 3, H3, HA5, HA6)."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from prosa.diagnostics import Misspelling, Problem
from prosa.dialects.fields import shown
from prosa.rules.mdh.site import sites, span_of
from prosa.rules.subject import Corpus

MAX_SUGGESTIONS = 100
"""Links of one check for which a similar URL is looked up; comparing is slow."""


def check_corpus(corpus: Corpus) -> Iterator[tuple[Path, Problem]]:
    """At the destination. Only where all documents of the site are known."""
    left = MAX_SUGGESTIONS
    for site in sites(corpus) if corpus.complete else ():
        for page in site.nodes:
            for href, span in page.facts.extra.get("links", ()):
                path = site.path(page, href)
                if path is None or path in site.names or site.leads.what(path):
                    continue
                left -= 1
                guess = site.like(path) if left >= 0 else None
                notes = (f"did you mean `{guess}`?",) if guess else (f"there is no node at `{shown(path)}`",)
                message = f"the link `{shown(href)}` leads to no node of the site (MDH conformance, MUST 3)"
                meant = Misspelling("", guess) if guess else None
                yield page.real, Problem("unresolved-inline-link", message, span_of(span), notes, misspelling=meant)
