"""Absolute URLs as names: one spelling for addresses that mean the same document (RFC 3986 section 6).

In: an absolute URL as written. Out: it without fragment, scheme and host in lower case, no slash at its end.
"""

from __future__ import annotations

import re

_HTTP = re.compile(r"(https?:)?(//[^/?#\s]+)([^#\s]*)", re.IGNORECASE)


def address(url: str) -> str:
    """The address that a URL names, or an empty text for what is fetched in no way that documents are."""
    found = _HTTP.match(url.strip())
    if found is None:
        return ""
    path = found[3] if "?" in found[3] else found[3].rstrip("/")
    return f"{(found[1] or 'https:').lower()}{found[2].lower()}{path}"
