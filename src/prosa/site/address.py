"""URLs in one spelling, and the plain GET of one (H1). In: a URL. Out: the same as it is asked for, or ValueError.

Scheme and host are in lower case, a port that says nothing is gone, an empty path is `/`, other characters are escaped.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from urllib.parse import parse_qsl, quote, urldefrag, urljoin, urlsplit

from prosa.site.origin import origin_of
from prosa.site.request import MAX_URL, SAFE, Request

_ESCAPE = re.compile("%([0-9A-Fa-f]{2})")
_UNRESERVED = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")


def get_request(url: str, accept: str, headers: Mapping[str, str] | None = None) -> Request:
    """The GET of a URL, without its fragment."""
    where, _, query = urldefrag(url)[0].partition("?")
    return Request("GET", where, tuple(parse_qsl(query, keep_blank_values=True)), {"Accept": accept, **(headers or {})})


def normal_url(url: str) -> str:
    """The one spelling of a URL, so that it can be compared. Raises ValueError for what no site can be asked."""
    origin, parts = origin_of(url), urlsplit(url)
    path = normal_path(parts.path or "/")
    if not {".", ".."}.isdisjoint(path.split("/")):
        path = urlsplit(urljoin(f"{origin}/", f".{path}")).path
    found = get_request(f"{origin}{path}" + (f"?{parts.query}" if parts.query else ""), "").address()
    if len(found) > MAX_URL:
        raise ValueError(f"must not be longer than {MAX_URL:,} characters")
    return found


def normal_path(path: str) -> str:
    """A path in its one spelling: what needs an escape has one, in capital letters, and nothing else has
    (RFC 3986, section 6.2.2)."""
    return _ESCAPE.sub(_plain, quote(path, safe=SAFE + "?*", errors="replace"))


def path_of(url: str) -> str:
    """The path of a URL as it is sent, with its query."""
    parts = urlsplit(url)
    return (parts.path or "/") + (f"?{parts.query}" if parts.query else "")


def _plain(escape: re.Match[str]) -> str:
    character = chr(int(escape[1], 16))
    return character if character in _UNRESERVED else escape[0].upper()
