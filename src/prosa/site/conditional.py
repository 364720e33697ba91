"""Conditional requests (RFC 9110 section 13, H18): the tag of a form, and whether a client already has it. Pure."""

from __future__ import annotations

import hashlib

from prosa.regex import regex

MAX_TAGS = 8_192
"""Characters of `If-None-Match` that are read."""

_TAG = regex(r'(?:W/)?("[\x21\x23-\x7e\x80-\xff]*")')


def entity_tag(content: bytes, kind: str = "") -> str:
    """Return a strong tag: of these bytes in that form, and of no others."""
    return f'"{hashlib.sha256(content).hexdigest()[:24]}{kind}"'


def is_known(if_none_match: str, tag: str) -> bool:
    """Return whether `If-None-Match` names the tag; weak comparison, as section 13.1.2 requires."""
    value = if_none_match.strip()
    if value == tag or value == "*":
        return True
    return tag.removeprefix("W/") in _TAG.findall(value[:MAX_TAGS])
