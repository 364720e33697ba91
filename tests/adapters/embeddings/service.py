"""A fake service of vectors on loopback. A text becomes the counts of its letters a to h: like texts, like vectors."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

LETTERS = "abcdefgh"


def letters(text: str) -> list[float]:
    """The vector of a text."""
    return [float(text.lower().count(letter)) for letter in LETTERS]


class FakeService:
    """What was asked, and what to answer: `answers` come first, each a status and a body."""

    def __init__(self) -> None:
        self.bodies: list[dict[str, Any]] = []
        self.keys: list[str | None] = []
        self.answers: list[tuple[int, Any]] = []
        self.base_url = ""

    @property
    def texts(self) -> list[str]:
        """Every text that arrived."""
        return [text for body in self.bodies for text in body["input"]]

    def answer(self, body: dict[str, Any]) -> tuple[int, Any]:
        if self.answers:
            return self.answers.pop(0)
        data = [{"index": at, "embedding": letters(text)} for at, text in enumerate(body["input"])]
        return 200, {"data": data[::-1], "model": body["model"]}


@contextmanager
def serving() -> Iterator[FakeService]:
    """A service for the length of a block."""
    service = FakeService()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["content-length"])))
            service.bodies.append(body)
            service.keys.append(self.headers.get("authorization"))
            status, answer = service.answer(body)
            data = answer.encode() if isinstance(answer, str) else json.dumps(answer).encode()
            self.send_response(status)
            self.send_header("content-type", "text/html" if data.startswith(b"<") else "application/json")
            self.send_header("content-length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, *args: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    service.base_url = f"http://127.0.0.1:{server.server_port}/v1"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    try:
        yield service
    finally:
        server.shutdown()
        server.server_close()
        thread.join(5)
