"""How the server is reached: over standard input and output, or as an ASGI application for Streamable HTTP.

In: a server. Out: a process that answers until its client is gone; an application that knows its hosts and its token.
"""

from __future__ import annotations

import hmac
from collections.abc import Awaitable, Callable, Collection
from typing import Any, TypeAlias, cast

import anyio
from mcp.server.lowlevel.server import Server
from mcp.server.stdio import stdio_server
from mcp.server.transport_security import TransportSecuritySettings

PATH = "/mcp"
MAX_BODY = 4 * 1024 * 1024
"""Bytes of one request."""

Message: TypeAlias = dict[str, Any]
Receive: TypeAlias = Callable[[], Awaitable[Message]]
Send: TypeAlias = Callable[[Message], Awaitable[None]]
Asgi: TypeAlias = Callable[[Message, Receive, Send], Awaitable[None]]


def serve_stdio(server: Server[Any]) -> None:
    """Answers on standard output what comes on standard input, until that ends."""

    async def run() -> None:
        async with stdio_server() as (incoming, outgoing):
            await server.run(incoming, outgoing, server.create_initialization_options())

    anyio.run(run)


def http_application(server: Server[Any], hosts: Collection[str], token: str = "") -> Asgi:
    """The server at `/mcp`. It answers only requests whose `Host` is one of ``hosts``, from pages of these hosts or
    from no page; with a ``token`` only those that know it."""
    origins = [f"{scheme}://{host}" for host in hosts for scheme in ("http", "https")]
    security = TransportSecuritySettings(
        enable_dns_rebinding_protection=True, allowed_hosts=list(hosts), allowed_origins=origins
    )
    inner = server.streamable_http_app(
        streamable_http_path=PATH, transport_security=security, max_request_body_size=MAX_BODY
    )
    return _locked(cast("Asgi", inner), token)


def _locked(inner: Asgi, token: str) -> Asgi:
    wanted = f"Bearer {token}".encode()

    async def application(scope: Message, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and token:
            given = next((value for name, value in scope["headers"] if name == b"authorization"), b"")
            if not hmac.compare_digest(given, wanted):
                headers = [(b"content-type", b"text/plain"), (b"www-authenticate", b'Bearer realm="prosa"')]
                await send({"type": "http.response.start", "status": 401, "headers": headers})
                await send({"type": "http.response.body", "body": b"unauthorized\n"})
                return
        await inner(scope, receive, send)

    return application
