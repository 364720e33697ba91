"""A scripted site on loopback: a table of pages that a test may change, and a list of everything that was asked."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler
from typing import Any, TypeAlias

from tests.loopback import answering

Given: TypeAlias = tuple[int, str, bytes, Mapping[str, str]]

HARBOUR = """\
---
id: harbour
type: section
title: The harbour
summary: Where the ferries leave
links:
  - {rel: has, target: ferry}
  - {rel: rules, target: "url:/rules"}
  - {rel: weather, target: "url:https://weather.example/x"}
  - {rel: tides, target: tides, href: /tide-table, title: Tides}
action: {id: bell, method: post, url: "/bell/{tone}", title: Ring, auth: {type: bearer}, query: {required: [long]}}
---
# The harbour

See the [ferry](/ferry), the [small boats](boats/), [write](mailto:a@b.example) or go [away](https://other.example/).
"""
FERRY = "---\nid: ferry\ntype: page\ntitle: Ferries\n---\nBack to the [harbour](/). And [rules](./rules#top).\n"
RULES = "---\r\nid: rules\r\ntype: page\r\ntitle: Rules\r\n---\r\nNo swimming. Ünder no circumstances.\r\n"
BOATS = "---\nid: boats\ntype: page\ntitle: Boats\n---\n[one](one), [the rules](../rules)\n"
ONE = "---\nid: boat-one\ntype: page\ntitle: One\n---\nRed.\n"
TIDES = "Twice a day.\n"


def markdown(text: str, **headers: str) -> Given:
    """A page of Markdown."""
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return 200, "text/markdown; charset=utf-8", text.encode(), named


def moved(to: str, status: int = 302) -> Given:
    """A redirect."""
    return status, "text/plain", b"", {"Location": to}


def pages() -> dict[str, Given | Callable[[Mapping[str, str]], Given]]:
    """The site as it is at first."""
    return {
        "/": markdown(HARBOUR),
        "/ferry": markdown(FERRY),
        "/rules": markdown(RULES),
        "/boats/": markdown(BOATS),
        "/boats/one": markdown(ONE),
        "/tide-table": markdown(TIDES),
    }


@dataclass
class Site:
    """Where it is, under two origins; what it gives; and what was asked: path and headers in small letters."""

    url: str = ""
    other: str = ""
    pages: dict[str, Any] = field(default_factory=pages)
    asked: list[tuple[str, dict[str, str]]] = field(default_factory=list)
    methods: set[str] = field(default_factory=set)

    def paths(self) -> list[str]:
        """The paths that were asked for, without what every walk asks for."""
        return [path for path, _ in self.asked if path not in ("/robots.txt", "/mdh/nodes.json")]

    def robots(self, text: str) -> None:
        """Gives the site a `robots.txt`."""
        self.pages["/robots.txt"] = (200, "text/plain", text.encode(), {})


@contextmanager
def running() -> Iterator[Site]:
    """The site, as `127.0.0.1` and, as ``other``, `localhost`."""
    site = Site()
    with answering(type("Handler", (_Handler,), {"site": site})) as port:
        site.url, site.other = f"http://127.0.0.1:{port}", f"http://localhost:{port}"
        yield site


class _Handler(BaseHTTPRequestHandler):
    site: Site
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def do_GET(self) -> None:
        headers = {name.lower(): value for name, value in self.headers.items()}
        self.site.asked.append((self.path, headers))
        self.site.methods.add(self.command)
        given = self.site.pages.get(self.path, (404, "text/plain", b"nothing here", {}))
        status, kind, content, more = given(headers) if callable(given) else given
        tag = f'"{hashlib.sha256(content).hexdigest()[:12]}"'
        if status == 200 and headers.get("if-none-match") == tag:
            status, content = 304, b""
        self.send_response_only(status)
        sent = {"Content-Type": kind, "Content-Length": str(len(content)), "ETag": tag, **more}
        for name, value in sent.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(content)

    do_POST = do_GET  # noqa: N815 - the library calls it so

    def log_message(self, *_: Any) -> None:
        pass
