"""The site as an ASGI application: what every request passes, which endpoint answers it, what is noted of it.

In: a `Web`, names that are ours, an application of the user's own for `/api`. Out: `SiteApp`. Endpoints of the site win
over files of the same name. No error of ours reaches a client in any other words than "internal error".
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any

from prosa.app.options import say_nothing
from prosa.site.negotiate import choose
from prosa.web.answer import NEVER, Receive, Scope, Send, answer, header_of, send_answer
from prosa.web.api_life import ApiLife
from prosa.web.context import Web
from prosa.web.endpoints import Endpoints
from prosa.web.errors import error
from prosa.web.flow import UnderWay
from prosa.web.guard import SAFE_METHODS, Guard, Refusal, client_of
from prosa.web.log import PAUSE, AccessLog
from prosa.web.nodes import Nodes
from prosa.web.peer import NO_PROXIES, Proxies, client_behind, is_proxy
from prosa.web.run.problem import Refused
from prosa.web.session import ANYBODY, Reader, is_bearer

Asgi = Callable[[Scope, Receive, Send], Awaitable[None]]

API = "/api"
"""Where an application of the user's own answers."""

_OPEN = frozenset(("/healthz", "/robots.txt", "/mdh/sign-in"))
_OPEN_BELOW = "/mdh/assets/"
"""What a closed site shows to everybody."""


