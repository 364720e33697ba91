"""One POST to a model service through httpx2, over pools of kept connections: bytes out, status, type and bytes back
(X9).

This module loads httpx2, so it is imported at the first call. Nothing reaches the service but what was given here, and
no facts about this machine (X7, LW13). Redirects are not followed. The environment says which proxy is asked
(`HTTPS_PROXY`, `HTTP_PROXY`, `ALL_PROXY`, `NO_PROXY`) and which certificates count (`SSL_CERT_FILE`, `SSL_CERT_DIR`,
else those of the machine). A proxy is never asked for this machine.

The pool of the library looks at all its connections whenever a request begins or ends, so one pool of a thousand costs
many times what twenty of fifty do. Nothing is retried but a kept connection that turns out to be closed: it is
replaced, and where a part of the request may have arrived, the budgets pay for a further one first (X26).
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import asynccontextmanager
from functools import partial
from ssl import PROTOCOL_TLS_CLIENT, SSLContext
from urllib.parse import urlsplit, urlunsplit
from urllib.request import getproxies, proxy_bypass

import httpx2
from msgspec import Struct, field

from prosa import __version__
from prosa.adapters.providers.asking import Sent, sent_now
from prosa.adapters.providers.endpoint import Endpoint
from prosa.adapters.providers.failures import ExchangeProblem, StatusProblem
from prosa.adapters.providers.open_files import most_connections
from prosa.adapters.providers.wire import ServiceResponse
from prosa.runtime.budget import may_ask_again
from prosa.source.url import is_loopback

CONNECT_SECONDS = 10.0  # a service that does not take a connection by then is not there


class Transport:
    """The connections to one service, of one event loop."""

    def __init__(self, endpoint: Endpoint, *, timeout: float) -> None:
        """Raise `ExchangeProblem` for a proxy or certificates in the environment that cannot be used.

        The headers of ``endpoint`` leave as they are, the key among them.
        """
        self.loop = asyncio.get_running_loop()
        self._timeout = timeout
        self._base_url = endpoint.base_url
        self._headers = {**plain_headers(), **endpoint.headers}
        self._has_proxy = proxy_of(endpoint.base_url) is not None
        self._pools = pools_of(endpoint)
        self._last: tuple[str, httpx2.URL] | None = None

    @asynccontextmanager
    async def post(self, path: str, body: bytes, *, silence: float) -> AsyncIterator[ServiceResponse]:
        """Send a body; ``silence`` is how many seconds may pass between two reads.

        Raises `StatusProblem` for an answer that is no success and `ExchangeProblem` when there is none.
        """
        async with self.send("POST", path, body, silence=silence, headers={}) as answer:
            yield answer

    @asynccontextmanager
    async def send(
        self, method: str, path: str, body: bytes, *, silence: float, headers: Mapping[str, str]
    ) -> AsyncIterator[ServiceResponse]:
        """Send a request of another program, with headers that take the place of the usual ones. Raises what `post`
        does."""
        limits = times(self._timeout, silence)
        async with answered(await self._send(method, path, body, limits, headers)) as answer:
            yield answer

    async def _send(
        self, method: str, path: str, body: bytes, limits: httpx2.Timeout, more: Mapping[str, str]
    ) -> httpx2.Response:
        """Return the head of the answer."""
        try:
            # Without the client of the library: its own headers and the cookies of earlier answers do not leave.
            extensions = {"timeout": limits.as_dict()}
            headers = {**self._headers, **more}
            url = self._url(path)
            asked = httpx2.Request(method, url, content=body, headers=headers, extensions=extensions)
            if url.userinfo:
                asked = next(httpx2.BasicAuth(url.username, url.password).sync_auth_flow(asked))
            return await self._pools.handle_async_request(asked)
        except Exception as problem:
            raise exchange_problem(problem, proxied=self._has_proxy) from None

    def _url(self, path: str) -> httpx2.URL:
        """Return the URL of a path; nearly all calls have the one of the call before."""
        if self._last is None or self._last[0] != path:
            self._last = path, httpx2.URL(endpoint_url(self._base_url, path))
        return self._last[1]

    async def aclose(self) -> None:
        """Close all connections."""
        await self._pools.aclose()


def endpoint_url(base_url: str, path: str) -> str:
    """Return a path, which may have a query, below a base URL, whose own query some services want kept."""
    parts, below = urlsplit(base_url), urlsplit(path)
    query = "&".join(filter(None, (parts.query, below.query)))
    return urlunsplit(parts._replace(path=parts.path.rstrip("/") + below.path, query=query, fragment=""))


@asynccontextmanager
async def answered(response: httpx2.Response) -> AsyncIterator[ServiceResponse]:
    """Return the answer of a response, which is closed at the end. Raises `StatusProblem` for one that is no
    success."""
    try:
        if not response.is_success:
            raise StatusProblem(response.status_code, response.headers, await _refusal(response))
        yield ServiceResponse(response.headers.get("content-type", "").lower(), _read(response))
    finally:
        await response.aclose()


async def _refusal(response: httpx2.Response) -> str:
    """Return the words of a refusal, as far as they came: its status says enough."""
    words = bytearray()
    try:
        async for chunk in _read(response):
            words += chunk
    except ExchangeProblem as problem:
        if problem.kind == "malformed":
            raise
    return words.decode("utf-8", "replace")


async def _read(response: httpx2.Response) -> AsyncIterator[bytes]:
    assert isinstance(response.stream, httpx2.AsyncByteStream)
    try:
        async for chunk in response.aiter_bytes() if "content-encoding" in response.headers else response.stream:
            yield chunk
    except Exception as problem:
        raise exchange_problem(problem) from None


def plain_headers() -> dict[str, str]:
    """Return the headers of every request. Compression would defeat the size limit."""
    return {
        "Accept": "application/json, text/event-stream",
        "Accept-Encoding": "identity",
        "Content-Type": "application/json",
        "User-Agent": f"prosa/{__version__}",
    }


def times(timeout: float, silence: float) -> httpx2.Timeout:
    """Return how long one exchange may take, and how many seconds may pass between two reads of it."""
    return httpx2.Timeout(timeout, connect=min(CONNECT_SECONDS, timeout), read=silence)


def client_of(endpoint: Endpoint) -> httpx2.AsyncClient:
    """Return a client over connections to a service. Raises what `pools_of` does."""
    return httpx2.AsyncClient(transport=pools_of(endpoint), follow_redirects=False, trust_env=False)


def pools_of(endpoint: Endpoint) -> Pools:
    """Return connections to a service. Raises `ExchangeProblem` for what the environment says of proxies or
    certificates."""
    is_plain = is_loopback(urlsplit(endpoint.base_url).hostname or "") and endpoint.base_url.startswith("http:")
    try:
        make = partial(
            httpx2.AsyncHTTPTransport,
            # Loading the machine's certificates takes 15 ms; plain http to this machine needs none, and gets none.
            verify=SSLContext(PROTOCOL_TLS_CLIENT) if is_plain else httpx2.create_ssl_context(),
            limits=httpx2.Limits(
                max_connections=POOL_SIZE, max_keepalive_connections=POOL_SIZE, keepalive_expiry=KEEP_ALIVE_SECONDS
            ),
            proxy=proxy_of(endpoint.base_url),
        )
        return Pools(make, most_connections())
    except ImportError:
        reason, hint = (
            "is behind a SOCKS proxy, which is not supported",
            "name an HTTP proxy in HTTPS_PROXY or ALL_PROXY",
        )
    except (ValueError, httpx2.InvalidURL):
        reason, hint = "is behind a proxy with an invalid address", "check HTTPS_PROXY, HTTP_PROXY and ALL_PROXY"
    except OSError:
        reason, hint = "cannot be trusted: the certificates cannot be read", "check SSL_CERT_FILE and SSL_CERT_DIR"
    raise ExchangeProblem(reason, kind="bad-request", hint=hint)


def proxy_of(base_url: str) -> str | None:
    """Return the proxy that the environment names for an address; none for this machine."""
    parts, proxies = urlsplit(base_url), getproxies()
    proxy = proxies.get(parts.scheme) or proxies.get("all")
    host = parts.netloc.rpartition("@")[2]
    if not proxy or is_loopback(parts.hostname or "") or proxy_bypass(host) or proxy_bypass(parts.hostname or ""):
        return None
    return proxy if "://" in proxy else f"http://{proxy}"


def exchange_problem(problem: Exception, *, proxied: bool = False) -> ExchangeProblem:
    """Return what a failed exchange means. The first cause decides: the layers above it translate differently."""
    if isinstance(problem, ExchangeProblem):
        return problem
    causes = list(_causes(problem))
    large = next((cause for cause in causes if isinstance(cause, AnswerTooLarge)), None)
    if large is not None:
        return ExchangeProblem(f"sent {large}")
    if isinstance(problem, httpx2.ConnectTimeout):
        hint = _PROXY_HINT if proxied else "check the base URL: its host, its port, and whether it is https"
        return ExchangeProblem("did not answer in time", kind="timeout", retryable=True, hint=hint)
    if isinstance(problem, httpx2.TimeoutException):
        return ExchangeProblem("did not answer in time", kind="timeout", retryable=True)
    if isinstance(problem, httpx2.DecodingError):
        return ExchangeProblem("sent an answer that cannot be decompressed", retryable=True)
    if isinstance(problem, httpx2.UnsupportedProtocol | httpx2.InvalidURL):
        return ExchangeProblem(
            "has a base URL that is not an http address", kind="bad-request", hint="check the base URL"
        )
    if isinstance(problem, httpx2.ProxyError):
        return ExchangeProblem(
            "is behind a proxy that refused", kind="network", retryable=True, quoted=str(problem), hint=_PROXY_HINT
        )
    if isinstance(problem, httpx2.TransportError | OSError):
        return _connection_problem(problem, causes, proxied=proxied)
    words = str(problem)
    return ExchangeProblem("could not be asked", kind="bad-request", quoted=words, hint="check the base URL")


_PROXY_HINT = "check HTTPS_PROXY, HTTP_PROXY and ALL_PROXY; NO_PROXY names hosts without one"


def _connection_problem(problem: Exception, causes: list[BaseException], *, proxied: bool) -> ExchangeProblem:
    names = {type(cause).__name__ for cause in causes}
    hint = "check the base URL, and that the service runs"
    quoted = next((cause.strerror for cause in reversed(causes) if isinstance(cause, OSError) and cause.strerror), "")
    if any("SSL" in name or "Certificate" in name for name in names) or "[SSL" in f"{problem}{quoted}":
        return ExchangeProblem("cannot be trusted: TLS failed", kind="network", quoted=quoted, hint=hint)
    if "gaierror" in names:
        reason, quoted, is_absent = "cannot be found: its name does not resolve", "", True
    elif "ConnectionRefusedError" in names:
        reason, quoted, is_absent = "cannot be reached: connection refused", "", True
    elif isinstance(problem, httpx2.ConnectError):
        reason, is_absent = "cannot be reached", False
    else:
        reason, hint, is_absent = "broke off the connection", "", False
    if proxied and isinstance(problem, httpx2.ConnectError):
        reason, hint = f"is behind a proxy that {reason}", _PROXY_HINT
    return ExchangeProblem(reason, kind="network", retryable=True, quoted=quoted, hint=hint, is_absent=is_absent)


def _causes(problem: BaseException) -> Iterator[BaseException]:
    """Yield the problem and what it came from, outermost first; of an attempt at several addresses what each gave."""
    waiting: list[BaseException] = [problem]
    seen: list[BaseException] = []
    while waiting:
        current = waiting.pop(0)
        if current in seen:
            continue
        seen.append(current)
        yield current
        if isinstance(current, BaseExceptionGroup):
            waiting += current.exceptions
        elif (cause := current.__cause__ or current.__context__) is not None:
            waiting.append(cause)


POOL_SIZE = 4
"""Connections of one pool: a call asks each one that is idle whether it is still open, when it begins and when it
ends."""

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
        return sum(pool.busy for pool in self._pools)

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
        for pool in self._pools:
            await pool.transport.aclose()

    async def _place(self, seconds: float | None) -> None:
        try:
            async with asyncio.timeout(seconds):
                await self._free.acquire()
        except TimeoutError:
            raise httpx2.PoolTimeout("no connection became free") from None

    def _chosen(self) -> _Pool:
        pool = next((candidate for candidate in self._pools if candidate.busy < POOL_SIZE), None)
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
    raise AnswerTooLarge(f"the encoding {encoding[:40]!r}, which was not requested")


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
