"""The interface of batches of a service over HTTP: JSON, files that go up, lines that come down.

In: an endpoint and its headers. Out: JSON objects, lines; else a `ProviderError` that names the service and never its
key. What is large is never in memory as a whole. Redirects are not followed, and no address that a service names is
asked: results are fetched where the interface says that they are.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from msgspec import Struct

from prosa.adapters.providers.asking import asking
from prosa.adapters.providers.endpoint import Endpoint
from prosa.adapters.providers.failures import ExchangeProblem, StatusProblem, error_from_exchange
from prosa.adapters.providers.wire import decode, encode
from prosa.data import Plain, Value
from prosa.runtime.errors import ProviderError

if TYPE_CHECKING:
    import httpx2

TIMEOUT = 600.0
"""Seconds for one request, files included; between two reads `SILENCE`."""

SILENCE = 120.0
MAX_ANSWER = 64 * 1024 * 1024
"""Bytes of one JSON answer, and of one line of results."""

_BLOCK = 1024 * 1024


class FileBody(Struct, frozen=True):
    """A body that is read from a file when it is sent: what comes before, the file, what comes behind. ``between``
    stands in place of line ends."""

    path: Path
    before: bytes = b""
    after: bytes = b""
    between: bytes = b"\n"

    @property
    def size(self) -> int:
        """Bytes of it; a line end is as long as what stands in its place, but the last one, which is left out."""
        return len(self.before) + self.path.stat().st_size - (self.between != b"\n") + len(self.after)

    async def __aiter__(self) -> AsyncIterator[bytes]:
        yield self.before
        with self.path.open("rb") as file:
            if self.between == b"\n":
                while block := file.read(_BLOCK):
                    yield block
            else:
                last = b""
                for line in file:
                    yield last
                    last = line.rstrip(b"\n") + self.between
                yield last.removesuffix(self.between)
        yield self.after


class ServiceBatches:
    """What the batches of every service have in common. ``headers`` go with every request."""

    def __init__(self, endpoint: Endpoint, headers: Mapping[str, str]) -> None:
        self._http = BatchService(endpoint, {**endpoint.headers, **headers})
        self._endpoint = endpoint

    @property
    def service(self) -> str:
        """The base URL, as people may see it."""
        return self._endpoint.shown

    async def aclose(self) -> None:
        """Release connections."""
        await self._http.aclose()

    def _id(self, value: Mapping[str, Value]) -> str:
        name = value.get("id")
        if not isinstance(name, str) or not name.isascii() or not name.replace("_", "").replace("-", "").isalnum():
            raise self._http.problem("sent an object without an id")
        return name


def number(counts: Value, name: str) -> int:
    """Return one of the counts of a batch; 0 for one that is missing."""
    count = counts.get(name) if isinstance(counts, Mapping) else None
    return count if isinstance(count, int) else 0


class BatchService:
    """The connections to one service. ``headers`` go with every request, the key among them."""

    def __init__(self, endpoint: Endpoint, headers: Mapping[str, str]) -> None:
        self.endpoint = endpoint
        self._headers = dict(headers)
        self._client: httpx2.AsyncClient | None = None
        self._loop: asyncio.AbstractEventLoop | None = None

    async def get(self, path: str, query: Mapping[str, str] | None = None) -> Mapping[str, Value]:
        """Return a JSON object."""
        async with asking(self.endpoint, timeout=TIMEOUT, model_name=""):
            return await self._json("GET", path, query=query)

    async def post(self, path: str, body: Mapping[str, Plain] | None = None) -> Mapping[str, Value]:
        """Send JSON once, and give what comes back."""
        async with asking(self.endpoint, timeout=TIMEOUT, model_name=""):
            content = None if body is None else encode(body)
            return await self._json("POST", path, content=content, kind="application/json")

    async def send(self, path: str, body: FileBody, kind: str) -> Mapping[str, Value]:
        """Send a file once, and give what comes back."""
        async with asking(self.endpoint, timeout=TIMEOUT, model_name=""):
            return await self._json("POST", path, content=body, kind=kind, size=body.size)

    async def lines(self, path: str) -> AsyncIterator[bytes]:
        """Yield the lines of a file of results. Raises `ProviderError` for one that is too long."""
        async with asking(self.endpoint, timeout=TIMEOUT, model_name=""), self._open("GET", path) as response:
            rest = b""
            async for block in _blocks(response):
                *whole, rest = (rest + block).split(b"\n")
                for line in whole:
                    if line.strip():
                        yield line
                if len(rest) > MAX_ANSWER:
                    raise ExchangeProblem(f"sent a line of more than {MAX_ANSWER // 2**20} MiB")
            if rest.strip():
                yield rest

    def problem(self, reason: str) -> ProviderError:
        """Return the error for an answer that says something else than the interface does."""
        return error_from_exchange(ExchangeProblem(reason), self.endpoint)

    async def aclose(self) -> None:
        """Close all connections."""
        client, self._client = self._client, None
        if client is not None and self._loop is asyncio.get_running_loop():
            await client.aclose()

    async def _json(
        self,
        method: Literal["GET", "POST"],
        path: str,
        *,
        query: Mapping[str, str] | None = None,
        content: bytes | FileBody | None = None,
        kind: str = "",
        size: int | None = None,
    ) -> Mapping[str, Value]:
        headers = ({"Content-Type": kind} if kind else {}) | ({} if size is None else {"Content-Length": str(size)})
        async with self._open(method, path, query=query, content=content, headers=headers) as response:
            return decode(await _whole(response))

    @asynccontextmanager
    async def _open(
        self,
        method: str,
        path: str,
        *,
        query: Mapping[str, str] | None = None,
        content: bytes | FileBody | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> AsyncIterator[httpx2.Response]:
        """Return the head of an answer that is a success. Raises `StatusProblem`, `ExchangeProblem`."""
        from prosa.adapters.providers.transport import endpoint_url, exchange_problem, plain_headers, proxy_of, times

        # A request on a kept connection that ended is sent again, and it is unknown whether the first was received.
        client = self._connected() if method == "GET" else self._fresh()
        sent = {name: header for name, header in plain_headers().items() if name != "Content-Type"}
        try:
            request = client.build_request(
                method,
                endpoint_url(self.endpoint.base_url, path),
                params=None if query is None else dict(query),
                content=content,
                headers={**sent, **self._headers, **(headers or {})},
                timeout=times(TIMEOUT, SILENCE),
            )
            response = await client.send(request, stream=True)
        except Exception as problem:
            if client is not self._client:
                await client.aclose()
            raise exchange_problem(problem, proxied=proxy_of(self.endpoint.base_url) is not None) from None
        try:
            if not response.is_success:
                text = (await _whole(response)).decode("utf-8", "replace")
                raise StatusProblem(response.status_code, response.headers, text)
            yield response
        finally:
            await response.aclose()
            if client is not self._client:
                await client.aclose()

    def _connected(self) -> httpx2.AsyncClient:
        """Return the connections of the running event loop."""
        loop = asyncio.get_running_loop()
        if self._client is None or self._loop is not loop:
            self._client, self._loop = self._fresh(), loop
        return self._client

    def _fresh(self) -> httpx2.AsyncClient:
        """Return unused connections; the bound of their answers is kept here."""
        from prosa.adapters.providers.transport import client_of

        client = client_of(self.endpoint)
        client.event_hooks = {"request": [], "response": []}
        return client


async def _blocks(response: httpx2.Response) -> AsyncIterator[bytes]:
    from prosa.adapters.providers.transport import exchange_problem

    try:
        async for block in response.aiter_bytes():
            yield block
    except Exception as problem:
        raise exchange_problem(problem) from None


async def _whole(response: httpx2.Response) -> bytes:
    data = bytearray()
    async for block in _blocks(response):
        data += block
        if len(data) > MAX_ANSWER:
            raise ExchangeProblem(f"sent more than {MAX_ANSWER // 2**20} MiB")
    return bytes(data)
