"""One keep-alive connection of the fake model server: HTTP/1.1 in, scripted answers and faults out."""

from __future__ import annotations

import asyncio
import json
import socket
import struct
from collections.abc import Coroutine, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tests.model_server import gemini, local, messages, wire
from tests.model_server.behaviour import Behaviour

if TYPE_CHECKING:
    from tests.model_server.server import ModelServer

SERVER_NAME = "fake-model-server (for tests, no model behind it)"
PAGE = "<!doctype html><title>Sign in</title><p>Please sign in to continue."
REASONS = {200: "OK", 307: "Temporary Redirect", 400: "Bad Request", 401: "Unauthorized", 404: "Not Found"}


@dataclass(frozen=True, slots=True)
class Request:
    """One request as it came: `headers` with lower-case names, `body` decoded (None when empty or not JSON)."""

    method: str
    path: str
    headers: Mapping[str, str]
    text: str
    body: Any

    @property
    def model(self) -> str:
        """The model that is asked."""
        if self.kind == "generate":
            return gemini.model_of(self.path)
        return self.body.get("model", "") if isinstance(self.body, dict) else ""

    @property
    def streams(self) -> bool:
        """Whether pieces are asked for."""
        return gemini.streams(self.path) if self.kind == "generate" else bool(self.body.get("stream"))

    @property
    def kind(self) -> str:
        """chat, responses, messages, generate, models or other."""
        if gemini.PATH.search(self.path):
            return "generate"
        path = self.path.partition("?")[0].rstrip("/")
        ends = (("/chat/completions", "chat"), ("/responses", "responses"), ("/messages", "messages"))
        for end, kind in (*ends, ("/models", "models")):
            if path.endswith(end):
                return kind
        return "other"


