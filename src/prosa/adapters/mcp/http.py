"""The HTTP client for servers behind a URL: bounded bodies, and the last status remembered.

In: an `Observed` to note the status in. Out: an httpx2 client. Refuses bodies over the limit and compressed ones, of
which a few bytes can become gigabytes.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import TYPE_CHECKING

import httpx2

from prosa.adapters.mcp.observed import Observed
from prosa.adapters.mcp.stdio import MESSAGE_LIMIT, TOO_LARGE

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

CONNECT_SECONDS = 10.0
"""For a connection to stand. Reading has no bound of its own here: every start and every call has one."""


def http_client(seen: Observed) -> httpx2.AsyncClient:
    """A client whose answers are bounded; event streams are bounded per event by the transports."""
    return httpx2.AsyncClient(
        headers={"accept-encoding": "identity"},
        timeout=httpx2.Timeout(None, connect=CONNECT_SECONDS),
        event_hooks={"response": [_watcher(seen)]},
    )


def _watcher(seen: Observed) -> Callable[[httpx2.Response], Awaitable[None]]:
    async def watch(response: httpx2.Response) -> None:
        seen.http_status = response.status_code
        if response.headers.get("content-encoding", "identity").strip().lower() not in ("identity", ""):
            raise httpx2.DecodingError("the server compresses its answers although it was asked not to")
        if not response.headers.get("content-type", "").lower().startswith("text/event-stream"):
            assert isinstance(response.stream, httpx2.AsyncByteStream)
            response.stream = _Bounded(response.stream)

    return watch


class _Bounded(httpx2.AsyncByteStream):
    """A body that fails when it grows over `MESSAGE_LIMIT`."""

    def __init__(self, inner: httpx2.AsyncByteStream) -> None:
        self._inner = inner

    async def __aiter__(self) -> AsyncIterator[bytes]:
        size = 0
        async for chunk in self._inner:
            size += len(chunk)
            if size > MESSAGE_LIMIT:
                # The one kind of error that the SDK turns into an answer to the call.
                raise httpx2.StreamError(TOO_LARGE)
            yield chunk

    async def aclose(self) -> None:
        await self._inner.aclose()
