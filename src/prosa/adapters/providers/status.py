"""What an HTTP status and its headers say about another attempt. Pure: numbers and texts in, a verdict out."""

from __future__ import annotations

import math
from collections.abc import Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

RETRYABLE_KINDS = frozenset({"rate-limit", "server", "network", "timeout"})
KINDS = frozenset({"auth", "bad-request", "rate-limit", "server", "network", "timeout", "malformed", "missing"})
_KIND_OF_STATUS = {
    401: "auth",
    403: "auth",
    407: "auth",
    408: "timeout",
    409: "server",
    425: "server",
    429: "rate-limit",
}
# These 5xx say that the request can never work, not that the service is in trouble.
_NEVER_RETRIED = frozenset({501, 505, 511})
# A 429 with one of these codes stays until the account is paid; waiting does not help.
_QUOTA_CODES = frozenset({"insufficient_quota", "billing_hard_limit_reached", "billing_not_active"})
_NEVER_BEGUN = frozenset({503, 529})
"""A service that takes no request now."""

_SENT_ELSEWHERE = frozenset({307, 308})
_LIMITS = ("requests", "tokens", "input-tokens", "output-tokens")


def kind_of_status(status: int) -> str:
    """Return the kind of `ProviderError` for an HTTP status that is no success."""
    return _KIND_OF_STATUS.get(status, "server" if status >= 500 else "bad-request")


def is_free(status: int, *, own_words: bool) -> bool:
    """Return whether a service that answered with a status surely never worked on the request (X26). ``own_words``: the
    body is empty or an object, as services write it; with a page a proxy may speak of a service that worked."""
    return 400 <= status < 500 or status in _SENT_ELSEWHERE or (status in _NEVER_BEGUN and own_words)


def is_retryable(status: int, code: str | None = None, wish: str | None = None) -> bool:
    """Return whether another attempt makes sense (LA7). ``wish`` is the service's own `x-should-retry` header."""
    if wish in {"true", "false"}:
        return wish == "true"
    if status in _NEVER_RETRIED or (status == 429 and code in _QUOTA_CODES):
        return False
    return kind_of_status(status) in RETRYABLE_KINDS


def retry_after(headers: Mapping[str, str], now: datetime | None = None) -> float | None:
    """Return seconds to wait, from `retry-after-ms`, from `Retry-After` as seconds or as a date (RFC 9110, 10.2.3), or
    from the limits of which nothing is left.

    A date is compared with the service's own `Date` where it sends one, so that a wrong local clock does no harm.
    None when neither header can be read; never negative.
    """
    milliseconds = _number(headers.get("retry-after-ms"))
    if milliseconds is not None:
        return milliseconds / 1000
    value = headers.get("retry-after")
    seconds = _number(value)
    if seconds is not None:
        return seconds
    until = _date(value) or _spent_until(headers)
    if until is None:
        return None
    return max(0.0, (until - (_date(headers.get("date")) or now or datetime.now(UTC))).total_seconds())


def _spent_until(headers: Mapping[str, str]) -> datetime | None:
    """Return when the last of the limits is there again of which nothing is left, as Anthropic says it."""
    ends = [
        _moment(headers.get(f"anthropic-ratelimit-{name}-reset"))
        for name in _LIMITS
        if headers.get(f"anthropic-ratelimit-{name}-remaining") == "0"
    ]
    return max((each for each in ends if each is not None), default=None)


def _moment(text: str | None) -> datetime | None:
    try:
        value = datetime.fromisoformat(text or "")
    except ValueError:
        return None
    return value if value.tzinfo is not None else value.replace(tzinfo=UTC)


def _number(text: str | None) -> float | None:
    try:
        value = float(text or "")
    except ValueError:
        return None
    return max(0.0, value) if math.isfinite(value) else None


def _date(text: str | None) -> datetime | None:
    try:
        value = parsedate_to_datetime(text or "")
    except (ValueError, TypeError, OverflowError):
        return None
    return value if value.tzinfo is not None else value.replace(tzinfo=UTC)
