"""`inline-link-to-no-node`: a link to something on the site that is there and is no node (H21 MUST 3, HA5)."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from prosa.diagnostics import Problem
from prosa.dialects.fields import shown
from prosa.rules.mdh.site import Site, sites, span_of
from prosa.rules.subject import Corpus

_NOTE = "an agent that follows it finds no front matter with links and actions"


def check_corpus(corpus: Corpus) -> Iterator[tuple[Path, Problem]]:
    """At the destination."""
    for site in sites(corpus):
        for page in site.nodes:
            for href, span in page.facts.extra.get("links", ()):
                path = site.path(page, href)
                what = _what(path, site) if path is not None else None
                if what is not None:
                    message = f"the link `{shown(href)}` leads to {what}, not to a node"
                    yield page.real, Problem("inline-link-to-no-node", message, span_of(span), (_NOTE,))


def _what(path: str, site: Site) -> str | None:
    page = site.names.get(path)
    if page is None:
        return site.leads.what(path)
    return None if page.is_node else "a document without `id` and `type`"
