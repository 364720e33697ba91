"""A small MCP server over HTTP, in the test's own event loop: Streamable HTTP and the old HTTP+SSE, both by hand."""

from __future__ import annotations

import asyncio
import gzip
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

TOOLS = ("echo", "drop", "hang", "huge", "zipped", "forget", "busy", "words", "deep")


class Web:
    """What the server does and what it saw. `refuse` is an HTTP status for every POST to /mcp."""

    def __init__(self, *, refuse: int = 0, old: bool = False, stream: bool = False, hang: bool = False) -> None:
        self.refuse = refuse
        self.old = old
        self.stream = stream
        self.hang = hang
        self.seen: list[str] = []
        self.sessions = 0
        self.forgotten = False
        self.port = 0
        self._events: asyncio.StreamWriter | None = None

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/{'sse' if self.old else 'mcp'}"

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """One connection, request after request."""
        try:
            while await self._request(reader, writer):
                await writer.drain()
        except (asyncio.IncompleteReadError, ConnectionError, asyncio.CancelledError):
            pass
        finally:
            writer.close()

    async def _request(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        head = (await reader.readuntil(b"\r\n\r\n")).decode().split("\r\n")
        method, path, _ = head[0].split(" ", 2)
        headers = {key.lower(): value for key, _, value in (line.partition(": ") for line in head[1:])}
        body = await reader.readexactly(int(headers.get("content-length", 0)))
        self.seen.append(f"{method} {path.partition('?')[0]}")
        if self.hang:
            await asyncio.sleep(600)
        if self.old:
            return await self._old(method, path, body, writer)
        if method == "DELETE":
            _respond(writer, 204)
        elif method != "POST" or self.refuse:
            _respond(writer, self.refuse or 405)
        elif self.forgotten and "mcp-session-id" in headers:
            _respond(writer, 404)
        else:
            return await self._new(json.loads(body), writer)
        return True

    async def _new(self, message: dict[str, Any], writer: asyncio.StreamWriter) -> bool:
        if "id" not in message:
            _respond(writer, 202)
            return True
        name = message.get("params", {}).get("name")
        more = {}
        if message["method"] == "initialize":
            self.sessions += 1
            self.forgotten = False
            more = {"mcp-session-id": f"s{self.sessions}"}
        if name == "drop":
            return False
        if name == "forget":
            self.forgotten = True
        data = json.dumps(await self._answer(message)).encode()
        if name == "zipped":
            _respond(writer, 200, gzip.compress(data), {"content-type": "application/json", "content-encoding": "gzip"})
        elif self.stream and name:
            _respond(writer, 200, b"event: message\ndata: " + data + b"\n\n", {"content-type": "text/event-stream"})
        else:
            _respond(writer, 200, data, {"content-type": "application/json"} | more)
        return True

    async def _old(self, method: str, path: str, body: bytes, writer: asyncio.StreamWriter) -> bool:
        if method == "GET" and path == "/sse":
            self._events = writer
            writer.write(
                b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n"
                b"event: endpoint\ndata: /messages?session_id=1\n\n"
            )
            return True
        if path.startswith("/messages"):
            _respond(writer, 202)
            await writer.drain()
            message = json.loads(body)
            if message.get("params", {}).get("name") == "drop":
                self._events.close()
            elif "id" in message:
                self._events.write(
                    b"event: message\ndata: " + json.dumps(await self._answer(message)).encode() + b"\n\n"
                )
            return True
        _respond(writer, self.refuse or 404)
        return True

    async def _answer(self, message: dict[str, Any]) -> dict[str, Any]:
        answer = {"jsonrpc": "2.0", "id": message["id"]}
        method, params = message["method"], message.get("params", {})
        if method == "initialize":
            return answer | {
                "result": {
                    "protocolVersion": "2025-06-18",
                    "capabilities": {},
                    "serverInfo": {"name": "web", "version": "1"},
                }
            }
        if method == "tools/list":
            return answer | {"result": {"tools": [{"name": name, "inputSchema": {"type": "object"}} for name in TOOLS]}}
        if method != "tools/call":
            return answer | {"error": {"code": -32601, "message": f"no method {method}"}}
        arguments = params.get("arguments", {})
        if params["name"] == "deep":
            nested: Any = 1
            for _ in range(400):
                nested = {"a": nested}
            return answer | {"result": {"content": [], "structuredContent": nested}}
        if params["name"] == "hang":
            await asyncio.sleep(600)
        if params["name"] == "busy":
            return answer | {"error": {"code": -32000, "message": "the database is busy"}}
        text = "x" * arguments["bytes"] if params["name"] == "huge" else json.dumps(arguments)
        return answer | {"result": {"content": [{"type": "text", "text": text}]}}


def _respond(
    writer: asyncio.StreamWriter, status: int, body: bytes = b"", headers: dict[str, str] | None = None
) -> None:
    lines = [
        f"HTTP/1.1 {status} Because",
        f"content-length: {len(body)}",
        *(f"{k}: {v}" for k, v in (headers or {}).items()),
    ]
    writer.write("\r\n".join(lines).encode() + b"\r\n\r\n" + body)


@asynccontextmanager
async def web(**options: Any) -> AsyncIterator[Web]:
    """A server on a free port of the loopback."""
    app = Web(**options)
    server = await asyncio.start_server(app.serve, "127.0.0.1", 0, limit=1 << 20)
    app.port = server.sockets[0].getsockname()[1]
    try:
        yield app
    finally:
        server.close()
