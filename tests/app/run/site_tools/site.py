"""A harbour on loopback: pages with actions, and whatever else a test puts there. Every request is remembered."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit

HOME = """\
---
id: home
type: page
title: The harbour
actions:
  - {id: tides.next, title: The next tide, method: GET, url: "/api/tides/{place}", query: {required: [day]}}
  - id: berths.book
    title: Book a berth
    method: POST
    url: /api/berths
    body_schema:
      required: [name]
      additionalProperties: false
      properties: {name: {type: string}, metres: {$ref: "#/$defs/length"}}
      $defs: {length: {type: integer, minimum: 1}}
---
Welcome. See the [ferries](/ferries) and the [chart](/chart.txt).
"""

FERRIES = """\
---
id: ferries
type: page
title: Ferries
links:
  - {rel: up, target: home}
actions:
  - id: sailings.list
    method: GET
    url: /api/sailings
    query:
      optional: [cursor]
      properties: {seats: {type: integer, minimum: 1}}
    pagination:
      type: cursor
      request: {cursor_param: cursor}
      response: {next_cursor_jsonpath: $.page.next_cursor}
  - {id: crew.list, method: GET, url: /api/crew, auth: {type: bearer, token_help: Ask at the office}}
---
Back [home](/).
"""


@dataclass(frozen=True)
class Asked:
    """One request."""

    method: str
    path: str
    query: Mapping[str, list[str]]
    headers: Mapping[str, str]
    body: bytes


Page = tuple[int, str, Any, Mapping[str, str]] | Callable[[Asked], tuple[int, str, Any, Mapping[str, str]]]


@dataclass
class Site:
    """Where it is, its pages by path, every request in order. ``held`` keeps `/slow` from answering until it is set;
    ``reached`` says that somebody waits there."""

    url: str = ""
    other: str = ""
    pages: dict[str, Page] = field(default_factory=dict)
    asked: list[Asked] = field(default_factory=list)
    held: threading.Event = field(default_factory=threading.Event)
    reached: threading.Event = field(default_factory=threading.Event)

    def put(self, path: str, text: Any, kind: str = "text/markdown", status: int = 200, **headers: str) -> None:
        """A page."""
        self.pages[path] = (status, kind, text, {name.replace("_", "-"): value for name, value in headers.items()})

    def of(self, path: str) -> list[Asked]:
        """The requests of a path."""
        return [each for each in self.asked if each.path == path]


@contextmanager
def running() -> Iterator[Site]:
    """The harbour under two origins: `127.0.0.1`, and `localhost` as ``other``."""
    site = Site()
    server = ThreadingHTTPServer(("127.0.0.1", 0), type("Handler", (_Handler,), {"site": site}))
    server.daemon_threads = True
    site.url, site.other = (f"http://{host}:{server.server_port}" for host in ("127.0.0.1", "localhost"))
    _furnish(site)
    thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    try:
        yield site
    finally:
        site.held.set()
        server.shutdown()
        server.server_close()
        thread.join()


def _furnish(site: Site) -> None:
    site.put("/", HOME)
    site.put("/ferries", FERRIES)
    site.put("/chart.txt", b"\x89chart\xff", "image/png")
    site.pages["/api/tides/Kiel"] = lambda asked: (200, "application/json", {"day": asked.query["day"], "at": "5"}, {})
    site.pages["/api/sailings"] = _sailings
    site.pages["/api/berths"] = lambda asked: (201, "application/json", {"booked": json.loads(asked.body)}, {})
    site.pages["/api/crew"] = lambda asked: (200, "application/json", {"sent": asked.headers.get("authorization")}, {})

    def slow(_: Asked) -> tuple[int, str, Any, Mapping[str, str]]:
        site.reached.set()
        site.held.wait(30)
        return 200, "application/json", {}, {}

    site.pages["/slow"] = slow


def _sailings(asked: Asked) -> tuple[int, str, Any, Mapping[str, str]]:
    more = None if "cursor" in asked.query else "p 2"
    return 200, "application/json", {"sailings": [1], "page": {"next_cursor": more}}, {}


class _Handler(BaseHTTPRequestHandler):
    site: Site
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        body = self.rfile.read(int(self.headers.get("content-length", "0")))
        parts = urlsplit(self.path)
        headers = {name.lower(): value for name, value in self.headers.items()}
        asked = Asked(self.command, parts.path, parse_qs(parts.query), headers, body)
        self.site.asked.append(asked)
        page = self.site.pages.get(parts.path, (404, "text/plain", "nothing \x1b[31mhere", {}))
        status, kind, content, more = page(asked) if callable(page) else page
        data = content if isinstance(content, bytes) else _text(content).encode()
        with suppress(ConnectionError):  # a run that was stopped has gone
            self.send_response(status)
            for name, value in {"Content-Type": kind, "Content-Length": str(len(data)), **more}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(data)

    do_POST = do_GET  # noqa: N815 - the library calls it so
    do_DELETE = do_GET  # noqa: N815

    def log_message(self, *_: Any) -> None:
        pass


def _text(content: Any) -> str:
    return content if isinstance(content, str) else json.dumps(content)
