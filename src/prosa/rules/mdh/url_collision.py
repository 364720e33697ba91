"""`url-collision`: two documents of a site that live at one URL (H7, H21 MUST 1)."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from urllib.parse import unquote

from prosa.diagnostics import Problem
from prosa.rules.mdh.site import Page, sites
from prosa.rules.subject import Corpus


def check_corpus(corpus: Corpus) -> Iterator[tuple[Path, Problem]]:
    """At the id of the later one, or of the one of them that is a node."""
    for site in sites(corpus):
        first: dict[str, Page] = {}
        for page in site.pages:
            earlier = first.setdefault(unquote(page.url).rstrip("/"), page)
            if earlier is page or not (page.is_node or earlier.is_node):
                continue
            at, other = (page, earlier) if page.is_node else (earlier, page)
            message = f"`{at.url}` is the URL of {other.facts.path} too (MDH conformance, MUST 1)"
            notes = ("a server can give only one of them; rename a file",)
            yield at.real, Problem("url-collision", message, at.anchor, notes)
