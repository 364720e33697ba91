"""One POST to a model service through httpx2: bytes out, status, type and bytes back.

This module loads httpx2, so only `OpenAIProvider` and `OpenAIEmbedder` import it, at their first call. A body is sent
and an answer is read as it is. Nothing is retried here (X9) but this: a kept connection that turns out to be closed
when it is used again was never asked, so another one is.

Nothing reaches the service but what was given here, and no facts about this machine (X7, LW13). Redirects are not
followed: the text and the key go to the address that the user named. The environment says which proxy is asked
(`HTTPS_PROXY`, `HTTP_PROXY`, `ALL_PROXY`, `NO_PROXY`) and which certificates count (`SSL_CERT_FILE`, `SSL_CERT_DIR`,
else those of the machine). A proxy is never asked for this machine.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from ssl import PROTOCOL_TLS_CLIENT, SSLContext
from urllib.parse import urlsplit, urlunsplit
from urllib.request import getproxies, proxy_bypass

import httpx2

from prosa import __version__
from prosa.adapters.providers.failures import Endpoint, ExchangeProblem, StatusProblem
from prosa.adapters.providers.wire import Answer
from prosa.data import Value
from prosa.source.url import is_loopback

CONNECT_SECONDS = 10.0  # a service that does not take a connection by then is not there
KEEP_ALIVE_SECONDS = 30.0  # tools run between two calls of one conversation
MAX_CONNECTIONS = 1000
_ENDED = (httpx2.RemoteProtocolError, httpx2.ReadError, httpx2.WriteError)
"""What a connection that the other side closed raises when it is used."""


class Transport:
    """The connections to one service, of one event loop."""

    def __init__(self, endpoint: Endpoint, *, timeout: float) -> None:
        """Raises `ExchangeProblem` for a proxy or certificates in the environment that cannot be used."""
        self.loop = asyncio.get_running_loop()
        self._timeout = timeout
        self._base_url = endpoint.base_url
        self._headers = _headers(endpoint)
        self._has_proxy = has_proxy(endpoint.base_url)
        self._client = client_of(endpoint)

    @asynccontextmanager
    async def post(self, path: str, body: bytes, *, silence: float) -> AsyncIterator[Answer]:
        """Sends a body; ``silence`` is how many seconds may pass between two reads.

        Raises `StatusProblem` for an answer that is no success and `ExchangeProblem` when there is none.
        """
        limits = times(self._timeout, silence)
        async with answered(await self._send(path, body, limits)) as answer:
            yield answer

    async def _send(self, path: str, body: bytes, limits: httpx2.Timeout) -> httpx2.Response:
        """The head of the answer."""
        try:
            asked = self._client.build_request(
                "POST", endpoint_url(self._base_url, path), content=body, headers=self._headers, timeout=limits
            )
            return await self._client.send(asked, stream=True)
        except Exception as problem:
            raise exchange_problem(problem, proxied=self._has_proxy) from None

    async def aclose(self) -> None:
        """Closes all connections."""
        await self._client.aclose()


def endpoint_url(base_url: str, path: str) -> str:
    """A path below a base URL, before its query: some services want a version there."""
    parts = urlsplit(base_url)
    return urlunsplit(parts._replace(path=parts.path.rstrip("/") + path, fragment=""))


@asynccontextmanager
async def answered(response: httpx2.Response) -> AsyncIterator[Answer]:
    """The answer of a response, which is closed at the end. Raises `StatusProblem` for one that is no success."""
    try:
        if not response.is_success:
            text = b"".join([chunk async for chunk in _read(response)]).decode("utf-8", "replace")
            raise StatusProblem(response.status_code, response.headers, text)
        yield Answer(response.headers.get("content-type", "").lower(), _read(response))
    finally:
        await response.aclose()


async def _read(response: httpx2.Response) -> AsyncIterator[bytes]:
    try:
        async for chunk in response.aiter_bytes():
            yield chunk
    except Exception as problem:
        raise exchange_problem(problem) from None


def plain_headers() -> dict[str, str]:
    """The headers of every request. Compression would defeat the size limit."""
    return {
        "Accept": "application/json, text/event-stream",
        "Accept-Encoding": "identity",
        "Content-Type": "application/json",
        "User-Agent": f"prosa/{__version__}",
    }


def _headers(endpoint: Endpoint) -> dict[str, str]:
    headers = {**plain_headers(), **endpoint.headers}
    return headers | ({"Authorization": f"Bearer {endpoint.api_key}"} if endpoint.api_key else {})


def times(timeout: float, silence: float) -> httpx2.Timeout:
    """How long one exchange may take, and how many seconds may pass between two reads of it."""
    return httpx2.Timeout(timeout, connect=min(CONNECT_SECONDS, timeout), read=silence)


class _SteadyClient(httpx2.AsyncClient):
    """Asks again where a kept connection turns out to be closed.

    Some services close one after a stream without saying so (llama.cpp does); ends of that kind say nothing about the
    service. Each one takes a connection out of the pool, so this ends.
    """

    async def send(
        self,
        request: httpx2.Request,
        *,
        stream: bool = False,
        auth: Value = httpx2.USE_CLIENT_DEFAULT,
        follow_redirects: Value = httpx2.USE_CLIENT_DEFAULT,
    ) -> httpx2.Response:
        """The answer; its head alone with ``stream``."""
        while True:
            opened: list[str] = []

            async def trace(name: str, _: object, opened: list[str] = opened) -> None:
                if name == "connection.connect_tcp.started":
                    opened.append(name)

            request.extensions = {**request.extensions, "trace": trace}
            try:
                response = await super().send(request, stream=True, auth=auth, follow_redirects=follow_redirects)
                break
            except _ENDED:
                if opened:
                    raise
        if not stream:
            try:
                await response.aread()
            finally:
                await response.aclose()
        return response


def client_of(endpoint: Endpoint) -> httpx2.AsyncClient:
    """Connections to a service. Raises `ExchangeProblem` for what the environment says of proxies or certificates."""
    loopback = is_loopback(urlsplit(endpoint.base_url).hostname or "")
    is_plain = loopback and endpoint.base_url.startswith("http:")
    try:
        return _SteadyClient(
            follow_redirects=False,
            limits=httpx2.Limits(
                max_connections=MAX_CONNECTIONS,
                max_keepalive_connections=MAX_CONNECTIONS,
                keepalive_expiry=KEEP_ALIVE_SECONDS,
            ),
            event_hooks={"response": [bound_answer]},
            trust_env=not loopback,
            # Loading the machine's certificates takes 15 ms; plain http to this machine needs none, and gets none.
            verify=SSLContext(PROTOCOL_TLS_CLIENT) if is_plain else httpx2.create_ssl_context(),
        )
    except ImportError:
        reason, hint = (
            "is behind a SOCKS proxy, which cannot be asked",
            "name an HTTP proxy in HTTPS_PROXY or ALL_PROXY",
        )
    except (ValueError, httpx2.InvalidURL):
        reason, hint = "is behind a proxy whose address is none", "check HTTPS_PROXY, HTTP_PROXY and ALL_PROXY"
    except OSError:
        reason, hint = "cannot be trusted: the certificates cannot be read", "check SSL_CERT_FILE and SSL_CERT_DIR"
    raise ExchangeProblem(reason, kind="bad-request", hint=hint)


def has_proxy(base_url: str) -> bool:
    """Whether the environment says that a proxy is asked for an address; it is no business of this machine's."""
    parts, proxies = urlsplit(base_url), getproxies()
    named = parts.scheme in proxies or "all" in proxies
    return named and not is_loopback(parts.hostname or "") and not proxy_bypass(parts.hostname or "")


def exchange_problem(problem: Exception, *, proxied: bool = False) -> ExchangeProblem:
    """What a failed exchange means. The first cause decides: the layers above it translate differently."""
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
        return ExchangeProblem("has a base URL that is no http address", kind="bad-request", hint="check the base URL")
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
    """The problem and what it came from, outermost first; of an attempt at several addresses what each gave."""
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


# A bound on what a model service may send is put around every answer before anything reads it.
#
# Loads httpx2, so only the transport imports it. Compressed answers were not asked for; one that comes all the same is
# held to a bound at which even the best compression stays below the limit.

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
