"""The transports of the server: standard input and output, or an ASGI application for Streamable HTTP.

In: a server. Out: a process that answers until its client disconnects; an application with its hosts and its token.
"""

from __future__ import annotations

import hmac
from collections.abc import Callable, Collection
from typing import Any, cast

import anyio
from mcp.server.lowlevel.server import Server
from mcp.server.stdio import stdio_server
from mcp.server.transport_security import TransportSecuritySettings

from prosa.mcp_server.sessions import Asgi, Message, Receive, Send, Sessions
from prosa.runtime.ports import Clock

PATH = "/mcp"
MAX_BODY = 4 * 1024 * 1024
"""Bytes of one request."""


def serve_stdio(server: Server[Any]) -> None:
    """Answer on standard output what comes on standard input, until that ends."""

    async def run() -> None:
        async with stdio_server() as (incoming, outgoing):
            await server.run(incoming, outgoing, server.create_initialization_options())

    anyio.run(run)


def http_application(
    server: Server[Any], hosts: Collection[str], clock: Clock, token: str = "", client: Callable[[str], str] = str
) -> Asgi:
    """Return the server at `/mcp`. It only answers requests whose `Host` is one of ``hosts``, from pages of these
    hosts or from no page; a ``token`` is required if set. ``client`` maps an address to the name under which the
    sessions of one client are counted."""
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
