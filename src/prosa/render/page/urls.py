"""Addresses allowed in a page. In: a URL from a document or from the site. Out: the URL, or an empty text.

A browser drops blank space and control characters in a URL before it reads the scheme, and so does this module.
"""

from __future__ import annotations

import re
from urllib.parse import quote

from prosa.regex import regex
from prosa.render.page.model import Frame

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
