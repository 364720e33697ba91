"""`unusable-route`: a record cannot live at the route that it asks for (Y12, H7)."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from prosa.diagnostics import Problem
from prosa.dialects.fields import shown
from prosa.dialects.mdh.url import md_url, route_url, standing_readmes
from prosa.rules.mdh.site import sites, span_of, top_of
from prosa.rules.subject import Corpus

_FORM = (
    "a route is an absolute path such as `/weather/fog`, without suffix, `?`, `#` and `%`, and no part of it is hidden"
)


def check_corpus(corpus: Corpus) -> Iterator[tuple[Path, Problem]]:
    """At the route. Whatever lives at a URL by its file keeps it; of several records the first by path has it."""
    for named in _sites(corpus):
        readmes = standing_readmes(set(named))
        owners = {md_url(name, stands=name in readmes): name for name in named}
        for name in sorted(named):
            facts = corpus.entries[named[name]].extra
            route = facts.get("route")
            if route is None or (url := route_url(str(route))) == md_url(name):
                continue
            if not url:
                message, note = f"`{shown(str(route))}` is no URL that a record may have", _FORM
            elif (owner := owners.setdefault(url, name)) != name:
                message = f"`{shown(str(route))}` is the URL of {owner} too"
                note = "a site can give only one of them; this record stays at the URL of its file"
            else:
                continue
            yield named[name], Problem("unusable-route", message, span_of(facts["route_at"]), (note,))


def _sites(corpus: Corpus) -> Iterator[dict[str, Path]]:
    """The documents of every site by their paths below its root, and all others below the root of the corpus. Where
    nobody knows the root, each document is alone."""
    placed: set[Path] = set()
    for site in sites(corpus):
        placed.update(page.real for page in site.pages)
        yield {page.name: page.real for page in site.pages}
    others = [real for real in corpus.entries if real not in placed]
    root = "" if corpus.rooted == "guessed" else top_of(corpus)
    inside = {real.as_posix()[len(root) :]: real for real in others if root and real.as_posix().startswith(root)}
    alone = set(others).difference(inside.values())
    yield inside
    yield from ({real.name: real} for real in others if real in alone)
