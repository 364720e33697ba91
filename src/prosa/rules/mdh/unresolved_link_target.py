"""`unresolved-link-target`: a link of the front matter whose node is not in the site (H10, HA4, HA22)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

from prosa.diagnostics import Misspelling, Problem
from prosa.diagnostics.nearest import nearest
from prosa.dialects.fields import shown
from prosa.rules.mdh.site import Page, Site, sites, span_of
from prosa.rules.subject import Corpus

MAX_SUGGESTIONS = 100
"""Targets of one check for which a similar id is looked up; comparing is slow."""


def check_corpus(corpus: Corpus) -> Iterator[tuple[Path, Problem]]:
    """At the target. Only where all documents of the site are known."""
    left = MAX_SUGGESTIONS
    for site in sites(corpus) if corpus.complete else ():
        other_names = _other_names(site)
        for page in site.nodes:
            for kind, target, span in page.facts.extra.get("targets", ()):
                if _resolves(kind, target, page, site):
                    continue
                left -= 1
                note, guess = _note(kind, target, site, other_names) if left >= 0 else ("", None)
                what = "no node of the site has the id" if kind == "id" else "nothing of the site is at"
                yield (
                    page.real,
                    Problem(
                        "unresolved-link-target",
                        f"{what} `{shown(target)}`",
                        span_of(span),
                        (note,) if note else (),
                        misspelling=Misspelling(target, guess) if guess else None,
                    ),
                )


def _resolves(kind: str, target: str, page: Page, site: Site) -> bool:
    if kind == "id":
        return target in site.by_id
    path = site.path(page, target)
    return path is None or path in site.names or site.leads.what(path) is not None


def _note(kind: str, target: str, site: Site, other_names: Mapping[str, str]) -> tuple[str, str | None]:
    """What to do, and the target that was most likely meant."""
    if kind != "id":
        guess = site.like(target)
    elif target in other_names:
        return f"that is another name of the node `{other_names[target]}`; a target is an id", None
    else:
        guess = nearest(target, site.by_id)
    return (f"did you mean `{guess}`?" if guess else "a target is the id of a node, or `url:` and a URL"), guess


def _other_names(site: Site) -> Mapping[str, str]:
    """Titles and aliases, and the ids behind them (HA22: they find, they do not resolve)."""
    return {each.name: page.id for page in site.nodes if page.id for each in page.facts.defs if each.kind != "id"}