@dataclass(slots=True)
class SiteApp:
    """The application. ``api`` answers everything below `/api`; ``fault`` is told of errors that are ours; ``proxies``
    are believed when they say for whom they ask."""

    web: Web
    guard: Guard
    log: AccessLog | None = None
    api: Asgi | None = None
    fault: Callable[[str], None] = say_nothing
    proxies: Proxies = NO_PROXIES
    under_way: UnderWay = field(default_factory=UnderWay)
    _nodes: Nodes = field(init=False)
    _endpoints: Endpoints = field(init=False)

    def __post_init__(self) -> None:
        self._nodes = Nodes(self.web)
        self._endpoints = Endpoints(self.web, self.guard)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """One request, or the life of the server."""
        if scope["type"] == "lifespan":
            await self._live(scope, receive, send)
        elif scope["type"] != "http":
            await send({"type": "websocket.close", "code": 1003})
        else:
            await self._timed(self._from_client(scope), receive, self.under_way.paced(send))

    def _from_client(self, scope: Scope) -> Scope:
        """The request as it comes from its client, where a trusted proxy stands between."""
        peer = client_of(scope)
        if not is_proxy(peer, self.proxies):
            return scope
        behind = client_behind(peer, header_of(scope, b"x-forwarded-for"), self.proxies)
        return scope if behind == peer else {**scope, "client": (behind, 0)}

    async def _timed(self, scope: Scope, receive: Receive, send: Send) -> None:
        started = time.perf_counter()
        status = 500
        try:
            status = await self._answered(scope, receive, send)
        except ConnectionError:
            status = 499  # the client went away
        except Exception as fault:
            self.fault(f"{type(fault).__name__} in {scope['method']} {scope['path'][:200]!a}: {fault}")
            await self._failed(scope, send)
        finally:
            if self.log is not None:
                self.log.add(scope, status, time.perf_counter() - started)

    async def _answered(self, scope: Scope, receive: Receive, send: Send) -> int:
        scope.setdefault("raw_path", scope["path"].encode("utf-8", "replace"))
        inside = self._for_api(scope) if self.api is not None else None
        reader, locked_out = self._reader(scope, inside is not None)
        refusal = self.guard.refusal(scope) or locked_out
        if refusal is None:
            refusal = self._for_nobody(scope, reader)
        if refusal is not None:
            return await self._refuse(scope, send, refusal, reader)
        if self.api is not None and inside is not None:
            return await _told(self.api, inside, receive, send)
        path = self._path(scope)
        if path is None and scope["raw_path"].decode("latin-1") == self.web.prefix:
            moved = answer("", "text/plain", status=308, cache=NEVER, headers=[("location", f"{self.web.prefix}/")])
            return await send_answer(scope, send, moved)
        if path is None:
            return await self._refuse(scope, send, Refusal(404, "Not found", "The site is elsewhere."), reader)
        found = await self._endpoints(path, scope, receive, send, reader)
        if found is not None:
            return found
        if scope["method"] not in ("GET", "HEAD"):
            words = Refusal(405, "Method not allowed", "Nodes are read with GET and HEAD.", (("allow", "GET, HEAD"),))
            return await self._refuse(scope, send, words, reader)
        return await self._nodes(scope, send, reader)

    def _for_api(self, scope: Scope) -> Scope | None:
        """The request as the user's application gets it; None for one that is not its own. Below a prefix it is found
        with and without that: a URL of an action begins at the root of the host, a proxy may pass the prefix alone."""
        path = scope["path"]
        for prefix in dict.fromkeys(("", self.web.prefix)):
            if path == f"{prefix}{API}" or path.startswith(f"{prefix}{API}/"):
                raw = scope["raw_path"]
                raw = raw[len(prefix) :] if raw.startswith(prefix.encode()) else raw
                return {**scope, "path": path[len(prefix) :], "raw_path": raw, "root_path": ""}
        return None

    def _reader(self, scope: Scope, for_api: bool) -> tuple[Reader, Refusal | None]:
        """Who asks, and why nobody looks at the token. What the user's own application is shown is its own, unless
        the site is closed."""
        if for_api and not self.web.closed:
            return ANYBODY, None
        try:
            return reader_of(self.web, scope), None
        except Refused as refused:
            return ANYBODY, Refusal(refused.status, refused.title, refused.detail, refused.headers)

    def _path(self, scope: Scope) -> str | None:
        """The path below the prefix, as it was sent; None for one outside."""
        path: str = scope["raw_path"].decode("latin-1")
        if path == "/healthz":
            return path
        if not path.startswith(f"{self.web.prefix}/"):
            return None
        return path[len(self.web.prefix) :]

    def _for_nobody(self, scope: Scope, reader: Reader) -> Refusal | None:
        """Why a closed site says nothing to a reader."""
        if not self.web.closed or reader.signed_in:
            return None
        path = self._path(scope) or ""
        if path in _OPEN or path.startswith(_OPEN_BELOW):
            return None
        challenge = (("www-authenticate", 'Bearer realm="prosa"'),)
        return Refusal(401, "Sign in", "This site shows its nodes to those who know its token.", challenge)

    async def _refuse(self, scope: Scope, send: Send, refusal: Refusal, reader: Reader) -> int:
        if refusal.status == 401 and scope["method"] in SAFE_METHODS and _is_browser(scope):
            where = f"{self.web.prefix}/mdh/sign-in"
            found = answer("", "text/plain", status=303, cache=NEVER, headers=[("location", where)])
            return await send_answer(scope, send, found)
        frame = self.web.frame(reader)
        accept = header_of(scope, b"accept")
        found = error(frame, accept, refusal.status, refusal.title, refusal.text, refusal.headers)
        return await send_answer(scope, send, found)

    async def _failed(self, scope: Scope, send: Send) -> None:
        """500, where nothing has been sent yet; what has begun is broken off by the server."""
        try:
            await send_answer(scope, send, answer("internal error\n", "text/plain", status=500, cache=NEVER))
        except Exception:
            self.fault("the answer had begun, and was broken off")

    async def _live(self, scope: Scope, receive: Receive, send: Send) -> None:
        """The life of the server, and within it that of the user's application."""
        life = ApiLife(self.api, scope) if self.api is not None else None
        writing: asyncio.Task[None] | None = None
        while True:
            message = await receive()
            if message["type"] == "lifespan.startup":
                writing = asyncio.create_task(self._write_log())
                failure = await life.begin() if life is not None else ""
                kind = "failed" if failure else "complete"
                await send({"type": f"lifespan.startup.{kind}", **({"message": failure} if failure else {})})
            elif message["type"] == "lifespan.shutdown":
                if self.web.runner is not None:
                    await self.web.runner.aclose()
                if life is not None:
                    await life.end()
                if writing is not None:
                    writing.cancel()
                if self.log is not None:
                    self.log.flush()
                await send({"type": "lifespan.shutdown.complete"})
                return

    async def _write_log(self) -> None:
        while self.log is not None:
            await asyncio.sleep(PAUSE)
            if self.log.is_due:
                self.log.flush()


def _is_browser(scope: Scope) -> bool:
    return choose(header_of(scope, b"accept")) == "html"


async def _told(api: Asgi, scope: Scope, receive: Receive, send: Send) -> int:
    """The status that the user's application sends."""
    status = 500

    async def listening(message: dict[str, Any]) -> None:
        nonlocal status
        if message["type"] == "http.response.start":
            status = message["status"]
        await send(message)

    await api(dict(scope), receive, listening)
    return status


# Who asks, as far as a client may still guess (X23). In: the headers of a request, and the wrong tokens of its client.
# Out: a `Reader`, or `Refused` with 429 where too many of them came; then no token is compared at all.
#
# A token in `Authorization` is counted as one in the form for signing in is. What a site without a token is sent is
# not looked at.


def reader_of(web: Web, scope: Scope) -> Reader:
    """Who sends a request. Raises `Refused` for a client that has guessed too often."""
    if not is_bearer(header_of(scope, b"authorization")):
        return web.sessions.reader(scope)
    if not web.sessions.token:
        return ANYBODY
    client = client_of(scope)
    web.attempts.require(client)
    reader = web.sessions.reader(scope)
    if not reader.signed_in:
        web.attempts.failed(client)
    return reader
