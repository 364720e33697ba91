"""Every URL of a site in one table: its methods, its readers, its handler.

In: the path of a request. Out: its `Route`. The table takes precedence over nodes of the same name; a URL that ends
with `*` matches all with that prefix, and an exact one takes precedence. `app` applies the row to every request.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from prosa.asgi import Scope
from prosa.web import endpoints
from prosa.web.endpoints import Route
from prosa.web.limits import METHODS

_READ = ("GET", "HEAD")
_POST = ("POST",)
_ANY = tuple(sorted(METHODS))

ROUTES: Final = (
    Route("/healthz", _READ, "open", endpoints.health),
    Route("/robots.txt", _READ, "open", endpoints.index),
    Route("/llms.txt", _READ, "guarded", endpoints.index),
    Route("/sitemap.xml", _READ, "guarded", endpoints.index),
    Route("/mdh/nodes.json", _READ, "guarded", endpoints.index),
    Route("/mdh/actions.json", _READ, "guarded", endpoints.index),
    Route("/mdh/search", _READ, "guarded", endpoints.search, costly=True),
    Route("/mdh/graph", _READ, "guarded", endpoints.graph, costly=True),
    Route("/mdh/graph.svg", _READ, "guarded", endpoints.graph, costly=True),
    Route("/mdh/graph.json", _READ, "guarded", endpoints.graph, costly=True),
    Route("/mdh/assets/*", _READ, "open", endpoints.asset),
    Route("/mdh/schema/*", _READ, "guarded", endpoints.schema),
    Route("/mdh/run/*", _POST, "guarded", endpoints.program),
    Route("/mdh/scripts/*", _POST, "guarded", endpoints.script),
    Route("/mdh/sign-in", (*_READ, *_POST), "open", endpoints.sign_in),
    Route("/mdh/sign-out", _POST, "guarded", endpoints.sign_out),
    Route("/llms-full.txt", _READ, "guarded", endpoints.discovery, costly=True),
    Route("/openapi.json", _READ, "guarded", endpoints.discovery),
    Route("/.well-known/agent-skills/*", _READ, "guarded", endpoints.discovery, costly=True),
    Route("/.well-known/*", _READ, "guarded", endpoints.discovery),
    Route("/mdh", _ANY, "guarded", endpoints.nothing),
    Route("/mdh/*", _ANY, "guarded", endpoints.nothing),
    Route("/*", _READ, "guarded", endpoints.node),
)
"""Below the prefix of the site, but for `/healthz`, which stands at the root of the host; `/.well-known/` is there
too."""

API: Final = Route("/api/*", _ANY, "guarded", endpoints.user_api)
"""The URLs of the user's own application, with and without the prefix: a URL of an action starts at the root of the
host, a proxy may pass the prefix alone. It checks its readers itself, unless the site is closed."""

MCP: Final = Route("/mcp", ("DELETE", "GET", "POST"), "guarded", endpoints.agents, costly=True)
"""The URL for agents over the Model Context Protocol, on a site that was started for that."""

OUTSIDE: Final = Route("", _ANY, "guarded", endpoints.outside)
"""Every URL that is not below the prefix."""

_API = API.front.removesuffix("/")
_EXACT = {route.url: route for route in ROUTES if not route.url.endswith("*")}
_BELOW = tuple((route.front, route) for route in ROUTES if route.url.endswith("*"))


class RouteMatch(NamedTuple):
    """The row of a request, its path below the prefix as it was sent, and the scope that the handler gets."""

    route: Route
    path: str
    scope: Scope


def place_of(scope: Scope, prefix: str, *, with_api: bool, with_mcp: bool = False) -> RouteMatch:
    """Return where a request leads on a site that lives under a prefix."""
    for front in dict.fromkeys(("", prefix)) if with_api else ():
        area = f"{front}{_API}"
        if scope["path"] == area or scope["path"].startswith(f"{area}/"):
            return RouteMatch(API, scope["path"], _without(scope, front))
    path: str = scope["raw_path"].decode("latin-1")
    if path == "/healthz" or path.startswith("/.well-known/"):  # these stand at the root of the host (RFC 8615)
        return RouteMatch(route_at(path), path, scope)
    if not path.startswith(f"{prefix}/"):
        return RouteMatch(OUTSIDE, "", scope)
    path = path[len(prefix) :]
    if with_mcp and path == MCP.url:
        return RouteMatch(MCP, path, _without(scope, prefix))
    return RouteMatch(route_at(path), path, scope)


def route_at(path: str) -> Route:
    """Return the row of a path below the prefix."""
    exact = _EXACT.get(path)
    if exact is not None:
        return exact
    for front, route in _BELOW:
        if path.startswith(front):
            return route
    return OUTSIDE


def _without(scope: Scope, prefix: str) -> Scope:
    """Return a request as an application gets it that knows nothing of the prefix."""
    raw: bytes = scope["raw_path"]
    raw = raw[len(prefix) :] if raw.startswith(prefix.encode()) else raw
    return {**scope, "path": scope["path"][len(prefix) :], "raw_path": raw, "root_path": ""}
