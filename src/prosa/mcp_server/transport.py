"""The transports of the server: standard input and output, or an ASGI application for Streamable HTTP.

Sessions over HTTP are bounded per client and in total, and ended when idle (X9). They end by DELETE, according to the
protocol: the client then gets 404 and starts again.
"""

from __future__ import annotations

import asyncio
import hmac
import json
from collections import Counter, OrderedDict
from collections.abc import AsyncIterable, Callable, Collection
from typing import TYPE_CHECKING, Any, TypeAlias, cast

import anyio
import mcp_types
from anyio.streams.memory import MemoryObjectSendStream
from mcp.server import stdio, streamable_http
from mcp.server.lowlevel.server import Server
from mcp.server.transport_security import TransportSecuritySettings
from mcp.shared.message import SessionMessage
from mcp_types import (
    INVALID_REQUEST,
    PARSE_ERROR,
    ErrorData,
    JSONRPCError,
    JSONRPCMessage,
    JSONRPCNotification,
    JSONRPCRequest,
)
from msgspec import Struct, field
from pydantic import ValidationError

from prosa.asgi import Asgi, Receive, RequestEvent, Scope, Send, Sent
from prosa.data import Value
from prosa.data.surrogates import has_surrogate
from prosa.runtime.ports import Clock

if TYPE_CHECKING:
    from mcp.shared._context_streams import ContextSendStream

Incoming: TypeAlias = SessionMessage | Exception

PATH = "/mcp"
MAX_BODY = 4 * 1024 * 1024
"""Bytes of one request."""


def serve_stdio(server: Server[Any]) -> None:
    """Answer on standard output what comes on standard input, until that ends."""

    vars(stdio)["types"] = _MessageTypes()  # the module parses lines by this name and takes no other parser

    async def run() -> None:
        async with stdio.stdio_server() as (incoming, outgoing), anyio.create_task_group() as group:
            send, receive = anyio.create_memory_object_stream[Incoming]()
            group.start_soon(_relay, incoming, send, outgoing)
            await server.run(receive, outgoing, server.create_initialization_options())
            group.cancel_scope.cancel()

    anyio.run(run)


class _MessageTypes:
    """Stands for the types of messages where the library reads them: a request whose id is null or 1.5 is none for it,
    but a notification, and the id is gone before anything of ours sees the message."""

    def __init__(self) -> None:
        self.jsonrpc_message_adapter = self

    def __getattr__(self, name: str) -> object:
        """Return what the library's types have."""
        return getattr(mcp_types, name)

    def validate_json(self, line: str, *, by_name: bool | None = None) -> JSONRPCMessage:
        """Return the message in a line. Raises `ValidationError`, and `WrongId`."""
        message = mcp_types.jsonrpc_message_adapter.validate_json(line, by_name=by_name)
        is_notification = isinstance(message, JSONRPCNotification)
        if is_notification and isinstance(data := _decoded(line), dict) and "id" in data:
            raise WrongId("an id is a string or a whole number")
        return message

    def validate_python(self, message: Value, *, by_name: bool | None = None) -> JSONRPCMessage:
        """Return the message in the body of a request over HTTP. Raises `ValidationError`."""
        read = mcp_types.jsonrpc_message_adapter.validate_python(message, by_name=by_name)
        if isinstance(read, JSONRPCNotification) and isinstance(message, dict) and "id" in message:
            return JSONRPCRequest.model_validate(message)
        return read


class WrongId(Exception):
    """A request with an id that no answer can have."""


async def _relay(
    incoming: AsyncIterable[Incoming],
    messages: MemoryObjectSendStream[Incoming],
    outgoing: ContextSendStream[SessionMessage],
) -> None:
    """Pass messages on, and refuse other lines, which the library drops: their client waits for an answer."""
    async with messages:
        async for message in incoming:
            if not isinstance(message, ValidationError | WrongId):
                await messages.send(message)
            elif (answer := refusal(message)) is not None:
                await outgoing.send(SessionMessage(answer))


