"""A small MDH site on loopback that does everything right, and in which each fault can be switched on by name.

The nodes are texts, what the server does is a handful of decisions that ask whether their fault is on.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler
from typing import Any
from urllib.parse import unquote, urlsplit

from prosa.site.discovery import CARD_SCHEMA, SKILLS_SCHEMA
from prosa.site.node import node_of_text
from tests.loopback import answering

HOME = """\
---
id: harbour
type: section
title: The harbour
summary: Where the ferries are
links:
  - {rel: has_part, target: ferries}
---
# The harbour

See [the ferries](/ferries), [the map](map.png), [prices](ferries#prices), [the office](https://office.example/).
![a ferry](/no-such-picture.png) and `[code](/no-such-code)`.
"""

FERRIES = """\
---
id: ferries
type: page
title: Ferries
actions:
  - id: sailings.list
    method: GET
    url: /api/sailings
    accept: application/json
    auth: {type: none}
    query: {optional: [day, cursor]}
    pagination:
      type: cursor
      request: {cursor_param: cursor}
      response: {next_cursor_jsonpath: $.page.next_cursor}
  - id: seats.take
    method: POST
    url: /api/seats
    content_type: application/json
    auth: {type: cookie}
    csrf: send the token of the form as X-CSRF-Token
---
# Ferries

Back [home](/), or to the [sailings](/api/sailings).
"""

NODES = {"/": HOME, "/ferries": FERRIES}

SAILINGS = {
    "sailings": [{"at": "08:00"}],
    "page": {"page_size": 1, "next_cursor": "two"},
    "links": {"self": "/api/sailings", "next": "/api/sailings?cursor=two"},
}

_JSON = "application/json; charset=utf-8"
_MARKDOWN = "text/markdown; charset=utf-8"
_HTML = "text/html; charset=utf-8"


@dataclass
class Harbour:
    """Its URL, its nodes by path, the faults that are on, and every request that reached it."""

    nodes: Mapping[str, str | bytes]
    faults: frozenset[str] = frozenset()
    url: str = ""
    asked: list[tuple[str, str, dict[str, str]]] = field(default_factory=list)

    def has(self, fault: str) -> bool:
        return fault in self.faults


@contextmanager
def harbour(*faults: str, nodes: Mapping[str, str | bytes] = NODES) -> Iterator[Harbour]:
    """The site while it runs."""
    site = Harbour(nodes, frozenset(faults))
    with answering(type("Handler", (_Handler,), {"site": site})) as port:
        site.url = f"http://127.0.0.1:{port}"
        yield site


class _Handler(BaseHTTPRequestHandler):
    site: Harbour
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    wbufsize = -1

    def do_GET(self) -> None:
        headers = {name.lower(): value for name, value in self.headers.items()}
        self.site.asked.append((self.command, self.path, headers))
        path = unquote(urlsplit(self.path).path)
        status, kind, content, more = _answer(self.site, path, headers, len(self.site.asked))
        if status == 0:
            self.close_connection = True
            return
        data = content if isinstance(content, bytes) else content.encode("utf-8", "surrogatepass")
        tag = f'"{hashlib.sha256(data).hexdigest()[:16]}"'
        sent = {"Content-Type": kind, "Content-Length": str(len(data)), **more}
        if status == 200 and sent.pop("ETag", "") != "none":
            sent["ETag"] = '"one"' if self.site.has("one-etag") else '"\xe9"' if self.site.has("odd-etag") else tag
            if headers.get("if-none-match") == sent["ETag"] and not self.site.has("never-304"):
                status, data, sent = 304, b"", {"ETag": sent["ETag"], "Content-Length": "0"}
        if self.command == "HEAD" and self.site.has("head-differs"):
            sent["Content-Type"] = "text/plain"
        self.send_response(status)
        for name, value in sent.items():
            self.send_header(name, value)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(data)

    do_HEAD = do_GET  # noqa: N815 - the library calls it so

    def log_message(self, *_: Any) -> None:
        pass


def _plain_file(site: Harbour, path: str) -> tuple[int, str, str | bytes, dict[str, str]]:
    """What a server of static files gives: `/` has only a page for browsers."""
    if path == "/":
        return 200, _HTML, "<!doctype html><p>Hello</p>", {}
    stem = path.removesuffix(".md")
    known = "/" if stem == "/index" else stem
    found = site.nodes.get(known) if stem != path else None
    return (404, _HTML, "<p>no</p>", {}) if found is None else (200, "text/plain", found, {})


def _answer(
    site: Harbour, path: str, headers: dict[str, str], count: int
) -> tuple[int, str, str | bytes, dict[str, str]]:
    if path in _FILES:
        return _FILES[path](site)
    if path in _CORNERS:
        return _CORNERS[path](site)
    if site.has("files-only"):
        return _plain_file(site, path)
    if site.has("gone-away"):
        return _to("https://other.example/")
    stem, wanted = _named(site, path)
    if stem in site.nodes:
        form = wanted or _form(site, headers.get("accept", ""))
        if form == "none":
            return 406, "text/plain", "no", {}
        return _node(site, stem, form, count)
    form = "json" if site.has("json-404") else _form(site, headers.get("accept", ""))
    status = 200 if site.has("soft-404") and path.startswith("/prosa-probe") else 404
    kinds = {"markdown": _MARKDOWN, "json": _JSON, "html": _HTML, "none": _MARKDOWN}
    return status, kinds[form], '{"error": "not here"}', {"Vary": "Accept", "ETag": "none"}


def _named(site: Harbour, path: str) -> tuple[str, str]:
    """The node of a path with the form that its suffix asks for."""
    for suffix, form in ((".md", "markdown"), (".json", "json")):
        stem = path.removesuffix(suffix)
        if stem != path and not site.has("no-file-forms"):
            return ("/" if stem == "/index" else stem), form
    return path, ""


def _form(site: Harbour, accept: str) -> str:
    if site.has("html-only"):
        return "html"
    if site.has("substring"):
        return "json" if "application/json" in accept else "markdown"
    weights: dict[str, float] = {}
    for item in accept.split(","):
        name, _, rest = item.strip().partition(";")
        weights[name] = float(rest.strip().removeprefix("q=") or 1)
    if "*/*" in weights and len(weights) == 1 and site.has("html-by-default"):
        return "html"
    known = [("markdown", "text/markdown"), ("json", "application/json"), ("html", "text/html")]
    found = [(weights.get(kind, weights.get("*/*", 0.0)), form) for form, kind in known]
    best = max(weight for weight, _ in found)
    if best == 0:
        return "none" if site.has("sends-406") else "markdown"
    form = next(form for weight, form in found if weight == best)
    if (form == "json" and site.has("no-json")) or (form == "html" and site.has("no-html")):
        return "markdown"
    return form


def _node(site: Harbour, path: str, form: str, count: int) -> tuple[int, str, str | bytes, dict[str, str]]:
    text = site.nodes[path]
    more = {"Vary": "Accept", "Cache-Control": "no-store" if site.has("no-store") else "public, max-age=60"}
    if not site.has("unlinked"):
        more["Link"] = ", ".join(f'<{each}>; rel="describedby"' for each in _FOUND)
    if site.has("no-vary"):
        del more["Vary"]
    if site.has("no-cache-headers"):
        del more["Cache-Control"]
    if site.has("no-etag"):
        more["ETag"] = "none"
    if form == "json":
        return 200, _JSON, _json(site, path, text), more
    if form == "html":
        guards = {"Content-Security-Policy": "default-src 'none'", "X-Content-Type-Options": "nosniff"}
        return 200, _HTML, "<!doctype html><p>Hello</p>", more | ({} if site.has("open-html") else guards)
    if site.has("never-the-same") and isinstance(text, str):
        text += f"\n{count}\n"
    return 200, "text/plain" if site.has("plain-type") else _MARKDOWN, text, more


def _json(site: Harbour, path: str, text: str | bytes) -> str:
    from prosa.dialects.front import read_front
    from prosa.source import SourceText

    text = text if isinstance(text, str) else text.decode("latin-1")
    fields = dict(read_front(SourceText(text)).value or {})
    if site.has("json-drifts"):
        fields["title"] = "Something else"
    return json.dumps({**fields, "md_url": path, "body": text})


def _nodes_index(site: Harbour) -> tuple[int, str, str, dict[str, str]]:
    from prosa.dialects.front import read_front
    from prosa.source import SourceText

    listed = []
    for path, text in site.nodes.items():
        fields = read_front(SourceText(text if isinstance(text, str) else "")).value or {}
        listed.append({name: fields.get(name) for name in ("id", "type", "title")} | {"md_url": path})
    if site.has("stale-index"):
        listed[-1]["title"] = "An older title"
    if site.has("lost-node"):
        listed.append({"id": "lost", "type": "page", "title": "Lost", "md_url": "/lost"})
    status = 404 if site.has("no-indexes") else 200
    return status, _JSON, json.dumps({"spec": "mdh/1.0", "nodes": listed}), {}


def _actions_index(site: Harbour) -> tuple[int, str, str, dict[str, str]]:
    listed = [
        {"node_id": path, **action}
        for path, text in site.nodes.items()
        if isinstance(text, str)
        for action in node_of_text(text, path).actions
    ]
    status = 404 if site.has("no-indexes") else 200
    return status, _JSON, json.dumps({"spec": "mdh/1.0", "actions": listed}), {}


def _sailings(site: Harbour) -> tuple[int, str, str, dict[str, str]]:
    if site.has("broken-read"):
        return 500, _JSON, "{}", {}
    value: dict[str, Any] = {"next_cursor": "two", "sailings": []} if site.has("flat-envelope") else SAILINGS
    return 200, _JSON, json.dumps(value), {}


def _to(target: str) -> tuple[int, str, str, dict[str, str]]:
    return 302, "text/plain", "", {"Location": target}


def _away(site: Harbour) -> tuple[int, str, str, dict[str, str]]:
    return _to(next((each.removeprefix("away=") for each in site.faults if each.startswith("away=")), "/"))


_CORNERS = {
    "/circle": lambda _: _to("/circle"),
    "/moved": lambda _: _to("/inner/deep"),
    "/away": _away,
    "/huge": lambda _: (200, _MARKDOWN, "x" * 200_000, {}),
    "/broken": lambda _: (0, "", "", {}),
    "/packed": lambda _: (200, _MARKDOWN, "x", {"Content-Encoding": "gzip"}),
}

SKILL = b"---\nname: moor\ndescription: Moors boats.\n---\nMoor.\n"


def _skills(site: Harbour) -> tuple[int, str, str, dict[str, str]]:
    digest = "0" * 64 if site.has("wrong-digest") else hashlib.sha256(SKILL).hexdigest()
    known = {"name": "moor", "type": "skill-md", "description": "Moors boats.", "url": "moor/SKILL.md"}
    value = {"$schema": SKILLS_SCHEMA, "skills": [known | {"digest": f"sha256:{digest}"}]}
    if site.has("old-index"):
        del value["$schema"]
    return 200, _JSON, json.dumps(value), {}


def _catalog(site: Harbour) -> tuple[int, str, str, dict[str, str]]:
    kind = _JSON if site.has("catalog-as-json") else "application/linkset+json"
    described = [{"href": "/openapi.json", "type": "application/json"}]
    return 200, kind, json.dumps({"linkset": [{"anchor": "/", "service-desc": described}]}), {}


def _openapi(site: Harbour) -> tuple[int, str, str, dict[str, str]]:
    paths: dict[str, dict[str, Any]] = {}
    for path, text in site.nodes.items() if not site.has("no-operations") else ():
        for action in node_of_text(text, path).actions if isinstance(text, str) else ():
            url, method = str(action.get("url")), str(action.get("method")).lower()
            paths.setdefault(url, {})[method] = {"operationId": f"{method} {url}"}
    return 200, _JSON, json.dumps({"openapi": "3.1.0", "info": {}, "paths": paths}), {}


def _card(site: Harbour) -> tuple[int, str, str, dict[str, str]]:
    value = {"$schema": CARD_SCHEMA, "name": "example.harbour/docs", "description": "Boats", "version": "1"}
    if site.has("nameless-card"):
        del value["name"]
    return (
        200,
        _JSON,
        json.dumps(value | {"remotes": [{"type": "streamable-http", "url": "https://h.example/mcp"}]}),
        {},
    )


def _robots(site: Harbour) -> tuple[int, str, str, dict[str, str]]:
    signal = "search=maybe" if site.has("odd-signal") else "search=yes, ai-train=no"
    return 200, "text/plain", f"User-agent: *\nContent-Signal: {signal}\nAllow: /\n", {}


_FOUND = {
    "/.well-known/agent-skills/index.json": _skills,
    "/.well-known/api-catalog": _catalog,
    "/.well-known/mcp/server-card.json": _card,
    "/openapi.json": _openapi,
    "/llms-full.txt": lambda site: (200, "text/plain", "" if site.has("empty-full") else "# All\n", {}),
}

_FILES = {
    **_FOUND,
    "/.well-known/agent-skills/moor/SKILL.md": lambda _: (200, _MARKDOWN, SKILL, {}),
    "/robots.txt": _robots,
    "/mdh/nodes.json": _nodes_index,
    "/mdh/actions.json": _actions_index,
    "/llms.txt": lambda site: (404 if site.has("no-llms") else 200, "text/plain", "# The harbour\n", {}),
    "/map.png": lambda site: (404 if site.has("no-map") else 200, "image/png", b"\x89PNG", {}),
    "/api/sailings": _sailings,
}
