"""One POST to a model service through httpx2: bytes out, status, type and bytes back.

This module loads httpx2, so only `OpenAIProvider` and `OpenAIEmbedder` import it, at their first call. A body is sent
and an answer is read as it is. Nothing is retried here (X9) but what `pools` says of kept connections.

Nothing reaches the service but what was given here, and no facts about this machine (X7, LW13). Redirects are not
followed: the text and the key go to the address that the user named. The environment says which proxy is asked
(`HTTPS_PROXY`, `HTTP_PROXY`, `ALL_PROXY`, `NO_PROXY`) and which certificates count (`SSL_CERT_FILE`, `SSL_CERT_DIR`,
else those of the machine). A proxy is never asked for this machine.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from functools import partial
from ssl import PROTOCOL_TLS_CLIENT, SSLContext
from urllib.parse import urlsplit, urlunsplit
from urllib.request import getproxies, proxy_bypass

import httpx2

from prosa import __version__
from prosa.adapters.providers.failures import Endpoint, ExchangeProblem, StatusProblem
from prosa.adapters.providers.open_files import most_connections
from prosa.adapters.providers.pools import KEEP_ALIVE_SECONDS, POOL_SIZE, AnswerTooLarge, Pools
from prosa.adapters.providers.wire import Answer
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
        self._client = client_of(endpoint)

    @asynccontextmanager
    async def post(self, path: str, body: bytes, *, silence: float) -> AsyncIterator[Answer]:
        """Send a body; ``silence`` is how many seconds may pass between two reads.

        Raises `StatusProblem` for an answer that is no success and `ExchangeProblem` when there is none.
        """
        limits = times(self._timeout, silence)
        async with answered(await self._send(path, body, limits)) as answer:
            yield answer

    async def _send(self, path: str, body: bytes, limits: httpx2.Timeout) -> httpx2.Response:
        """Return the head of the answer."""
        try:
            url = endpoint_url(self._base_url, path)
            # Built without the client: its own headers and the cookies of earlier answers do not leave.
            extensions = {"timeout": limits.as_dict()}
            asked = httpx2.Request("POST", url, content=body, headers=self._headers, extensions=extensions)
            return await self._client.send(asked, stream=True)
        except Exception as problem:
            raise exchange_problem(problem, proxied=self._has_proxy) from None

    async def aclose(self) -> None:
        """Close all connections."""
        await self._client.aclose()


def endpoint_url(base_url: str, path: str) -> str:
    """Return a path, which may have a query, below a base URL, whose own query some services want kept."""
    parts, below = urlsplit(base_url), urlsplit(path)
    query = "&".join(filter(None, (parts.query, below.query)))
    return urlunsplit(parts._replace(path=parts.path.rstrip("/") + below.path, query=query, fragment=""))


@asynccontextmanager
async def answered(response: httpx2.Response) -> AsyncIterator[Answer]:
    """Return the answer of a response, which is closed at the end. Raises `StatusProblem` for one that is no
    success."""
    try:
        if not response.is_success:
            raise StatusProblem(response.status_code, response.headers, await _refusal(response))
        yield Answer(response.headers.get("content-type", "").lower(), _read(response))
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
    try:
        async for chunk in response.aiter_bytes():
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
        pools = Pools(make, most_connections())
        return httpx2.AsyncClient(transport=pools, follow_redirects=False, trust_env=False)
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


def proxy_of(base_url: str) -> str | None:
    """Return the proxy that the environment names for an address; none for this machine."""
    parts, proxies = urlsplit(base_url), getproxies()
    found = proxies.get(parts.scheme) or proxies.get("all")
    host = parts.netloc.rpartition("@")[2]
    if not found or is_loopback(parts.hostname or "") or proxy_bypass(host) or proxy_bypass(parts.hostname or ""):
        return None
    return found if "://" in found else f"http://{found}"


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