def refusal(error: ValidationError | WrongId) -> JSONRPCError | None:
    """Return the answer to a line that is no message, with the id of its request if it has one; None for a blank line,
    for a notification, and for an answer: one to that would have the id of a request of the client."""
    if isinstance(error, WrongId):
        data = ErrorData(code=INVALID_REQUEST, message="Invalid Request", data=str(error))
        return JSONRPCError(jsonrpc="2.0", id=None, error=data)
    errors = error.errors(include_url=False)
    reason, line = errors[0]["msg"], errors[0]["input"]
    if errors[0]["type"] == "json_invalid":
        if not line.strip():
            return None
        code, message, request = PARSE_ERROR, "Parse error", _decoded(line)
    else:
        code, message = INVALID_REQUEST, "Invalid Request"
        request = next((problem["input"] for problem in errors if problem["type"] == "missing"), None)
    fields = request if isinstance(request, dict) else {}
    is_answer = "method" not in fields and bool(fields.keys() & {"result", "error"})
    if is_answer or ("method" in fields and "id" not in fields):
        return None
    number = fields.get("id")
    known = number if type(number) is int or (isinstance(number, str) and not has_surrogate(number)) else None
    error_data = ErrorData(code=code, message=message, data=reason)
    return JSONRPCError(jsonrpc="2.0", id=known, error=error_data)


def _decoded(line: str) -> Value:
    """Return what Python reads in a line that the library refuses, such as half of a surrogate pair."""
    try:
        value: Value = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return value


def http_application(
    server: Server[Any], hosts: Collection[str], clock: Clock, token: str = "", client: Callable[[str], str] = str
) -> Asgi:
    """Return the server at `/mcp`. It only answers requests whose `Host` is one of ``hosts``, from pages of these
    hosts or from no page; a ``token`` is required if set. ``client`` maps an address to the name under which the
    sessions of one client are counted."""
    vars(streamable_http)["jsonrpc_message_adapter"] = _MessageTypes()  # the module takes no other parser
    origins = [f"{scheme}://{host}" for host in hosts for scheme in ("http", "https")]
    security = TransportSecuritySettings(
        enable_dns_rebinding_protection=True, allowed_hosts=list(hosts), allowed_origins=origins
    )
    inner = server.streamable_http_app(
        streamable_http_path=PATH,
        transport_security=security,
        max_request_body_size=MAX_BODY,
        session_idle_timeout=None,  # ours, by a clock that a test can move
        max_sessions=None,
    )
    sessions = Sessions(cast("Asgi", inner), clock, PATH, next(iter(hosts)), client)
    return _locked(sessions, token)


