"""Further attempts of one model call after transient errors (L16, LA7). Waits only through the clock.

Not an iteration: the loop sees one call. The service's own ``Retry-After`` is respected; otherwise the wait doubles,
with jitter, so that many runs do not return at once. If the service is unreachable, there is only one immediate retry.
A service with unreadable replies gets two retries.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TypeVar

from prosa.runtime.errors import ProviderError
from prosa.runtime.events import AttemptFailed, Listener, Scope
from prosa.runtime.ports import Clock

Reply = TypeVar("Reply")

FIRST_WAIT = 0.5
ABSENT_ATTEMPTS = 2
"""Attempts, one after the other, at a service that is not there: it may just be starting (LA7)."""

MALFORMED_ATTEMPTS = 3
"""Maximum number of attempts at a service with unreadable replies: each may be billed (X26)."""

LONGEST_WAIT = 30.0
LONGEST_RETRY_AFTER = 120.0
"""A service that requests a longer delay will not recover within a run."""


async def with_retries(
    attempt: Callable[[], Awaitable[Reply]],
    *,
    retries: int,
    clock: Clock,
    jitter: Callable[[], float],
    listener: Listener,
    scope: Scope,
) -> Reply:
    """Return the first reply that comes. Raises the last `ProviderError` when attempts are used up or make no sense."""
    tried = absent = malformed = 0
    while True:
        try:
            return await attempt()
        except ProviderError as error:
            tried += 1
            absent = absent + 1 if error.is_absent else 0
            malformed = malformed + 1 if error.kind == "malformed" else 0
            wait = _wait(error, absent or tried, jitter())
            is_last = absent >= ABSENT_ATTEMPTS or malformed >= MALFORMED_ATTEMPTS
            if not error.retryable or tried > retries or wait is None or is_last:
                raise _with_count(error, tried) from error
            listener(AttemptFailed(scope, tried, wait, error.message))
            await clock.sleep(wait)


def _wait(error: ProviderError, tried: int, jitter: float) -> float | None:
    if error.retry_after is None:
        ceiling: float = min(LONGEST_WAIT, FIRST_WAIT * 2.0 ** (tried - 1))
        return ceiling * (0.5 + jitter / 2)
    if error.retry_after > LONGEST_RETRY_AFTER:
        return None
    return error.retry_after + jitter * min(1.0, error.retry_after / 10)


def _with_count(error: ProviderError, tried: int) -> ProviderError:
    if tried == 1:
        return error
    return ProviderError(
        f"{error.message} (after {tried} attempts)",
        kind=error.kind,
        retryable=False,
        status=error.status,
        retry_after=error.retry_after,
        hint=error.hint,
        is_absent=error.is_absent,
        billable=error.billable,
    )
