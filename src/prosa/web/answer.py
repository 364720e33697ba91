"""An answer that is ready to be sent, and the way it is sent (RFC 9110): the whole, only its head, or 304. Plain ASGI:
most requests need nothing of a framework.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from prosa.site.conditional import entity_tag, is_known

Scope = dict[str, Any]
Header = tuple[bytes, bytes]

PUBLIC = "public, no-cache"
"""What is published may be kept by anybody, and is asked about again: an edit shows at once (H18)."""

PRIVATE = "private, no-cache"
NEVER = "no-store"

_ALWAYS = (
    ("x-content-type-options", "nosniff"),
    ("referrer-policy", "same-origin"),
    ("cross-origin-resource-policy", "same-origin"),
    ("cross-origin-opener-policy", "same-origin"),
    ("x-frame-options", "DENY"),
)
"""What every answer tells a browser."""

_UNSAFE = re.compile("[^ -~\xa0-\xff]")

_KEPT = frozenset((b"etag", b"vary", b"cache-control", b"content-location", b"link", b"expires"))
"""What a 304 repeats (section 15.4.5)."""


@dataclass(frozen=True, slots=True)
class Answer:
    """An answer. ``tag`` is its entity tag, empty where it has none."""

    status: int
    headers: tuple[Header, ...]
    body: bytes
    tag: str = ""
    unchanged: tuple[Header, ...] = ()


def answer(
    body: bytes | str,
    media_type: str,
    *,
    status: int = 200,
    cache: str = PUBLIC,
    headers: Iterable[tuple[str, str]] = (),
    form: str = "",
    tagged: bool = True,
) -> Answer:
    """An answer of these bytes. ``form`` makes the tag one of that form of a node; without ``tagged`` it has none."""
    content = body.encode("utf-8", "replace") if isinstance(body, str) else body
    tag = entity_tag(content, form) if tagged and status == 200 and cache != NEVER else ""
    pairs = [
        ("content-type", media_type),
        ("content-length", str(len(content))),
        ("cache-control", cache),
        *headers,
        *_ALWAYS,
    ]
    if tag:
        pairs.append(("etag", tag))
    whole = tuple(_header(name, value) for name, value in pairs)
    return Answer(status, whole, content, tag, tuple(each for each in whole if each[0] in _KEPT))


def _header(name: str, value: str) -> Header:
    """A header. What would end its line, or is beyond Latin-1, never comes so far: it is dropped."""
    return name.encode("ascii"), _UNSAFE.sub("", value).encode("latin-1")


def header_of(scope: Scope, name: bytes) -> str:
    """The value of a request header; several lines are joined with commas."""
    found = [value for key, value in scope["headers"] if key == name]
    return b", ".join(found).decode("latin-1") if found else ""


async def send_answer(scope: Scope, send: Any, found: Answer, extra: Sequence[Header] = ()) -> int:
    """Sends an answer, and gives the status that was sent: 304 where the client has it, no body for HEAD."""
    if found.tag and found.status == 200:
        known = header_of(scope, b"if-none-match")
        if known and is_known(known, found.tag):
            await send({"type": "http.response.start", "status": 304, "headers": [*found.unchanged, *extra]})
            await send({"type": "http.response.body", "body": b""})
            return 304
    await send({"type": "http.response.start", "status": found.status, "headers": [*found.headers, *extra]})
    await send({"type": "http.response.body", "body": b"" if scope["method"] == "HEAD" else found.body})
    return found.status
