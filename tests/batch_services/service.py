"""What both fakes share: an HTTP server on loopback in a thread, what was asked of it, moments to be killed at."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qsl, urlsplit


@dataclass(frozen=True)
class Asked:
    """One request."""

    method: str
    path: str
    query: dict[str, str]
    headers: dict[str, str]
    body: bytes


class Refusal(Exception):
    """An answer that is no success."""

    def __init__(self, status: int, message: str, kind: str) -> None:
        super().__init__(message)
        self.status, self.message, self.kind = status, message, kind


def letters(name: str, body: dict[str, Any]) -> Any:
    """Answers with the number of letters of the last message."""
    content = body["messages"][-1]["content"]
    text = content if isinstance(content, str) else content[-1]["text"]
    return {"n": len(text.strip())}


@dataclass
class Service:
    """A service. ``paid`` are the ids of lines that it answered, ``works`` says whether batches get on; ``before`` and
    ``after`` hear of each request before it is handled, and before its answer is sent."""

    key: str = "sk-of-a-test"
    answer: Callable[[str, dict[str, Any]], Any] = letters
    works: bool = True
    refuse_batches: bool = False
    page: int = 100
    asked: list[tuple[str, str]] = field(default_factory=list)
    paid: list[str] = field(default_factory=list)
    live: list[Any] = field(default_factory=list)
    before: Callable[[Asked], None] = lambda _: None
    after: Callable[[Asked], None] = lambda _: None
    base_url: str = ""
    _numbers: int = 0
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def new(self, kind: str) -> str:
        """An id."""
        self._numbers += 1
        return f"{kind}_{self._numbers:06}"

    def now(self) -> int:
        """Seconds since 1970."""
        return int(time.time())

    def authorized(self, asked: Asked) -> bool:
        """Whether the key came as the service wants it."""
        raise NotImplementedError

    def handle(self, asked: Asked) -> Any:
        """The answer: bytes, or what becomes JSON. Raises `Refusal`."""
        raise NotImplementedError

    def refused(self, refusal: Refusal) -> dict[str, Any]:
        """The error as this service writes it."""
        return {"error": {"message": refusal.message, "type": refusal.kind, "param": None, "code": None}}

    def _found(self, known: dict[str, Any], name: str) -> Any:
        if name not in known:
            raise Refusal(404, f"No such object: {name}", "invalid_request_error")
        return known[name]

    def reply(self, asked: Asked) -> tuple[int, bytes, str]:
        """Status, body and type of the answer."""
        self.before(asked)
        with self._lock:
            self.asked.append((asked.method, asked.path))
            try:
                if not self.authorized(asked):
                    raise Refusal(401, "Incorrect API key provided", "authentication_error")
                found = self.handle(asked)
                status = 200
            except Refusal as refusal:
                found, status = self.refused(refusal), refusal.status
        self.after(asked)
        if isinstance(found, bytes):
            return status, found, "application/octet-stream"
        return status, json.dumps(found).encode(), "application/json"


@contextmanager
def serving(service: Service, prefix: str = "/v1") -> Iterator[Service]:
    """The service on a free port of loopback."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def _answer(self) -> None:
            parts = urlsplit(self.path)
            body = self.rfile.read(int(self.headers.get("content-length", 0)))
            headers = {name.lower(): value for name, value in self.headers.items()}
            asked = Asked(self.command, parts.path, dict(parse_qsl(parts.query)), headers, body)
            try:
                status, found, kind = service.reply(asked)
            except ConnectionError:
                self.close_connection = True
                return
            self.send_response(status)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(found)))
            self.end_headers()
            self.wfile.write(found)

        do_GET = do_POST = _answer  # noqa: N815 - names of the library

        def log_message(self, *_: Any) -> None:
            """Says nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    service.base_url = f"http://127.0.0.1:{server.server_port}{prefix}"
    try:
        yield service
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
