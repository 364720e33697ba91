"""`wikilink-in-node`: a wikilink, which no client of a site follows (H3, HA22)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from urllib.parse import quote

from prosa.diagnostics import Applicability, Fix, Problem
from prosa.dialects.fields import shown
from prosa.rules.mdh.site import Page, neighbours, span_of
from prosa.rules.subject import Corpus
from prosa.source import Edit, Span


def check_corpus(corpus: Corpus) -> Iterator[tuple[Path, Problem]]:
    """At the wikilink. Where exactly one node has that id, title or alias, a fix writes the link to it."""
    for pages in neighbours(corpus):
        names = _names(pages)
        for page in pages:
            for target, label, fragment, embed, pair in page.facts.extra.get("wikilinks", ()):
                span = span_of(pair)
                url = names.get(target.strip().lower(), "")
                fix = _fix(url, label or target, fragment, span) if url and not embed else None
                message = f"the wikilink to `{shown(target)}` is no link for the readers of a site"
                notes = () if fix else ("write `[text](/path)` with the URL of the node",)
                yield page.real, Problem("wikilink-in-node", message, span, notes, fix=fix)


def _names(pages: tuple[Page, ...]) -> Mapping[str, str]:
    """URLs by id, title, alias and own path, in lower case; empty for a name that several nodes have."""
    found: dict[str, str] = {}
    for page in pages:
        own = {each.name.lower() for each in page.facts.defs} | {page.url.lower()}
        for name in own:
            found[name] = page.url if found.get(name, page.url) == page.url else ""
    return found


def _fix(url: str, text: str, fragment: str | None, span: Span) -> Fix:
    label = text.replace("\\", "\\\\").replace("[", "\\[").replace("]", "\\]")
    anchor = f"#{quote(fragment)}" if fragment else ""
    edit = Edit(span, f"[{label}]({url.replace('(', '%28').replace(')', '%29')}{anchor})")
    return Fix(f"write it as a link to `{url}`", (edit,), Applicability.UNSAFE)