class Connection(asyncio.Protocol):
    """One keep-alive connection; requests are answered one after the other."""

    def __init__(self, server: ModelServer) -> None:
        self.server = server
        self.buffer = b""
        self.playing: asyncio.Task[None] | None = None
        self.transport: Any = None

    def connection_made(self, transport: Any) -> None:
        self.transport = transport
        self.server.connections += 1
        transport.get_extra_info("socket").setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def connection_lost(self, exc: Exception | None) -> None:
        if self.playing is not None:
            self.playing.cancel()

    def data_received(self, data: bytes) -> None:
        self.buffer += data
        if not self.buffer[:1].isalpha():  # no HTTP, such as the start of TLS
            self.transport.write(_http(400, "text/plain", b"this server speaks HTTP", {"connection": "close"}))
            self.transport.close()
            return
        self._next()

    def _next(self) -> None:
        while self.playing is None:
            request = self._read_request()
            if request is None:
                return
            self._handle(request)

    def _read_request(self) -> Request | None:
        end = self.buffer.find(b"\r\n\r\n")
        if end < 0:
            return None
        first, *lines = self.buffer[:end].decode("latin-1").split("\r\n")
        method, path, _ = first.split(" ", 2)
        headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
        if "chunked" in headers.get("transfer-encoding", ""):
            found = _chunks(self.buffer, end + 4)
        else:
            stop = end + 4 + int(headers.get("content-length") or 0)
            found = (self.buffer[end + 4 : stop], stop) if len(self.buffer) >= stop else None
        if found is None:
            return None
        self.buffer = self.buffer[found[1] :]
        try:
            body = json.loads(found[0]) if found[0] else None
        except ValueError:
            body = None
        return Request(method, path, headers, found[0].decode("utf-8", "replace"), body)

    def _handle(self, request: Request) -> None:
        server = self.server
        if server.record:
            server.requests.append(request)
        if server.local is not None and not request.path.startswith("/v1beta/"):
            found = local.answer(server.local, request.method, request.path, request.body, server.models)
            if found is not None:
                self._whole(*found, local.HEADERS.get(server.local))
                return
        if request.kind == "models" and request.path.startswith("/v1beta/"):
            self._whole(*gemini.models(request, server.models, server.key))
        elif request.kind == "models":
            data = [
                {"id": name, "object": "model", "created": wire.CREATED, "owned_by": "fake"} for name in server.models
            ]
            self._whole(200, "application/json", wire.dump({"object": "list", "data": data}))
        elif request.kind == "other" or request.method != "POST":
            self._whole(404, "text/plain", SERVER_NAME.encode())
        else:
            entry = server.choose(request)
            if (
                entry.delay
                or entry.cut is not None
                or entry.fault in {"truncated", "reset", "close", "slow_drip", "hang"}
            ):
                self._start(self._play(request, entry))
            else:
                self._reply(request, entry)

    def _start(self, work: Coroutine[Any, Any, None]) -> None:
        self.playing = asyncio.get_running_loop().create_task(work)

    async def _play(self, request: Request, entry: Behaviour) -> None:
        server = self.server
        server.in_flight += 1
        server.most_in_flight = max(server.most_in_flight, server.in_flight)
        try:
            if entry.delay:
                await asyncio.sleep(entry.delay)
            await self._slow_reply(request, entry)
        finally:
            server.in_flight -= 1
        self.playing = None
        self._next()

    async def _slow_reply(self, request: Request, entry: Behaviour) -> None:
        whole = _http(*_content(request, entry), entry.headers)
        half = (whole.find(b"\r\n\r\n") + 4 + len(whole)) // 2
        if isinstance(entry.cut, str):
            half = whole.index(entry.cut.encode()) + len(entry.cut)
        elif entry.cut is not None:
            half = min(int(entry.cut * len(whole)), len(whole) - 1)
        if entry.cut is not None and entry.fault is None:
            self.transport.write(whole[:half])
            self.transport.close()
        elif entry.fault == "hang":
            await asyncio.sleep(3600)
        elif entry.fault == "close":
            self.transport.close()
        elif entry.fault == "reset":
            self.transport.write(whole[:half])
            await asyncio.sleep(0.02)
            linger = struct.pack("ii", 1, 0)  # a close with zero linger sends RST
            self.transport.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
            self.transport.abort()
        elif entry.fault == "truncated":
            self._truncated(request, entry)
        elif entry.fault == "slow_drip":
            for byte in whole:
                self.transport.write(bytes([byte]))
                await asyncio.sleep(entry.interval)
        else:
            self.transport.write(whole)

    def _truncated(self, request: Request, entry: Behaviour) -> None:
        status, kind, body = _content(request, entry)
        if kind == "text/event-stream":  # ends well-formed, but before the last events
            end = b"\r\n\r\n" if request.kind == "generate" else b"\n\n"
            events = body.split(end)
            self._whole(status, kind, end.join(events[: len(events) // 3]) + end, entry.headers)
        else:
            self._whole(status, kind, body[: len(body) // 2], entry.headers)

    def _reply(self, request: Request, entry: Behaviour) -> None:
        self._whole(*_content(request, entry), entry.headers)

    def _whole(self, status: int, kind: str, body: bytes, headers: Mapping[str, str] | None = None) -> None:
        self.transport.write(_http(status, kind, body, headers or {}))


_ERRORS = {"generate": gemini.error_body, "messages": messages.error_body}
_BODIES = {
    "chat": wire.chat_body,
    "responses": wire.response_body,
    "generate": gemini.body,
    "messages": messages.body,
}
_EVENTS = {"responses": wire.response_events, "generate": gemini.events, "messages": messages.events}


def _content(request: Request, entry: Behaviour) -> tuple[int, str, bytes]:
    """Status, content type and body of an answer."""
    error = _ERRORS.get(request.kind, wire.error_body)(entry)
    if entry.status != 200:
        return entry.status, "application/json", error
    if entry.raw is not None:
        return 200, "application/json", entry.raw.encode()
    if entry.fault == "html200":
        return 200, "text/html; charset=utf-8", PAGE.encode()
    if entry.fault == "not_json":
        return 200, "application/json", b'{"id": "fake", "choices": [{"mess'
    if entry.fault == "json_list":
        return 200, "application/json", b"[1, 2, 3]"
    if request.streams:
        return 200, "text/event-stream", _stream(request, entry, error)
    if entry.fault == "error200":
        return 200, "application/json", error
    return 200, "application/json", _BODIES[request.kind](entry, request.model)


def _stream(request: Request, entry: Behaviour, error: bytes) -> bytes:
    if request.kind == "chat":
        with_usage = bool((request.body.get("stream_options") or {}).get("include_usage"))
        events = wire.chat_events(entry, request.model, with_usage=with_usage)
    else:
        events = _EVENTS[request.kind](entry, request.model)
    if entry.fault == "error200":
        name = b"event: error\n" if request.kind in {"responses", "messages"} else b""
        events = [events[0], name + b"data: " + error + b"\n\n"]
    return b"".join(events)


def _http(status: int, kind: str, body: bytes, headers: Mapping[str, str]) -> bytes:
    named = "" if "server" in headers else f"server: {SERVER_NAME}\r\n"
    head = f"HTTP/1.1 {status} {REASONS.get(status, 'Status')}\r\n{named}content-type: {kind}\r\n"
    more = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
    return f"{head}{more}content-length: {len(body)}\r\n\r\n".encode() + body


def _chunks(buffer: bytes, start: int) -> tuple[bytes, int] | None:
    """The body of a chunked request and where it ends, or None while some of it is missing."""
    body = b""
    while True:
        line = buffer.find(b"\r\n", start)
        if line < 0:
            return None
        size = int(buffer[start:line].split(b";")[0], 16)
        stop = line + 2 + size + 2
        if len(buffer) < stop:
            return None
        if size == 0:
            return body, stop
        body += buffer[line + 2 : stop - 2]
        start = stop
