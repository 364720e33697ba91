"""URLs as text: what may stand in a path, origins (RFC 6454), one spelling of each (RFC 3986, section 6).

In: paths, hosts and URLs. Out: URLs, parts of them, or ValueError. No network access.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING
from urllib.parse import parse_qsl, quote, urlencode, urljoin, urlsplit

from msgspec import Struct

from prosa.regex import regex

if TYPE_CHECKING:
    from ipaddress import IPv4Address, IPv6Address

SEGMENT_SAFE = "!$&'()*+,;=:@-._~"
"""What RFC 3986 allows unescaped in a path segment; everything else is percent-encoded."""

PATH_SAFE = f"/{SEGMENT_SAFE}"
"""What is allowed unescaped in a path."""

ESCAPED_SAFE = f"{PATH_SAFE}%"
"""The same for a path whose existing escapes are kept."""

EMBEDDED_SERVICE = "embedded:"
"""Prefix of a model name in place of a base URL, for a model that runs in a process of Prosa (X35)."""

MAX_URL = 16_384
"""Maximum length of a URL with its query: servers do not read longer ones."""

_PORTS = {"http": 80, "https": 443}
_ODD = regex(r'[\x00- \\\x7f<>"]')
_HTTP = regex(r"(https?://[^/?#\s]+)", re.IGNORECASE)
_AUTHORITY = regex(r"https?://[^/?#]+", re.IGNORECASE)
_NORMAL = regex(r"(https?://[a-z0-9.:-]+)/[A-Za-z0-9._~!$&'()*+,;=:@/-]*")
_ADDRESS = regex(r"(https?:)?(//[^/?#\s]+)([^#\s]*)", re.IGNORECASE)
_RELATIVE_SAFE = PATH_SAFE.replace("&", "").replace(":", "")
_ESCAPE = regex("%([0-9A-Fa-f]{2})")
_UNRESERVED = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")

KEPT = 256
"""Origins that are kept: the links of a page are compared with its own again and again."""


def quoted_path(path: str) -> str:
    """Return the path of a file or a node for a URL, percent-encoded as UTF-8."""
    return quote(path, safe=PATH_SAFE, errors="replace")


def quoted_relative(path: str) -> str:
    """Return the same for a URL relative to a document: a colon in it must not start a scheme, nor `&` an HTML
    reference."""
    return quote(path, safe=_RELATIVE_SAFE, errors="replace")


def requoted_path(path: str) -> str:
    """Return a path of a URL with everything escaped that no path may hold; its own escapes stay."""
    return quote(path, safe=ESCAPED_SAFE, errors="replace")


class Origin(Struct, frozen=True):
    """Scheme, host and port, in lower case, the port always written out."""

    scheme: str
    host: str
    port: int

    def __str__(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{self.scheme}://{host}" + ("" if _PORTS[self.scheme] == self.port else f":{self.port}")

    @property
    def is_loopback(self) -> bool:
        """Return whether the host names this machine literally: `localhost`, or a loopback address. One wrapped in an
        IPv6 address does not count, because that form hides it (X8)."""
        return is_loopback(self.host) and not _is_wrapped(self.host)

    @property
    def keeps_secrets(self) -> bool:
        """Return whether a credential may be sent there: over TLS, or without leaving this machine (X8)."""
        return self.scheme == "https" or self.is_loopback


def origin_of(url: str) -> Origin:
    """Return the origin of an http or https URL. Raises ValueError, in words, for any other text, and for one that
    carries a name or a password, which would travel in the open and be taken for a host by people."""
    if _ODD.search(url):
        raise ValueError("must not have white space, control characters or backslashes")
    match = _AUTHORITY.match(url)
    return _origin(match[0] if match else url)


def secret_origin(written: str) -> Origin:
    """Return the origin that a credential is bound to. Raises ValueError, in words, for what is no origin alone, and
    for one on the way to which a credential could be overheard (X8)."""
    origin = origin_of(written)
    if written.partition("://")[2].partition("/")[2]:
        raise ValueError("must be an origin, without a path")
    if not origin.keeps_secrets:
        raise ValueError("must begin with `https://`: nothing secret is sent over plain http to another machine")
    return origin


def is_on_this_machine(service: str | None) -> bool:
    """Return whether no service beyond this machine answered: there was none, or it is embedded, or on loopback."""
    if not service or service.startswith(EMBEDDED_SERVICE):
        return True
    try:
        return is_loopback(urlsplit(service).hostname or "")
    except ValueError:
        return False


@lru_cache(maxsize=KEPT)
def _origin(url: str) -> Origin:
    """Return the origin of a URL without odd characters; its path does not matter."""
    try:
        parts = urlsplit(url)
        host, port = parts.hostname, parts.port
    except ValueError:
        raise ValueError("is not a URL: its host or port cannot be read") from None
    scheme = parts.scheme.lower()
    if scheme not in _PORTS or not host:
        raise ValueError("must be a URL that begins with `https://` or `http://` and names a host")
    if "@" in parts.netloc:
        raise ValueError("must not carry a name or a password")
    if "%" in host or "{" in host:
        raise ValueError("must have a host without `%` and braces")
    return Origin(scheme, host.lower(), _PORTS[scheme] if port is None else port)


def http_origin(url: str) -> str:
    """Return the `https://host` of an absolute URL in lower case, or an empty text for any other. Never raises."""
    http = _HTTP.match(url)
    return http[1].lower() if http else ""


def is_loopback(host: str) -> bool:
    """Return whether a host is this machine by its very name: `localhost`, or a loopback address in any of its
    spellings."""
    if host == "localhost":
        return True
    address = _address(host)
    return address is not None and (getattr(address, "ipv4_mapped", None) or address).is_loopback


def _is_wrapped(host: str) -> bool:
    """Return whether a host is an IPv4 address inside an IPv6 one."""
    return getattr(_address(host), "ipv4_mapped", None) is not None


def _address(host: str) -> IPv4Address | IPv6Address | None:
    """Return the address that a host is, None for a name."""
    from ipaddress import ip_address  # only here: hardly a URL has one

    try:
        return ip_address(host.partition("%")[0])
    except ValueError:
        return None


def address_key(url: str) -> str:
    """Return the key under which addresses of one document are equal: no fragment, scheme and host in lower case, no
    trailing slash. Empty for schemes that documents are not fetched with."""
    match = _ADDRESS.match(url.strip())
    if match is None:
        return ""
    path = match[3] if "?" in match[3] else match[3].rstrip("/")
    return f"{(match[1] or 'https:').lower()}{match[2].lower()}{path}"


def normal_url(url: str) -> str:
    """Return the one spelling of a URL, so that it can be compared: scheme and host in lower case, no default port,
    `/` for an empty path, no fragment, other characters escaped. Raises ValueError for a URL that cannot be fetched."""
    if is_normal(url):
        return url
    origin, parts = origin_of(url), urlsplit(url)
    path = normal_path(parts.path or "/")
    if not {".", ".."}.isdisjoint(path.split("/")):
        path = urlsplit(urljoin(f"{origin}/", f".{path}")).path
    query = urlencode(parse_qsl(parts.query, keep_blank_values=True), safe="*", quote_via=quote)
    normalized = f"{origin}{path}" + (f"?{query}" if query else "")
    if len(normalized) > MAX_URL:
        raise ValueError(f"must not be longer than {MAX_URL:,} characters")
    return normalized


def is_normal(url: str) -> bool:
    """Return whether a URL is one of those, by far the most, that can be seen to have their one spelling already."""
    match = _NORMAL.fullmatch(url)
    if match is None or "/." in url or len(url) > MAX_URL:
        return False
    try:
        return _spelt(match[1]) == match[1]
    except ValueError:
        return False


@lru_cache(maxsize=KEPT)
def _spelt(origin: str) -> str:
    return str(_origin(origin))


def normal_path(path: str) -> str:
    """Return a path in its one spelling: what needs an escape has one, in capital letters, and nothing else has (RFC
    3986, section 6.2.2)."""
    return _ESCAPE.sub(_plain, quote(path, safe=f"{ESCAPED_SAFE}?*", errors="replace"))


def path_of(url: str) -> str:
    """Return the path of a URL as it is sent, with its query."""
    parts = urlsplit(url)
    return (parts.path or "/") + (f"?{parts.query}" if parts.query else "")


def _plain(escape: re.Match[str]) -> str:
    character = chr(int(escape[1], 16))
    return character if character in _UNRESERVED else escape[0].upper()
