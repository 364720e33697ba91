"""One POST to a model service through the openai client: bytes out, status, type and bytes back.

This module loads the openai package, so only `OpenAIProvider` imports it, at its first call. The client's own retries
are off (X9) and its typed layer is not used: a body is sent as given and an answer is read by us, in half the time.

Nothing reaches the service but what was given here. The client would add organisation, project, admin key and further
headers from the environment, which may belong to another service (X7), and facts about this machine (LW13); all of them
are taken out. Redirects are not followed: the text and the key go to the address that the user named.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from ipaddress import ip_address
from ssl import PROTOCOL_TLS_CLIENT, SSLContext
from typing import Any, cast
from urllib.parse import urlsplit

import httpx2
from openai import APIConnectionError, APIStatusError, AsyncOpenAI, AsyncStream, Omit, OpenAIError

from prosa import __version__
from prosa.adapters.providers.bounded import AnswerTooLarge, bound_answer
from prosa.adapters.providers.failures import Endpoint, ExchangeProblem, StatusProblem

CONNECT_SECONDS = 10.0  # a service that does not take a connection by then is not there
KEEP_ALIVE_SECONDS = 30.0  # tools run between two calls of one conversation
MAX_CONNECTIONS = 1000
_NOT_SENT = (
    "OpenAI-Organization",
    "OpenAI-Project",
    "X-Stainless-Arch",
    "X-Stainless-Async",
    "X-Stainless-Lang",
    "X-Stainless-OS",
    "X-Stainless-Package-Version",
    "X-Stainless-Read-Timeout",
    "X-Stainless-Retry-Count",
    "X-Stainless-Runtime",
    "X-Stainless-Runtime-Version",
)


@dataclass(frozen=True, slots=True)
class Answer:
    """A successful answer: its content type in lower case, and its bytes as they come."""

    content_type: str
    chunks: AsyncIterator[bytes]


class Transport:
    """The connections to one service, of one event loop."""

    def __init__(self, endpoint: Endpoint, *, timeout: float) -> None:
        self.loop = asyncio.get_running_loop()
        self._timeout = timeout
        self._headers = _headers(endpoint)
        self._client = AsyncOpenAI(
            api_key="unused",  # the real one goes into the headers of each request, and nowhere else
            admin_api_key="",
            organization="",
            project="",
            webhook_secret="",
            base_url=endpoint.base_url,
            max_retries=0,
            http_client=_http_client(endpoint, timeout),
        )

    @asynccontextmanager
    async def post(self, path: str, body: bytes, *, silence: float) -> AsyncIterator[Answer]:
        """Sends a body; ``silence`` is how many seconds may pass between two reads.

        Raises `StatusProblem` for an answer that is no success and `ExchangeProblem` when there is none.
        """
        limits = httpx2.Timeout(self._timeout, connect=min(CONNECT_SECONDS, self._timeout), read=silence)
        try:
            answer: object = await self._client.post(
                path,
                cast_to=httpx2.Response,
                content=body,
                options={"headers": self._headers, "timeout": limits},
                stream=True,
                stream_cls=AsyncStream[Any],
            )
        except APIStatusError as problem:
            raise StatusProblem(problem.status_code, problem.response.headers, problem.response.text) from None
        except Exception as problem:
            raise _exchange_problem(problem) from None
        response = cast("httpx2.Response", answer)
        try:
            yield Answer(response.headers.get("content-type", "").lower(), _read(response))
        finally:
            await response.aclose()

    async def aclose(self) -> None:
        """Closes all connections."""
        await self._client.close()


async def _read(response: httpx2.Response) -> AsyncIterator[bytes]:
    try:
        async for chunk in response.aiter_bytes():
            yield chunk
    except Exception as problem:
        raise _exchange_problem(problem) from None


def _headers(endpoint: Endpoint) -> dict[str, str | Omit]:
    headers: dict[str, str | Omit] = dict.fromkeys((*_ambient_headers(), *_NOT_SENT), Omit())
    headers["Authorization"] = f"Bearer {endpoint.api_key}" if endpoint.api_key else Omit()
    # Compression would defeat the size limit.
    headers |= {"Content-Type": "application/json", "Accept-Encoding": "identity", "User-Agent": f"prosa/{__version__}"}
    return headers


def _ambient_headers() -> list[str]:
    """Names of the headers that the client takes from the environment."""
    lines = os.environ.get("OPENAI_CUSTOM_HEADERS", "").split("\n")
    return [name.strip() for name, colon, _ in (line.partition(":") for line in lines) if colon]


def _http_client(endpoint: Endpoint, timeout: float) -> httpx2.AsyncClient:
    """With aiohttp installed its transport is used: twice the calls per second with many at once."""
    from openai import DefaultAioHttpClient, DefaultAsyncHttpxClient

    make = DefaultAioHttpClient if _has_aiohttp() else DefaultAsyncHttpxClient
    loopback = _is_loopback(endpoint.base_url)
    return make(
        timeout=timeout,
        follow_redirects=False,
        limits=httpx2.Limits(
            max_connections=MAX_CONNECTIONS,
            max_keepalive_connections=MAX_CONNECTIONS,
            keepalive_expiry=KEEP_ALIVE_SECONDS,
        ),
        event_hooks={"response": [bound_answer]},
        trust_env=not loopback,  # a proxy for the world must not be asked for this machine
        # Loading the machine's certificates takes 15 ms; plain http to this machine needs none, and gets none.
        verify=SSLContext(PROTOCOL_TLS_CLIENT) if loopback and endpoint.base_url.startswith("http:") else True,
    )


def _has_aiohttp() -> bool:
    try:
        import aiohttp  # noqa: F401
    except ImportError:
        return False
    return True


def _is_loopback(base_url: str) -> bool:
    host = urlsplit(base_url).hostname or ""
    try:
        return host == "localhost" or ip_address(host).is_loopback
    except ValueError:
        return False


def _exchange_problem(problem: Exception) -> ExchangeProblem:
    """What a failed exchange means. The first cause decides: the layers above it translate differently."""
    if isinstance(problem, ExchangeProblem):
        return problem
    causes = _causes(problem)
    first = causes[-1]
    for cause in causes:
        if isinstance(cause, AnswerTooLarge):
            return ExchangeProblem(f"sent {cause}")
    if "Timeout" in type(first).__name__:
        return ExchangeProblem("did not answer in time", kind="timeout", retryable=True)
    if isinstance(problem, httpx2.DecodingError):
        return ExchangeProblem("sent an answer that cannot be decompressed", retryable=True)
    if isinstance(problem, APIConnectionError | httpx2.TransportError | OSError):
        return _connection_problem(causes)
    if isinstance(problem, httpx2.InvalidURL | OpenAIError | TypeError | ValueError):
        words = str(first)
        return ExchangeProblem("could not be asked", kind="bad-request", quoted=words, hint="check the base URL")
    return ExchangeProblem("broke off the connection", kind="network", retryable=True, quoted=_words(first))


def _connection_problem(causes: list[BaseException]) -> ExchangeProblem:
    names = " ".join(type(cause).__name__ for cause in causes)
    quoted = _words(causes[-1])
    hint = "check the base URL, and that the service runs"
    if "SSL" in names or "Certificate" in names or "[SSL" in quoted:
        return ExchangeProblem("cannot be trusted: TLS failed", kind="network", quoted=quoted, hint=hint)
    if "UnsupportedProtocol" in names or "InvalidUrl" in names:
        return ExchangeProblem("has a base URL that is no http address", kind="bad-request", hint="check the base URL")
    is_absent = True
    if "gaierror" in names or "DNS" in names:
        reason, quoted = "cannot be found: its name does not resolve", ""
    elif "ConnectionRefusedError" in names:
        reason, quoted = "cannot be reached: connection refused", ""
    elif "ConnectError" in names or "Connector" in names:
        reason, is_absent = "cannot be reached", False
    else:
        reason, hint, is_absent = "broke off the connection", "", False
    return ExchangeProblem(reason, kind="network", retryable=True, quoted=quoted, hint=hint, is_absent=is_absent)


def _causes(problem: BaseException) -> list[BaseException]:
    """The problem and what it came from, outermost first. A cancelled wait is how a timeout works, not its cause."""
    chain: list[BaseException] = []
    current: BaseException | None = problem
    while current is not None and current not in chain and not isinstance(current, asyncio.CancelledError):
        chain.append(current)
        current = current.__cause__ or current.__context__
    return chain


def _words(problem: BaseException) -> str:
    """What the operating system says; the words of a library are for its own users."""
    return (problem.strerror or "") if isinstance(problem, OSError) else ""
