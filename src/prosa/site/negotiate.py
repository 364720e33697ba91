"""Which form of a node a request gets (RFC 9110 section 12.5.1, H8, HA7), its JSON form, and conditional requests
(H18).

Markdown is the default, also if none of the accepted forms exists: never 406.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Mapping
from functools import lru_cache
from types import MappingProxyType

from prosa.data import Value
from prosa.regex import regex
from prosa.site.layout import Form, NodeView

MEDIA_TYPES: Mapping[Form, str] = MappingProxyType(
    {
        "markdown": "text/markdown; charset=utf-8",
        "json": "application/json; charset=utf-8",
        "html": "text/html; charset=utf-8",
    }
)
"""What each form is sent as; their order is that of preference where a client likes several equally well."""

MAX_ACCEPT = 4_096
"""Characters of `Accept` that are read; browsers send a hundred."""

_RANGE = regex(
    r'\s*+([!#$%&\'*+.^_`|~\w-]++)/([!#$%&\'*+.^_`|~\w-]++)\s*+((?:;(?:[^",;]|"(?:[^"\\]|\\.)*+")*+)*+)\s*+\Z'
)
_ITEM = regex(r'(?:[^",]|"(?:[^"\\]|\\.)*")+')
_QUALITY = regex(r";\s*q\s*=\s*(0(?:\.\d{0,3})?|1(?:\.0{0,3})?)\s*(?=;|\Z)", re.IGNORECASE)
_ANY_QUALITY = regex(r";\s*q\s*=", re.IGNORECASE)
_QUOTED = regex(r'"(?:[^"\\]|\\.)*+(?:"|\\?\Z)')


@lru_cache(maxsize=1024)
def choose(accept: str) -> Form:
    """Return the form for a value of `Accept`, the header lines of which are joined with commas; empty where there is
    none.

    The highest quality wins, then the range that names the form more closely, then Markdown before JSON before HTML. A
    range that cannot be read counts as absent.
    """
    ranges = list(_ranges(accept[:MAX_ACCEPT]))
    best: tuple[float, int] = (0.0, -1)
    chosen: Form = "markdown"
    for form, media_type in MEDIA_TYPES.items():
        rank = _rank(media_type.partition(";")[0], ranges)
        if rank[0] > 0 and rank > best:
            best, chosen = rank, form
    return chosen


def _ranges(accept: str) -> Iterator[tuple[str, str, float]]:
    """Type, subtype and quality of each media range."""
    for item in _ITEM.findall(accept):
        match = _RANGE.match(item)
        if match is None:
            continue
        parameters = _QUOTED.sub("", match[3])
        quality = _QUALITY.search(parameters)
        if quality is None and _ANY_QUALITY.search(parameters):
            continue
        yield match[1].lower(), match[2].lower(), float(quality[1]) if quality else 1.0


def _rank(media_type: str, ranges: list[tuple[str, str, float]]) -> tuple[float, int]:
    """Return the quality of a media type and how closely it was named: the closest range decides (section 12.5.1)."""
    kind, _, subtype = media_type.partition("/")
    best: tuple[float, int] = (0.0, -1)
    for range_kind, range_subtype, quality in ranges:
        if (range_kind, range_subtype) == (kind, subtype):
            closeness = 2
        elif range_subtype == "*" and range_kind == kind:
            closeness = 1
        elif range_subtype == range_kind == "*":
            closeness = 0
        else:
            continue
        if closeness > best[1] or (closeness == best[1] and quality > best[0]):
            best = (quality, closeness)
    return best


_OURS = ("md_url", "body")


def json_of(view: NodeView, prefix: str = "") -> dict[str, Value]:
    """Return the JSON form. ``prefix`` is the path of the site. An author's field with a reserved name is left out, so
    that clients can rely on those."""
    fields = {name: value for name, value in view.fields.items() if name not in _OURS}
    fields |= {"id": view.id, "type": view.type, "title": view.title}
    if view.actions or "actions" in fields:
        fields["actions"] = [dict(action) for action in view.actions]
        fields.pop("action", None)
    if view.inherited:
        fields.setdefault("lent", {name: field.as_dict() for name, field in view.inherited.items()})
    head = {name: fields.pop(name) for name in ("id", "type", "title")}
    return {**head, **fields, "md_url": f"{prefix}{view.url}", "body": view.body}


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
