"""Links between the nodes of a site, in front matter and body."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from urllib.parse import quote

from prosa.diagnostics import Applicability, Fix, Misspelling, Severity
from prosa.diagnostics.nearest import nearest
from prosa.dialects.fields import shown
from prosa.rules.mdh import RULES
from prosa.rules.mdh.site import Page, Site, neighbours, sites, span_of
from prosa.rules.rule import Finding
from prosa.rules.subject import Corpus
from prosa.source import Edit, Span

MAX_SUGGESTIONS = 100
"""Links of one check that are compared with similar URLs; comparing is slow."""


@RULES.corpus("MH051", "unresolved-inline-link", Severity.ERROR)
def unresolved_inline_link(corpus: Corpus) -> Iterator[tuple[Path, Finding]]:
    """Find a link of the body that leads to nothing on its site (H21 MUST 3, H3, HA5, HA6). The finding points at the
    destination. It is silent unless all documents of the site are known."""
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
                yield page.real, Finding(message, span_of(span), notes, misspelling=meant)


_NO_NODE_NOTE = "an agent that follows it finds no front matter with links and actions"


@RULES.corpus("MH052", "inline-link-to-no-node", Severity.INFO)
def inline_link_to_no_node(corpus: Corpus) -> Iterator[tuple[Path, Finding]]:
    """Find a link to something on the site that is there and is no node (H21 MUST 3, HA5). The finding points at the
    destination."""
    for site in sites(corpus):
        for page in site.nodes:
            for href, span in page.facts.extra.get("links", ()):
                path = site.path(page, href)
                what = _what(path, site) if path is not None else None
                if what is not None:
                    message = f"the link `{shown(href)}` leads to {what}, not to a node"
                    yield page.real, Finding(message, span_of(span), (_NO_NODE_NOTE,))


def _what(path: str, site: Site) -> str | None:
    page = site.names.get(path)
    if page is None:
        return site.leads.what(path)
    return None if page.is_node else "a document without `id` and `type`"


MAX_SUGGESTED_IDS = 100
"""Targets of one check that are compared with similar ids; comparing is slow."""


@RULES.corpus("MH053", "unresolved-link-target", Severity.WARNING)
def unresolved_link_target(corpus: Corpus) -> Iterator[tuple[Path, Finding]]:
    """Find a link of the front matter whose node is not in the site (H10, HA4, HA22). The finding points at the target.
    It is silent unless all documents of the site are known."""
    left = MAX_SUGGESTED_IDS
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
                    Finding(
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
    """Return what to do, and the target that was most likely meant."""
    if kind != "id":
        guess = site.like(target)
    elif target in other_names:
        return f"that is another name of the node `{other_names[target]}`; a target is an id", None
    else:
        guess = nearest(target, site.by_id)
    return (f"did you mean `{guess}`?" if guess else "a target is the id of a node, or `url:` and a URL"), guess


def _other_names(site: Site) -> Mapping[str, str]:
    """Return titles and aliases, and the ids behind them (HA22: they find, they do not resolve)."""
    return {each.name: page.id for page in site.nodes if page.id for each in page.facts.defs if each.kind != "id"}


@RULES.corpus("MH060", "wikilink-in-node", Severity.WARNING)
def wikilink_in_node(corpus: Corpus) -> Iterator[tuple[Path, Finding]]:
    """Find a wikilink, which no client of a site follows (H3, HA22). The finding points at the wikilink. Where exactly
    one node has that id, title or alias, a fix writes the link to it."""
    for pages in neighbours(corpus):
        names = _urls_by_name(pages)
        for page in pages:
            for target, label, fragment, embed, pair in page.facts.extra.get("wikilinks", ()):
                span = span_of(pair)
                url = names.get(target.strip().lower(), "")
                fix = _as_link(url, label or target, fragment, span) if url and not embed else None
                message = f"the wikilink to `{shown(target)}` is no link for the readers of a site"
                notes = () if fix else ("write `[text](/path)` with the URL of the node",)
                yield page.real, Finding(message, span, notes, fix=fix)


def _urls_by_name(pages: tuple[Page, ...]) -> Mapping[str, str]:
    """Return URLs by id, title, alias and own path, in lower case; empty for a name that several nodes have."""
    found: dict[str, str] = {}
    for page in pages:
        own = {each.name.lower() for each in page.facts.defs} | {page.url.lower()}
        for name in own:
            found[name] = page.url if found.get(name, page.url) == page.url else ""
    return found


def _as_link(url: str, text: str, fragment: str | None, span: Span) -> Fix:
    label = text.replace("\\", "\\\\").replace("[", "\\[").replace("]", "\\]")
    anchor = f"#{quote(fragment)}" if fragment else ""
    edit = Edit(span, f"[{label}]({url.replace('(', '%28').replace(')', '%29')}{anchor})")
    return Fix(f"write it as a link to `{url}`", (edit,), Applicability.UNSAFE)
