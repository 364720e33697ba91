"""One connection to one server: which transports to try, and the SDK client over the one that is tried.

In: a server's configuration. Out: the routes in the order to try them (LA9, L19) and, for a route, an open client.
Refuses to let the SDK write to our stderr, start a process that inherits anything, or read an unbounded answer.
"""

from __future__ import annotations

import logging
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from types import TracebackType
from typing import TYPE_CHECKING, Any, Literal, Self

import anyio
import httpx2
import mcp_types as types
from mcp import Client
from mcp.client.sse import sse_client
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.message import SessionMessage
from msgspec import Struct
from pydantic import ValidationError

from prosa import __version__
from prosa.adapters.mcp import stdio
from prosa.adapters.mcp.credential import Credential
from prosa.adapters.mcp.observed import WANT_CREDENTIAL, Observed
from prosa.adapters.mcp.stdio import MESSAGE_LIMIT, TOO_LARGE, stdio_streams
from prosa.data import Value
from prosa.runtime.ports import ServerConfig

if TYPE_CHECKING:
    from mcp.client._transport import ReadStream, TransportStreams

# Our errors report the faults of a server. Without its own handler the SDK's log would go to stderr.
for _name in ("mcp", "client"):
    logging.getLogger(_name).addHandler(logging.NullHandler())

UNREADABLE = "it sent an answer that cannot be read"

Mend = Callable[[dict[str, Any]], None]


class Route(Struct, frozen=True):
    """A way to talk to a server. `mode` is the SDK's: `auto` asks for the newest protocol first."""

    transport: Literal["stdio", "streamable-http", "sse"]
    mode: Literal["auto", "legacy"]


class Launch(Struct, frozen=True):
    """The data needed to connect to a server, apart from the transport. `env` is complete, `credential` is sent to it
    over HTTP (X18)."""

    config: ServerConfig
    env: dict[str, str]
    cwd: str
    credential: Credential | None = None


def routes(config: ServerConfig) -> tuple[Route, ...]:
    """Return the routes to try in order. The next one is for a failure that `falls_back` accepts."""
    if config.command is not None:
        return (Route("stdio", "auto"), Route("stdio", "legacy"))
    modern, legacy = Route("streamable-http", "auto"), Route("sse", "legacy")
    if config.transport == "auto":
        return (modern, legacy)
    return (legacy,) if config.transport == "sse" else (modern,)


def falls_back(route: Route, seen: Observed) -> bool:
    """Return whether a failed start on this route is worth a try on the next one.

    A stdio server that ended may be one that dies of the newest protocol's first question. An HTTP server that
    refused with 4xx may be one of the old kind (LA9).
    """
    if route.transport == "stdio":
        return seen.ended.is_set()
    return seen.http_status is not None and 400 <= seen.http_status < 500


@asynccontextmanager
async def open_client(launch: Launch, route: Route, seen: Observed, mend: Mend) -> AsyncIterator[Client]:
    """Return a client that has agreed on a protocol with the server. Raises what the SDK raises, often in groups."""
    hide = launch.credential.hide if launch.credential is not None else None
    transport = _Watched(_streams(launch, route, seen), seen, _Mended(mend, hide), loses=route.transport == "sse")
    info = types.Implementation(name="prosa", version=__version__)
    # Answers are not cached: a list is read once per connection, and a cache has a clock and a store of its own.
    async with Client(transport, mode=route.mode, client_info=info, cache=None) as client:
        yield client


def _streams(launch: Launch, route: Route, seen: Observed) -> AbstractAsyncContextManager[TransportStreams]:
    url = launch.config.url or ""
    if route.transport == "stdio":
        return _process_streams(launch, seen)
    if route.transport == "sse":
        return sse_client(url, httpx_client_factory=_AlwaysOurs(seen, launch.credential))
    return _http_streams(url, seen, launch.credential)


class _AlwaysOurs(Struct, frozen=True):
    """Gives our HTTP client where the SDK would make one with its own time limits."""

    seen: Observed
    credential: Credential | None

    def __call__(
        self,
        headers: dict[str, str] | None = None,  # noqa: ARG002
        timeout: httpx2.Timeout | None = None,  # noqa: ARG002
        auth: httpx2.Auth | None = None,  # noqa: ARG002
    ) -> httpx2.AsyncClient:
        return http_client(self.seen, self.credential)


@asynccontextmanager
async def _http_streams(url: str, seen: Observed, credential: Credential | None) -> AsyncIterator[TransportStreams]:
    async with (
        http_client(seen, credential) as client,
        streamable_http_client(url, http_client=client, max_sse_event_size=MESSAGE_LIMIT) as streams,
    ):
        yield streams


class _Mended(Struct, frozen=True):
    """The treatment of every answer of a server: ``hide`` replaces secrets, since a server may repeat its input, and
    ``mend`` makes the rest readable."""

    mend: Mend
    hide: Callable[[str], str] | None

    def __call__(self, message: types.JSONRPCResponse | types.JSONRPCError) -> None:
        if isinstance(message, types.JSONRPCError):
            if self.hide is not None:
                message.error.message = self.hide(message.error.message)
            return
        if self.hide is not None:
            for key, value in message.result.items():
                message.result[key] = _hidden(value, self.hide)
        self.mend(message.result)