def _locked(inner: Asgi, token: str) -> Asgi:
    wanted = f"Bearer {token}".encode()

    async def application(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and token:
            authorization = next((value for name, value in scope["headers"] if name == b"authorization"), b"")
            if not hmac.compare_digest(authorization, wanted):
                headers = [(b"content-type", b"text/plain"), (b"www-authenticate", b'Bearer realm="prosa"')]
                await send({"type": "http.response.start", "status": 401, "headers": headers})
                await send({"type": "http.response.body", "body": b"unauthorized\n"})
                return
        await inner(scope, receive, send)

    return application


HEADER = b"mcp-session-id"

IDLE_SECONDS = 30 * 60.0
"""How long a session is kept without a request."""

LOOK_SECONDS = 60.0
"""How often idle sessions are searched for."""

MOST = 512
"""Maximum number of sessions. Each takes some 60 KB."""

MOST_OF_CLIENT = 64
"""Maximum number of sessions of one client: its newest ones."""

FULL = b'{"jsonrpc": "2.0", "id": null, "error": {"code": -32603, "message": "Too many open sessions"}}\n'


class Session(Struct):
    """A session of a client: when its last request ended, and how many are under way."""

    client: str
    seen: float
    busy: int = 0


class Sessions(Struct):
    """The application ``inner`` at ``path`` of ``host`` with a table of its sessions, least recently used first.
    ``client`` returns the name under which the requests of one client are counted."""

    inner: Asgi
    clock: Clock
    path: str
    host: str
    client: Callable[[str], str] = str
    idle_seconds: float = IDLE_SECONDS
    most: int = MOST
    most_of_client: int = MOST_OF_CLIENT
    _open: OrderedDict[bytes, Session] = field(default_factory=OrderedDict)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, or live as long as the server."""
        if scope["type"] == "lifespan":
            await self._live(scope, receive, send)
        elif scope["type"] == "http":
            await self._answer(scope, receive, send)
        else:
            await self.inner(scope, receive, send)

    @property
    def count(self) -> int:
        """How many sessions are open."""
        return len(self._open)

    async def end_idle(self) -> None:
        """End the idle sessions."""
        before = self.clock.monotonic() - self.idle_seconds
        idle = [name for name, session in self._open.items() if not session.busy and session.seen <= before]
        for name in idle:
            await self._end(name)

    async def _live(self, scope: Scope, receive: Receive, send: Send) -> None:
        looking = asyncio.create_task(self._look())
        try:
            await self.inner(scope, receive, send)
        finally:
            looking.cancel()

    async def _look(self) -> None:
        while True:
            await self.clock.sleep(LOOK_SECONDS)
            await self.end_idle()

    async def _answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        name = next((value for key, value in scope["headers"] if key == HEADER), b"")
        session = self._open.get(name)
        if session is None:
            await self._begin(scope, receive, send)
            return
        session.busy += 1
        try:
            await self.inner(scope, receive, send)
        finally:
            session.busy -= 1
            session.seen = self.clock.monotonic()
            if name in self._open:
                self._open.move_to_end(name)
        if scope["method"] == "DELETE":
            self._open.pop(name, None)

    async def _begin(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request without a session. It may start one, which the answer names."""
        begun, refused = b"", False
        client = self.client((scope.get("client") or ("",))[0])

        async def sending(message: Sent) -> None:
            nonlocal begun, refused
            if message["type"] == "http.response.start" and message["status"] < 400:
                begun = next((value for key, value in message["headers"] if key.lower() == HEADER), b"")
                refused = bool(begun) and not await self._has_room(client)
                if begun and not refused:
                    self._open[begun] = Session(client, self.clock.monotonic(), 1)
            if not refused:
                await send(message)

        try:
            await self.inner(scope, receive, sending)
        finally:
            if (session := self._open.get(begun)) is not None:
                session.busy -= 1
                session.seen = self.clock.monotonic()
        if refused:
            await self._end(begun)
            headers = [(b"content-type", b"application/json"), (b"retry-after", b"60")]
            await send({"type": "http.response.start", "status": 503, "headers": headers})
            await send({"type": "http.response.body", "body": FULL})

    async def _has_room(self, client: str) -> bool:
        """Return whether one more session may start; the least recently used one of the client, or of all,
        makes room for it."""
        of_client = Counter(session.client for session in self._open.values())[client]
        if of_client >= self.most_of_client:
            return await self._make_room(lambda session: session.client == client)
        return len(self._open) < self.most or await self._make_room(lambda _: True)

    async def _make_room(self, of: Callable[[Session], bool]) -> bool:
        unused = next((name for name, session in self._open.items() if not session.busy and of(session)), None)
        if unused is None:
            return False
        await self._end(unused)
        return True

    async def _end(self, name: bytes) -> None:
        """End a session as its client would."""
        self._open.pop(name, None)
        scope: Scope = {
            "type": "http",
            "asgi": {"version": "3.0"},
            "http_version": "1.1",
            "method": "DELETE",
            "scheme": "http",
            "path": self.path,
            "raw_path": self.path.encode(),
            "root_path": "",
            "query_string": b"",
            "headers": [(b"host", self.host.encode("latin-1")), (HEADER, name)],
            "client": None,
            "server": None,
        }
        await self.inner(scope, _nothing, _unheard)


async def _nothing() -> RequestEvent:
    return {"type": "http.request", "body": b"", "more_body": False}


async def _unheard(_: Sent) -> None:
    return
