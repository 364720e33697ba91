"""The connections to one service, in pools of a bounded size, of one event loop (X9).

In: requests. Out: the heads of their answers. The pool of the library looks at all its connections whenever a request
begins or ends, so one pool of a thousand costs many times what twenty of fifty do. Nothing is retried but this: a kept
connection that turns out to be closed when it is used again is replaced, and where a part of the request may have
arrived, the budgets pay for a further one first (X26). An answer is bounded before anything reads it; compressed ones
were not asked for, and are held to a bound at which even the best compression stays below the limit.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable

import httpx2
from msgspec import Struct, field

from prosa.adapters.providers.asking import Sent, sent_now
from prosa.runtime.budget import may_ask_again

POOL_SIZE = 16
"""Connections of one pool: a call looks at all of them, which costs 15 µs each."""

MAX_ANSWER_BYTES = 64 * 1024 * 1024  # far above any reply; a service that sends more must not fill the memory
MAX_COMPRESSION = 1032  # what DEFLATE can reach at best
_DEFLATE = frozenset({"gzip", "x-gzip", "deflate"})
KEEP_ALIVE_SECONDS = 30.0  # tools run between two calls of one conversation
_ENDED = (httpx2.RemoteProtocolError, httpx2.ReadError, httpx2.WriteError)
"""What a connection that the other side closed raises when it is used."""


class AnswerTooLarge(Exception):
    """The service sent more than the limit, or an encoding that cannot be bounded."""


class _Pool(Struct, eq=False):
    """One pool of the library; ``since`` is when its last request ended, None where its connections are closed."""

    transport: httpx2.AsyncBaseTransport
    busy: int = 0
    since: float | None = None


class Pools(httpx2.AsyncBaseTransport):
    """Pools that ``make`` makes as they are needed, with ``most`` connections in all."""

    def __init__(self, make: Callable[[], httpx2.AsyncBaseTransport], most: int) -> None:
        self._make = make
        self._pools = [_Pool(make())]
        self._free = asyncio.Semaphore(most)

    @property
    def busy(self) -> int:
        """How many requests are under way."""
        return sum(each.busy for each in self._pools)

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        """Send a request over the first pool with a free connection; its place is free again as the answer is closed.

        Raises `httpx2.PoolTimeout` where no connection becomes free in time.
        """
        await self._close_unused()
        await self._place(request.extensions.get("timeout", {}).get("pool"))
        pool = self._chosen()
        try:
            response = await _steady(pool.transport, request)
        except BaseException:
            self._leave(pool)
            raise
        assert isinstance(response.stream, httpx2.AsyncByteStream)
        response.stream = _Leased(response.stream, lambda: self._leave(pool))
        try:
            response.stream.left = _limit(response.headers.get("content-encoding", ""))
        except AnswerTooLarge:
            await response.stream.aclose()
            raise
        return response

    async def aclose(self) -> None:
        """Close all connections."""
        for each in self._pools:
            await each.transport.aclose()

    async def _place(self, seconds: float | None) -> None:
        try:
            async with asyncio.timeout(seconds):
                await self._free.acquire()
        except TimeoutError:
            raise httpx2.PoolTimeout("no connection became free") from None

    def _chosen(self) -> _Pool:
        pool = next((each for each in self._pools if each.busy < POOL_SIZE), None)
        if pool is None:
            pool = _Pool(self._make())
            self._pools.append(pool)
        pool.busy += 1
        return pool

    def _leave(self, pool: _Pool) -> None:
        pool.busy -= 1
        pool.since = time.monotonic()
        self._free.release()

    async def _close_unused(self) -> None:
        """Close connections that are too old in pools without requests, which would not notice by themselves."""
        now = time.monotonic()
        for pool in self._pools:
            if not pool.busy and pool.since is not None and now - pool.since > KEEP_ALIVE_SECONDS:
                pool.since = None
                await pool.transport.aclose()  # it stays as good as new


def _limit(encoding: str) -> int:
    """Return the most bytes of an answer. Raises `AnswerTooLarge` for an encoding that nothing bounds."""
    encoding = encoding.strip().lower()
    if encoding in {"", "identity"}:
        return MAX_ANSWER_BYTES
    if encoding in _DEFLATE:
        return MAX_ANSWER_BYTES // MAX_COMPRESSION
    raise AnswerTooLarge(f"the encoding {encoding[:40]!r}, which was not asked for")


class _Leased(httpx2.AsyncByteStream):
    """The bytes of an answer, ``left`` of them at most; calls ``leave`` once when they are closed."""

    def __init__(self, stream: httpx2.AsyncByteStream, leave: Callable[[], None]) -> None:
        self._stream = stream
        self._leave: Callable[[], None] | None = leave
        self.left = 0

    async def __aiter__(self) -> AsyncIterator[bytes]:
        try:
            async for chunk in self._stream:
                self.left -= len(chunk)
                if self.left < 0:
                    raise AnswerTooLarge(f"more than {MAX_ANSWER_BYTES // 2**20} MiB")
                yield chunk
        except BaseException:
            await self.aclose()  # not every library does
            raise

    async def aclose(self) -> None:
        """Close the answer; its connection serves the next request, if it was read to its end."""
        try:
            await self._stream.aclose()
        finally:
            leave, self._leave = self._leave, None
            if leave is not None:
                leave()


class _Noticed(httpx2.AsyncByteStream):
    """The body of a request, which tells when the first bytes of it are taken."""

    def __init__(self, stream: httpx2.AsyncByteStream, sent: Sent) -> None:
        self._stream = stream
        self._sent = sent

    async def __aiter__(self) -> AsyncIterator[bytes]:
        self._sent.written = True
        async for chunk in self._stream:
            yield chunk


class _Opened(Struct):
    """Whether a connection was opened for a request."""

    anything: bool = field(default=False)

    async def __call__(self, name: str, _: object) -> None:
        self.anything = self.anything or name == "connection.connect_tcp.started"


async def _steady(transport: httpx2.AsyncBaseTransport, request: httpx2.Request) -> httpx2.Response:
    """Send a request, again where a kept connection turns out to be closed.

    Some services close one after a stream without saying so (llama.cpp does); ends of that kind say nothing about the
    service. Each one takes a connection out of the pool, so this ends.
    """
    sent = sent_now()
    assert isinstance(request.stream, httpx2.AsyncByteStream)
    request.stream = _Noticed(request.stream, sent)
    while True:
        opened, sent.written = _Opened(), False
        request.extensions = {**request.extensions, "trace": opened}
        try:
            return await transport.handle_async_request(request)
        except _ENDED:
            if opened.anything or (sent.written and not await may_ask_again()):
                raise
