"""The answer of a site to a request, from any transport. In: the response. Out: a frozen `Answer`."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct, field

from prosa.data import JsonError, Value, parse_json
from prosa.site.values import is_json

MOVED = frozenset({301, 302, 303, 307, 308})
"""Statuses of answers that redirect (RFC 9110, section 15.4)."""


class Answer(Struct, frozen=True):
    """An answer: where it came from after redirects, its status and reason, its media type in lower case, its bytes.

    ``headers`` are all of them, with names in lower case; one that was sent several times is joined with commas.
    """

    url: str
    status: int
    reason: str
    media_type: str
    body: bytes
    retry_after: str = ""
    headers: Mapping[str, str] = field(default_factory=dict)

    @property
    def is_success(self) -> bool:
        """Whether the request succeeded."""
        return 200 <= self.status < 300

    @property
    def moved_to(self) -> str:
        """Where a redirect that was not followed leads, as written; empty for any other answer."""
        return self.headers.get("location", "") if self.status in MOVED else ""


def json_of(answer: Answer) -> Value:
    """Return the JSON value of an answer declared as JSON; None for any other, and for `null`."""
    if not is_json(answer.media_type):
        return None
    try:
        return parse_json(answer.body.decode("utf-8-sig"))
    except (UnicodeDecodeError, JsonError):
        return None
