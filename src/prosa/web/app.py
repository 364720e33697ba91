"""The site as an ASGI application: the checks of every request before its route, and the access log.

In: a `Web`, the host names of the site, an application of the user's own for `/api`. Out: `SiteApp`. Clients see
internal errors only as "internal error".
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable

from prosa.app.options import say_nothing
from prosa.site.negotiate import choose
from prosa.web.answer import AGENT_COPIES, NEVER, Receive, Scope, Send, UnderWay, answer, header_of, send_answer
from prosa.web.api_life import ApiLife
from prosa.web.context import ANYBODY, Reader, Web, is_bearer
from prosa.web.endpoints import Asgi, Request, Route, SiteParts, send_refusal
from prosa.web.indexes import Indexes
from prosa.web.limits import NO_PROXIES, SAFE_METHODS, Guard, Proxies, Refusal, client_behind, client_of, is_proxy
from prosa.web.log import PAUSE, AccessLog
from prosa.web.nodes import Nodes
from prosa.web.routes import API, MCP, place_of
from prosa.web.run.problem import Refused
from prosa.web.search import Graphs


class SiteApp:
    """The application. ``api`` answers everything below `/api`, ``mcp`` agents at `/mcp`; ``fault`` is called with
    internal errors; ``proxies`` are trusted to name their clients."""

    def __init__(
        self,
        web: Web,
        guard: Guard,
        log: AccessLog | None = None,
        api: Asgi | None = None,
        fault: Callable[[str], None] = say_nothing,
        proxies: Proxies = NO_PROXIES,
        mcp: Asgi | None = None,
    ) -> None:
        self.web, self.guard, self.log, self.api, self.fault, self.proxies = web, guard, log, api, fault, proxies
        self.mcp = mcp
        self.under_way = UnderWay()
        self._nodes = Nodes(web, self.under_way)
        self._shown = SiteParts(web, self._nodes, Indexes(web), Graphs(web))

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """One request, or the life of the server."""
        if scope["type"] == "lifespan":
            await self._live(scope, receive, send)
        elif scope["type"] != "http":
            await send({"type": "websocket.close", "code": 1003})
        else:
            await self._timed(self._from_client(scope), receive, send)

    def _from_client(self, scope: Scope) -> Scope:
        """Return the request as it comes from its client, where a trusted proxy stands between."""
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
        route, path, inside = place_of(
            scope, self.web.prefix, with_api=self.api is not None, with_mcp=self.mcp is not None
        )
        reader, locked_out = self._reader(scope, route)
        refusal = self.guard.refusal(scope, changes=route is not MCP) or locked_out or self._for_nobody(route, reader)
        if refusal is None and route.costly:
            refusal = self.guard.too_many(scope)
        sent = self.under_way.paced(send, AGENT_COPIES if route is MCP else 1)
        asked = Request(self._shown, route, path, inside, receive, sent, reader, self.api, self.mcp)
        if refusal is not None:
            return await self._refuse(asked, refusal)
        return await route.handler(asked)

    def _reader(self, scope: Scope, route: Route) -> tuple[Reader, Refusal | None]:
        """Return the reader, and why the token was not checked. The user's own application checks its requests itself,
        unless the site is closed."""
        if route is API and not self.web.closed:
            return ANYBODY, None
        try:
            return reader_of(self.web, scope), None
        except Refused as refused:
            return ANYBODY, Refusal(refused.status, refused.title, refused.detail, refused.headers)

    def _for_nobody(self, route: Route, reader: Reader) -> Refusal | None:
        """Return why a closed site refuses a reader."""
        if not self.web.closed or reader.signed_in or route.who == "open":
            return None
        challenge = (("www-authenticate", 'Bearer realm="prosa"'),)
        return Refusal(401, "Sign in", "This site shows its nodes to those who know its token.", challenge)

    async def _refuse(self, asked: Request, refusal: Refusal) -> int:
        """Explain why a request is refused; a browser without the token is redirected to the form for it."""
        if refusal.status == 401 and asked.scope["method"] in SAFE_METHODS and _is_browser(asked.scope):
            where = f"{self.web.prefix}/mdh/sign-in"
            found = answer("", "text/plain", status=303, cache=NEVER, headers=[("location", where)])
            return await send_answer(asked.scope, asked.send, found)
        return await send_refusal(asked, refusal)

    async def _failed(self, scope: Scope, send: Send) -> None:
        """Send 500 if nothing has been sent yet; the server aborts an answer that has started."""
        try:
            await send_answer(scope, send, answer("internal error\n", "text/plain", status=500, cache=NEVER))
        except Exception:
            self.fault("the answer was broken off midway")

    async def _live(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve the lifespan of the server, and within it that of the applications beside it."""
        lives = [ApiLife(each, scope) for each in (self.api, self.mcp) if each is not None]
        writing: asyncio.Task[None] | None = None
        while True:
            message = await receive()
            if message["type"] == "lifespan.startup":
                writing = asyncio.create_task(self._write_log())
                failure = "; ".join([words for life in lives if (words := await life.begin())])
                kind = "failed" if failure else "complete"
                await send({"type": f"lifespan.startup.{kind}", **({"message": failure} if failure else {})})
            elif message["type"] == "lifespan.shutdown":
                if self.web.runner is not None:
                    await self.web.runner.aclose()
                for life in lives:
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


def reader_of(web: Web, scope: Scope) -> Reader:
    """Return the reader of a request (X23). Raises `Refused` for a client with too many wrong tokens, before comparing
    another. Tokens in `Authorization` count like those in the sign-in form. A site without a token ignores them."""
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
