"""Origins of URLs (RFC 6454): which requests stay on a site, which hosts are this machine. Text alone, no look-up."""

from __future__ import annotations

import re
from functools import lru_cache
from ipaddress import ip_address
from typing import NamedTuple
from urllib.parse import urlsplit

_PORTS = {"http": 80, "https": 443}
_ODD = re.compile(r'[\x00- \\\x7f<>"]')

KEPT = 256
"""Origins that are kept: the links of a page are compared with its own again and again."""


class Origin(NamedTuple):
    """Scheme, host and port, in lower case, the port always written out."""

    scheme: str
    host: str
    port: int

    def __str__(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{self.scheme}://{host}" + ("" if _PORTS[self.scheme] == self.port else f":{self.port}")

    @property
    def is_loopback(self) -> bool:
        """Whether the host is this machine by its very name: `localhost`, or a loopback address."""
        if self.host == "localhost":
            return True
        try:
            return ip_address(self.host).is_loopback
        except ValueError:
            return False

    @property
    def keeps_secrets(self) -> bool:
        """Whether a credential may travel there: over TLS, or without leaving this machine (X8)."""
        return self.scheme == "https" or self.is_loopback


@lru_cache(maxsize=KEPT)
def origin_of(url: str) -> Origin:
    """The origin of an http or https URL. Raises ValueError, in words, for any other text, and for one that carries a
    name or a password, which would travel in the open and be taken for a host by people."""
    if _ODD.search(url):
        raise ValueError("must not have white space, control characters or backslashes")
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
