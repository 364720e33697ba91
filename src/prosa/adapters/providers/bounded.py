"""A bound on what a model service may send, put around every answer before anything reads it.

Loads httpx2, so only the transport imports it. Compressed answers were not asked for; one that comes all the same is
held to a bound at which even the best compression stays below the limit.
"""

from __future__ import annotations

from collections.abc import AsyncIterator

import httpx2

MAX_ANSWER_BYTES = 64 * 1024 * 1024  # far above any reply; a service that sends more must not fill the memory
MAX_COMPRESSION = 1032  # what DEFLATE can reach at best
_DEFLATE = frozenset({"gzip", "x-gzip", "deflate"})


class AnswerTooLarge(Exception):
    """The service sent more than the limit, or an encoding that cannot be bounded."""


class BoundedStream(httpx2.AsyncByteStream):
    """A stream that stops with `AnswerTooLarge` after ``limit`` bytes."""

    def __init__(self, stream: httpx2.AsyncByteStream, limit: int) -> None:
        self._stream = stream
        self._left = limit

    async def __aiter__(self) -> AsyncIterator[bytes]:
        async for chunk in self._stream:
            self._left -= len(chunk)
            if self._left < 0:
                raise AnswerTooLarge(f"more than {MAX_ANSWER_BYTES // 2**20} MiB")
            yield chunk

    async def aclose(self) -> None:
        """Closes the stream inside."""
        await self._stream.aclose()


async def bound_answer(response: httpx2.Response) -> None:
    """A response hook for the HTTP client."""
    encoding = response.headers.get("content-encoding", "").strip().lower()
    if encoding in {"", "identity"}:
        limit = MAX_ANSWER_BYTES
    elif encoding in _DEFLATE:
        limit = MAX_ANSWER_BYTES // MAX_COMPRESSION
    else:
        raise AnswerTooLarge(f"the encoding {encoding[:40]!r}, which was not asked for")
    assert isinstance(response.stream, httpx2.AsyncByteStream)
    response.stream = BoundedStream(response.stream, limit)
