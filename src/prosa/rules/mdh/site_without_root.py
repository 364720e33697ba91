"""`site-without-root`: a site that has nothing at `/`, where agents begin (H7)."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from prosa.diagnostics import Problem
from prosa.rules.mdh.site import sites
from prosa.rules.subject import Corpus


def check_corpus(corpus: Corpus) -> Iterator[tuple[Path, Problem]]:
    """At the id of the first node."""
    for site in sites(corpus) if corpus.complete else ():
        page = site.names.get("/")
        if page is None or not page.is_node:
            first = site.nodes[0]
            message = "the site has no node at `/`, where agents begin to read"
            notes = (f"write an `index.md` with `id`, `type` and `title` in {site.root.name or '/'}",)
            yield first.real, Problem("site-without-root", message, first.anchor, notes)
