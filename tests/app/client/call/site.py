"""A small site on loopback: a node with actions, two pages of sailings, bookings with keys, and ill-behaved corners."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler
from typing import Any
from urllib.parse import parse_qs, urlsplit

from tests.app.client.call.calling import NODE
from tests.loopback import answering

DESK = """\
---
id: desk
type: page
title: The desk
actions:
  - {id: moved, method: GET, url: /moved, auth: {type: bearer}}
  - {id: away, method: GET, url: /away, auth: {type: bearer}}
  - {id: rounds, method: GET, url: /rounds}
  - {id: inward, method: GET, url: /inward}
  - {id: rooms.book, method: GET, url: /here}
  - {id: seats.book, method: GET, url: /broken}
  - {id: errands, title: Cancel an errand, method: GET, url: /here}
  - {id: large, method: GET, url: /large}
  - {id: slow, method: GET, url: /slow}
  - {id: packed, method: GET, url: /packed}
  - {id: picture, method: GET, url: /picture}
  - {id: gone, method: GET, url: /gone}
  - {id: busy, method: POST, url: /busy, content_type: application/json}
  - {id: broken, method: POST, url: /broken, content_type: application/json}
  - {id: handed-on, method: POST, url: /handed-on, content_type: application/json}
  - {id: sketched, method: POST, url: /api/sketches, body_schema: /schemas/sketch.json}
  - {id: foreign-schema, method: POST, url: /x, body_schema: "https://other.example/s.json"}
  - id: circle
    method: GET
    url: /circle
    pagination: &pages
      request: {cursor_param: c}
      response: {next_cursor_jsonpath: $.next, next_link_jsonpath: $.link}
  - {id: leaving, method: GET, url: /leaving, pagination: *pages}
  - {id: endless, method: GET, url: /endless, query: {optional: [c]}, pagination: *pages}
---
Ask here.
"""


@dataclass
class Site:
    """Where it is, and every request that reached it: method, target, headers in small letters, body."""

    url: str = ""
    other: str = ""
    asked: list[tuple[str, str, dict[str, str], bytes]] = field(default_factory=list)

    def headers(self, path: str) -> list[dict[str, str]]:
        """The headers of each request of a path."""
        return [headers for _, target, headers, _ in self.asked if urlsplit(target).path == path]


@contextmanager
def running() -> Iterator[Site]:
    """The site, under two origins: `127.0.0.1` and, as ``other``, `localhost`."""
    site = Site()
    with answering(type("Handler", (_Handler,), {"site": site})) as port:
        site.url, site.other = f"http://127.0.0.1:{port}", f"http://localhost:{port}"
        yield site


class _Handler(BaseHTTPRequestHandler):
    site: Site
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        body = self.rfile.read(int(self.headers.get("content-length", "0")))
        headers = {name.lower(): value for name, value in self.headers.items()}
        self.site.asked.append((self.command, self.path, headers, body))
        parts = urlsplit(self.path)
        query = {name: values[-1] for name, values in parse_qs(parts.query).items()}
        work = _PAGES.get(parts.path, _sailings if parts.path.endswith("/sailings") else _missing)
        status, kind, content, more = work(self.site, query, headers, body)
        if status == 0:
            self.close_connection = True
            return
        data = (
            content
            if isinstance(content, bytes)
            else (content if isinstance(content, str) else json.dumps(content)).encode()
        )
        self.send_response(status)
        for name, value in {"Content-Type": kind, "Content-Length": str(len(data)), **more}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(data)

    do_POST = do_GET  # noqa: N815 - the library calls it so

    def log_message(self, *_: Any) -> None:
        pass


_JSON = "application/json; charset=utf-8"


def _missing(*_: Any) -> Any:
    return 404, _JSON, {"error": "no such \x1b page"}, {}


def _sailings(site: Site, query: dict[str, str], *_: Any) -> Any:
    if query.get("cursor") == "p2":
        return 200, _JSON, {"sailings": [{"at": "10:00"}], "page": {"next_cursor": None}, "links": {}}, {}
    return 200, _JSON, {"sailings": [{"at": "08:00"}, {"at": "09:00"}], "page": {"next_cursor": "p2"}}, {}


def _busy(site: Site, _: Any, headers: dict[str, str], body: bytes) -> Any:
    if len(site.headers("/busy")) == 1:
        return 503, "text/plain", "later", {"Retry-After": "0"}
    return 201, _JSON, {"key": headers["idempotency-key"], "body": json.loads(body)}, {}


def _book(site: Site, _: Any, headers: dict[str, str], body: bytes) -> Any:
    return 201, _JSON, {"booked": json.loads(body), "by": headers.get("authorization")}, {}


def _to(status: int, target: str) -> Any:
    return lambda site, *_: (status, "text/plain", "", {"Location": target.format(other=site.other)})


def _give(status: int, kind: str, content: Any, **more: str) -> Any:
    return lambda *_: (status, kind, content, {name.replace("_", "-"): value for name, value in more.items()})


def _slow(*_: Any) -> Any:
    threading.Event().wait(0.5)
    return 200, _JSON, {}, {}


_PAGES: dict[str, Any] = {
    "/ferry": lambda *_: (200, "text/markdown; charset=utf-8", NODE, {}),
    "/desk": lambda *_: (200, "text/markdown", DESK, {}),
    "/ferry.json": lambda *_: (
        200,
        _JSON,
        {"id": "ferry", "actions": [{"id": "go", "method": "GET", "url": "/here"}]},
        {},
    ),
    "/meta.json": lambda *_: (
        200,
        _JSON,
        {"meta": {"action": {"id": "go", "method": "GET", "url": "/here"}}, "body": ""},
        {},
    ),
    "/old": _to(301, "/ferry"),
    "/elsewhere": _to(302, "{other}/ferry"),
    "/api/bookings": _book,
    "/api/sketches": _book,
    "/schemas/sketch.json": _give(200, "application/schema+json", {"properties": {"lines": {"type": "integer"}}}),
    "/here": _give(200, "text/plain; charset=utf-8", "hëre\n"),
    "/moved": _to(307, "/here?x=1"),
    "/away": _to(302, "{other}/here"),
    "/rounds": _to(302, "/rounds"),
    "/inward": _to(302, "file:///etc/passwd"),
    "/large": _give(200, "text/plain", "x" * 5000),
    "/slow": _slow,
    "/packed": _give(200, "text/plain", b"\x1f\x8b", Content_Encoding="gzip"),
    "/picture": _give(200, "image/png", b"\x89PNG\xff"),
    "/busy": _busy,
    "/broken": lambda *_: (0, "", "", {}),
    "/handed-on": _to(307, "{other}/api/bookings"),
    "/circle": _give(200, _JSON, {"next": "same", "items": [1]}),
    "/leaving": _give(200, _JSON, {"link": "https://other.example/x", "items": [1]}),
    "/endless": lambda site, query, *_: (
        200,
        _JSON,
        {"next": str(int(query.get("c", "0")) + 1), "items": [query.get("c", "0")]},
        {},
    ),
}
