"""What a page is made of. Plain values: whoever fills them has decided what may be seen."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from msgspec import Struct, field

from prosa.document import Document
from prosa.site.navigation import Shown
from prosa.site.view import Around, NodeView
from prosa.site.wikilinks import WikiHref, as_written
from prosa.source import Span

Href = Callable[[str], str]
"""From a destination as written in a document to what the page says; an empty text for one that is no link."""


class Frame(Struct, frozen=True):
    """What all pages of a site share.

    ``name`` is the title of the site, ``prefix`` the path it lives under (no slash at the end, empty at the root),
    ``origin`` its `https://host`, empty where nobody said. ``live`` is False for static files. ``can_run`` says that
    scripts and programs run here, ``signed_in`` that this reader may start them; ``csrf`` is the token of the forms.
    ``more`` are notices for the reader, as plain text.
    """

    name: str
    prefix: str = ""
    origin: str = ""
    live: bool = True
    can_run: bool = False
    signed_in: bool = False
    csrf: str = ""
    more: tuple[str, ...] = ()


class Crumb(NamedTuple):
    """A step of the way from the root of the site to a node: its title and URL, which is empty for a heading."""

    title: str
    url: str


class Excerpt(NamedTuple):
    """A part of another document, to be quoted: its ``path``, the title and URL of its node, and the ``page`` that
    resolves what it points at."""

    path: str
    title: str
    url: str
    document: Document
    span: Span
    page: Page


ExcerptOf = Callable[[str], Excerpt | None]
"""From what stands between the brackets of an embed to what it shows; None for what is only linked to."""


def no_excerpt(_: str) -> Excerpt | None:
    """Nothing is quoted."""
    return None


class Page(Struct, frozen=True):
    """A node as a page. ``around`` is None while the graph is being built. ``link`` resolves destinations of links,
    ``embed`` those of images, ``wiki`` wikilinks, ``excerpt`` what they embed. ``vault`` says that the document lies
    in an Obsidian vault; ``blocks`` are the ids of its blocks that others point at. ``nav`` are the pages of the site
    in order, as they are listed beside this one, ``before`` and ``behind`` those next to it."""

    frame: Frame
    view: NodeView
    link: Href
    embed: Href
    around: Around | None = None
    crumbs: tuple[Crumb, ...] = ()
    wiki: WikiHref = as_written
    excerpt: ExcerptOf = no_excerpt
    vault: bool = False
    blocks: frozenset[str] = frozenset()
    nav: tuple[Shown, ...] = ()
    before: Crumb | None = None
    behind: Crumb | None = None


class Found(Struct, frozen=True):
    """A hit of a search: plain texts; ``marks`` are pairs of offsets in ``snippet``."""

    title: str
    url: str
    heading: str
    snippet: str
    marks: tuple[tuple[int, int], ...] = ()


class SearchPage(Struct, frozen=True):
    """The answer to a query. ``ready`` is False while the index is being built; ``complaint`` says what is wrong with
    the query."""

    frame: Frame
    query: str
    hits: tuple[Found, ...] = ()
    ready: bool = True
    complaint: str = ""


class MessagePage(Struct, frozen=True):
    """A page that only says something: an error, or that something is done. ``rows`` are further links, ``markdown`` is
    what a model wrote."""

    frame: Frame
    title: str
    text: str
    rows: tuple[Crumb, ...] = field(default_factory=tuple)
    markdown: str = ""