def _hidden(value: Value, hide: Callable[[str], str]) -> Value:
    if isinstance(value, str):
        return hide(value)
    if isinstance(value, list):
        return [_hidden(item, hide) for item in value]
    return {hide(key): _hidden(member, hide) for key, member in value.items()} if isinstance(value, dict) else value


class SpawnError(Exception):
    """The command could not be started at all; the cause says why."""


@asynccontextmanager
async def _process_streams(launch: Launch, seen: Observed) -> AsyncIterator[TransportStreams]:
    command = (launch.config.command or "", *launch.config.args)
    try:
        process = await stdio.start(command, env=launch.env, cwd=launch.cwd, seen=seen)
    except (OSError, ValueError) as problem:
        raise SpawnError from problem
    # No await between the two: a cancellation here would leave the process behind.
    async with stdio_streams(process, seen) as streams:
        yield streams


class _Watched(AbstractAsyncContextManager["TransportStreams"]):
    """A transport whose incoming messages pass through `mend`, and whose end is observed.

    A transport that ``loses`` unreadable messages never answers their callers; there such a message ends the
    connection.
    """

    def __init__(
        self, inner: AbstractAsyncContextManager[TransportStreams], seen: Observed, mend: _Mended, *, loses: bool
    ) -> None:
        self._inner = inner
        self._seen = seen
        self._mend = mend
        self._loses = loses

    async def __aenter__(self) -> TransportStreams:
        incoming, outgoing = await self._inner.__aenter__()
        return _WatchedStream(incoming, self._seen, self._mend, loses=self._loses), outgoing

    async def __aexit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> bool | None:
        return await self._inner.__aexit__(kind, value, trace)


class _WatchedStream:
    """The reading half of `_Watched`."""

    def __init__(
        self, inner: ReadStream[SessionMessage | Exception], seen: Observed, mend: _Mended, *, loses: bool
    ) -> None:
        self._inner = inner
        self._seen = seen
        self._mend = mend
        self._loses = loses

    @property
    def last_context(self) -> object:
        """The context of the sender, which the SDK looks for."""
        return getattr(self._inner, "last_context", None)

    async def receive(self) -> SessionMessage | Exception:
        try:
            item = await self._inner.receive()
        except anyio.EndOfStream:
            self._seen.ended.set()
            raise
        if self._loses and isinstance(item, ValidationError):
            self._seen.failure = UNREADABLE
            self._seen.ended.set()
            raise anyio.EndOfStream
        if isinstance(item, SessionMessage) and isinstance(item.message, types.JSONRPCResponse | types.JSONRPCError):
            self._mend(item.message)
        return item

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> SessionMessage | Exception:
        try:
            return await self.receive()
        except anyio.EndOfStream:
            raise StopAsyncIteration from None

    async def aclose(self) -> None:
        await self._inner.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> bool | None:
        await self.aclose()
        return None


# The HTTP client for servers behind a URL: bounded bodies, and the last status remembered.
#
# In: an `Observed` to note the status in. Out: an httpx2 client. Refuses bodies over the limit and compressed ones, of
# which a few bytes can become gigabytes.

CONNECT_SECONDS = 10.0
"""For a connection to stand. Reading has no bound of its own here: every start and every call has one."""


def http_client(seen: Observed, credential: Credential | None = None) -> httpx2.AsyncClient:
    """Return a client whose answers are bounded; event streams are bounded per event by the transports. A
    ``credential`` goes to its own origin, and no redirect is followed."""
    return httpx2.AsyncClient(
        headers={"accept-encoding": "identity"},
        auth=_Renewing(credential) if credential is not None and credential.renewal is not None else None,
        timeout=httpx2.Timeout(None, connect=CONNECT_SECONDS),
        follow_redirects=False,
        event_hooks={"request": [_sender(credential)], "response": [_watcher(seen)]},
    )


class _Renewing(httpx2.Auth):
    """Sends a request once more where the server does not accept the token of a login, and there is a new one."""

    def __init__(self, credential: Credential) -> None:
        self._credential = credential

    async def async_auth_flow(self, request: httpx2.Request) -> AsyncGenerator[httpx2.Request, httpx2.Response]:
        """Yield the request, at most twice."""
        response = yield request
        renewal = self._credential.renewal
        if response.status_code != 401 or renewal is None or not self._credential.for_url(str(request.url)):
            return
        if await renewal.refused():
            yield request


def _sender(credential: Credential | None) -> Callable[[httpx2.Request], Awaitable[None]]:
    """Return what every request passes, wherever it goes: the headers are set there, and nowhere else."""

    async def send(request: httpx2.Request) -> None:
        if credential is not None:
            if credential.renewal is not None:
                await credential.renewal.before()
            for name in credential.headers:
                request.headers.pop(name, None)
            request.headers.update(credential.for_url(str(request.url)))

    return send


def _watcher(seen: Observed) -> Callable[[httpx2.Response], Awaitable[None]]:
    async def watch(response: httpx2.Response) -> None:
        seen.http_status = response.status_code
        if response.status_code in WANT_CREDENTIAL:
            seen.challenge = response.headers.get("www-authenticate", "")
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
