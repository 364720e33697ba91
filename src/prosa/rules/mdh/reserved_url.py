"""`reserved-url`: a document whose URL belongs to the site itself (H7, HA1)."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from prosa.diagnostics import Problem
from prosa.dialects.mdh.url import is_reserved
from prosa.rules.mdh.site import sites
from prosa.rules.subject import Corpus


def check_corpus(corpus: Corpus) -> Iterator[tuple[Path, Problem]]:
    """At the id of the node; at the beginning of another document."""
    for site in sites(corpus):
        for page in site.pages:
            if is_reserved(page.url):
                part = f"/{page.url[1:].partition('/')[0]}"
                message = f"`{page.url}` cannot be read: `{part}` belongs to the site itself"
                notes = ("a server answers there with its own indexes; rename the file or its folder",)
                yield page.real, Problem("reserved-url", message, page.anchor, notes)
