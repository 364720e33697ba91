"""The data of a page, as plain values: the caller decides what may be shown. And the addresses that a page may have.

A browser drops blank space and control characters in a URL before it reads the scheme, and so does this module.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import NamedTuple
from urllib.parse import quote

from msgspec import Struct, field

from prosa.document import Document
from prosa.regex import regex
from prosa.site.discovery import Link
from prosa.site.layout import Neighbourhood, NodeView
from prosa.site.navigation import Shown
from prosa.site.wikilinks import WikiHref, as_written
from prosa.source import Span

Href = Callable[[str], str]
"""Returns the link in the page for a destination in a document; an empty text for one that is no link."""


class Frame(Struct, frozen=True):
    """The data shared by all pages of a site.

    ``name`` is the title of the site, ``prefix`` its path (no slash at the end, empty at the root), ``origin`` its
    `https://host`, empty if unknown. ``live`` is False for static files. ``can_run`` is true if scripts and programs
    run here, ``signed_in`` if this reader may start them; ``csrf`` is the token of the forms. ``more`` are notices for
    the reader, as plain text. ``of_documents`` is False where the pages show no corpus, which is searched and drawn.
    ``links`` lead to what agents look for.
    """

    name: str
    prefix: str = ""
    origin: str = ""
    live: bool = True
    can_run: bool = False
    signed_in: bool = False
    csrf: str = ""
    more: tuple[str, ...] = ()
    of_documents: bool = True
    links: tuple[Link, ...] = ()


class Crumb(NamedTuple):
    """A step of the way from the root of the site to a node: its title and URL, which is empty for a heading."""

    title: str
    url: str


class Excerpt(NamedTuple):
    """A quoted part of another document: its ``path``, the title and URL of its node, and the ``page`` that
    resolves its links."""

    path: str
    title: str
    url: str
    document: Document
    span: Span
    page: Page


ExcerptOf = Callable[[str], Excerpt | None]
"""Returns the content for the text between the brackets of an embed; None if it is only linked."""


def no_excerpt(_: str) -> Excerpt | None:
    """Nothing is quoted."""
    return None


class Page(Struct, frozen=True):
    """A node as a page. ``neighbourhood`` is None while the graph is being built. ``link`` resolves targets of links,
    ``embed`` those of images, ``wiki`` wikilinks, ``excerpt`` embedded documents. ``vault`` is true in an Obsidian
    vault; ``blocks`` are the ids of its blocks that others point at. ``nav`` are the pages of the site in the order of
    the sidebar, ``before`` and ``behind`` the previous and next one."""

    frame: Frame
    view: NodeView
    link: Href
    embed: Href
    neighbourhood: Neighbourhood | None = None
    crumbs: tuple[Crumb, ...] = ()
    wiki: WikiHref = as_written
    excerpt: ExcerptOf = no_excerpt
    vault: bool = False
    blocks: frozenset[str] = frozenset()
    nav: tuple[Shown, ...] = ()
    before: Crumb | None = None
    behind: Crumb | None = None


class SearchHit(Struct, frozen=True):
    """A hit of a search: plain texts; ``marks`` are pairs of offsets in ``snippet``."""

    title: str
    url: str
    heading: str
    snippet: str
    marks: tuple[tuple[int, int], ...] = ()


class SearchPage(Struct, frozen=True):
    """The answer to a query. ``ready`` is False while the index is being built; ``complaint`` is the problem of
    the query."""

    frame: Frame
    query: str
    hits: tuple[SearchHit, ...] = ()
    ready: bool = True
    complaint: str = ""


class MessagePage(Struct, frozen=True):
    """A page with only a message: an error, or a confirmation. ``rows`` are further links, ``markdown`` is the
    text of a model."""

    frame: Frame
    title: str
    text: str
    rows: tuple[Crumb, ...] = field(default_factory=tuple)
    markdown: str = ""


SCHEMES = frozenset({"http", "https", "mailto"})
"""Allowed prefixes of a link; anything else is a path, or no link."""

_IGNORED = regex(r"[\x00-\x20\x7f]+")
_SCHEME = regex(r"([A-Za-z][A-Za-z0-9+.-]*):")
_PICTURE = regex(r"data:image/(?:png|jpeg|gif|webp);base64,[A-Za-z0-9+/=\s]*", re.IGNORECASE)


def link_url(url: str) -> str:
    """Return a URL for `href`; empty for one with a scheme that no link may have."""
    scheme = _SCHEME.match(_IGNORED.sub("", url))
    return url if scheme is None or scheme[1].lower() in SCHEMES else ""


def picture_url(url: str) -> str:
    """Return a URL for `src`. Data is a bitmap in Base64; a drawing could hold a script."""
    bare = _IGNORED.sub("", url)
    scheme = _SCHEME.match(bare)
    if scheme is None or scheme[1].lower() in ("http", "https"):
        return url
    return bare if _PICTURE.fullmatch(bare) else ""


def is_external(url: str) -> bool:
    """Return whether a URL names a host, or a program beside the browser."""
    bare = _IGNORED.sub("", url).replace("\\", "/")
    return bare.startswith("//") or _SCHEME.match(bare) is not None


def site_url(frame: Frame, url: str) -> str:
    """Return a URL of a node as a link: a path gets the prefix of the site."""
    return link_url(f"{frame.prefix}{url}" if url.startswith("/") else url)


def in_query(text: str) -> str:
    """Return a text as the value of a query parameter."""
    return quote(text.encode("utf-8", "replace"), safe="")


def fragment(anchor: str) -> str:
    """Return a link to a place in the same page."""
    return f"#{quote(anchor.encode('utf-8', 'replace'), safe=':_-.~')}"
