"""A server of the `mcp` library over HTTP that wants a token, on a free port of the loopback, with what it was sent."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import uvicorn
from mcp import types
from mcp.server.auth.provider import AccessToken
from mcp.server.auth.settings import AuthSettings
from mcp.server.lowlevel.server import Server
from pydantic import AnyHttpUrl

TOKEN = "token-of-the-user/7=="


class Locked:
    """Where it is, and the headers of every request."""

    def __init__(self) -> None:
        self.port = 0
        self.seen: list[tuple[str, dict[str, str]]] = []

    @property
    def origin(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def url(self) -> str:
        return f"{self.origin}/mcp"

    def sent(self, name: str) -> set[str | None]:
        """The values of a header in all requests."""
        return {headers.get(name) for _, headers in self.seen}

    async def verify_token(self, token: str) -> AccessToken | None:
        """Meets the library's `TokenVerifier`."""
        return AccessToken(token=token, client_id="c", scopes=["read"]) if token == TOKEN else None


def _server(seen: list[tuple[str, dict[str, str]]]) -> Server[Any]:
    async def list_tools(_: Any, __: Any) -> types.ListToolsResult:
        schema = {"type": "object"}
        said = f"Says what it was sent: {seen[-1][1].get('authorization')}"
        return types.ListToolsResult(tools=[types.Tool(name="tell", description=said, input_schema=schema)])

    async def call_tool(_: Any, params: types.CallToolRequestParams) -> types.CallToolResult:
        said = f"{params.name}: {seen[-1][1]}"
        return types.CallToolResult(
            content=[types.TextContent(type="text", text=said)], is_error=bool(params.arguments)
        )

    return Server("locked", on_list_tools=list_tools, on_call_tool=call_tool)


@asynccontextmanager
async def locked(*, open_to_all: bool = False) -> AsyncIterator[Locked]:
    """The server; ``open_to_all`` asks for no token."""
    made = Locked()
    listening = socket.socket()
    listening.bind(("127.0.0.1", 0))
    made.port = listening.getsockname()[1]
    auth = AuthSettings(
        issuer_url=AnyHttpUrl("https://login.example"),
        resource_server_url=AnyHttpUrl(made.url),
        required_scopes=["read"],
        validate_token_resource=False,
    )
    guard: dict[str, Any] = {} if open_to_all else {"auth": auth, "token_verifier": made}
    inner = _server(made.seen).streamable_http_app(**guard)

    async def app(scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] == "http":
            headers = {name.decode(): value.decode("latin-1") for name, value in scope["headers"]}
            made.seen.append((f"{scope['method']} {scope['path']}", headers))
        await inner(scope, receive, send)

    config = uvicorn.Config(app, log_config=None, lifespan="on", timeout_graceful_shutdown=1)
    server = uvicorn.Server(config)
    serving = asyncio.create_task(server.serve([listening]))
    while not server.started:
        await asyncio.sleep(0.01)
    try:
        yield made
    finally:
        server.should_exit = True
        await serving
        listening.close()


@asynccontextmanager
async def answering(head: str, origin: str = "127.0.0.1") -> AsyncIterator[tuple[str, list[str]]]:
    """A server of a few lines: the head of its answer to POST, 404 to everything else. Its URL, and all heads that it
    was sent."""
    heads: list[str] = []

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            head_sent = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
            heads.append(head_sent)
            said = head if head_sent.startswith("POST") else "404 Not Found"
            writer.write(f"HTTP/1.1 {said}\r\ncontent-length: 0\r\nconnection: close\r\n\r\n".encode())
            await writer.drain()
        except (asyncio.IncompleteReadError, ConnectionError):
            return
        finally:
            writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    try:
        yield f"http://{origin}:{server.sockets[0].getsockname()[1]}/mcp", heads
    finally:
        server.close()
