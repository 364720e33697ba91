"""The frame of one question to a service: its time, and its failures in words.

In: an endpoint, the seconds it may take, what was asked for. Out: what happens inside, or a `ProviderError` that names
the service and never contains the key.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from prosa.adapters.providers.failures import (
    Endpoint,
    ExchangeProblem,
    StatusProblem,
    error_from_exchange,
    error_from_status,
)


@asynccontextmanager
async def asking(endpoint: Endpoint, *, timeout: float, model_name: str) -> AsyncIterator[None]:
    """One question, answered within ``timeout`` seconds. Raises `ProviderError`."""
    try:
        async with asyncio.timeout(timeout):
            yield
    except ExchangeProblem as problem:
        raise error_from_exchange(problem, endpoint) from None
    except StatusProblem as problem:
        raise error_from_status(problem, endpoint, model_name) from None
    except TimeoutError:
        late = ExchangeProblem(f"did not finish within {timeout:g} s", kind="timeout", retryable=True)
        raise error_from_exchange(late, endpoint) from None
