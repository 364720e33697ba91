"""The kinds of failed exchanges: of which a status is, whether another attempt makes sense, and whether the service has
worked on the request."""

from __future__ import annotations

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
