"""Where links and pictures of a document lead on its page (H3, HA5, HA6). In: destinations as written. Out: URLs.

A link to the file of a document becomes the URL of its node, so that a page leads to pages. Pictures are shown from
the site itself only: a page asks no other host for anything.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from urllib.parse import quote

from prosa.app.site.around import edges_from
from prosa.app.site.live import LiveSite
from prosa.dialects.mdh.url import SUFFIXES, resolve
from prosa.site import layout
from prosa.site.assets import PICTURES, suffix_of
from prosa.site.view import NodeView

_SAFE = "/!$&'()*+,;=:@-._~"
_WIKI = "[["


@dataclass(frozen=True, slots=True)
class Resolver:
    """Resolves the destinations of one document. ``known`` are its wikilinks by their target as written."""

    site: LiveSite
    view: NodeView
    prefix: str
    known: Mapping[str, str] = field(default_factory=dict)

    def link(self, href: str) -> str:
        """The URL of a link; empty for one that leads nowhere a page may lead."""
        if href.startswith(_WIKI):
            return self.known.get(wiki_target(href), "")
        if href.startswith("#") or not href:
            return href
        found = resolve(f"/{self.view.path}" if self.view.path else self.view.url, href)
        if found.origin:
            return href if found.origin.startswith(("http", "mailto:", "//")) else ""
        rest = _rest(href)
        return f"{self.prefix}{self._url(self._inside(found.path))}{rest}"

    def embed(self, src: str) -> str:
        """The URL of a picture of this site; empty for any other."""
        if src.startswith("data:"):
            return src
        found = resolve(f"/{self.view.path}" if self.view.path else self.view.url, src)
        inside = self._inside(found.path)
        path = inside[1:]
        if found.origin or suffix_of(path) not in PICTURES or self.site.place(path) is None:
            return ""
        return self.prefix + quote(inside, safe=_SAFE)

    def _inside(self, path: str) -> str:
        """A path without the prefix of the site, which an author may write or leave out."""
        return path[len(self.prefix) :] if self.prefix and path.startswith(f"{self.prefix}/") else path

    def _url(self, path: str) -> str:
        """The URL path of what a path leads to: a node, or as it is."""
        for wanted in layout.asked(path).wanted:
            row = self.site.catalogue.by_path.get(wanted.path)
            if row is not None:
                return row.url
        is_cold = not self.site.is_ready and path.lower().endswith(SUFFIXES)
        return layout.url_of(path[1:]) if is_cold else quote(path, safe=_SAFE)


def resolver_of(site: LiveSite, view: NodeView, prefix: str) -> Resolver:
    """The resolver of a node's page."""
    if not site.is_ready or view.reading is None or _WIKI not in view.reading.front.source.text:
        return Resolver(site, view, prefix)
    text, known = view.reading.front.source.text, dict[str, str]()
    for edge in edges_from(site, view.path):
        row = site.catalogue.by_node.get(edge.target) if edge.resolved and edge.origin == "wikilink" else None
        if row is not None:
            fragment = f"#{quote(edge.fragment)}" if edge.fragment else ""
            known[wiki_target(text[edge.start : edge.end])] = f"{prefix}{row.url}{fragment}"
    return Resolver(site, view, prefix, known)


def wiki_target(written: str) -> str:
    """The target of `[[target#part|label]]`, or of a piece of it."""
    return written.strip("!").strip("[]").partition("|")[0].strip()


def _rest(href: str) -> str:
    """The query and the fragment of a destination."""
    at = min((place for place in (href.find("?"), href.find("#")) if place >= 0), default=len(href))
    return href[at:]
