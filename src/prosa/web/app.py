"""The site as an ASGI application: the checks of every request before its route.

In: a `Web`, the host names of the site, an application of the user's own for `/api`. Out: `SiteApp`.
"""

from __future__ import annotations

from collections.abc import Callable

from prosa.app.options import say_nothing
from prosa.asgi import Asgi, Receive, Scope, Send
from prosa.web.answer import AGENT_COPIES, send_answer
from prosa.web.api_life import ApiLife
from prosa.web.application import HttpApp, reader_or_refusal, refused, token_required
from prosa.web.context import ANYBODY, Reader, Web
from prosa.web.endpoints import Request, Route, SiteParts
from prosa.web.indexes import Indexes
from prosa.web.limits import NO_PROXIES, Guard, Proxies, Refusal
from prosa.web.log import AccessLog
from prosa.web.nodes import Nodes
from prosa.web.routes import API, MCP, place_of
from prosa.web.search import Graphs


class SiteApp(HttpApp):
    """The application. ``api`` answers everything below `/api`, ``mcp`` agents at `/mcp`."""

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
        super().__init__(guard, log, fault, proxies)
        self.web, self.api, self.mcp = web, api, mcp
        self._lives: list[ApiLife] = []
        self._nodes = Nodes(web, self.under_way)
        self._shown = SiteParts(web, self._nodes, Indexes(web), Graphs(web))

    async def answered(self, scope: Scope, receive: Receive, send: Send) -> int:
        """Answer one request by its route."""
        route, path, inside = place_of(
            scope, self.web.prefix, with_api=self.api is not None, with_mcp=self.mcp is not None
        )
        reader, locked_out = self._reader(scope, route)
        refusal = self.guard.refusal(scope, changes=route is not MCP) or locked_out or self._unauthorized(route, reader)
        if refusal is None and route.costly:
            refusal = self.guard.too_many(scope)
        sent = self.under_way.paced(send, AGENT_COPIES if route is MCP else 1)
        if refusal is not None:
            return await send_answer(inside, sent, refused(self.web, inside, reader, refusal))
        return await route.handler(Request(self._shown, route, path, inside, receive, sent, reader, self.api, self.mcp))

    def _reader(self, scope: Scope, route: Route) -> tuple[Reader, Refusal | None]:
        """Return the reader, and why the token was not checked. The user's own application checks its requests itself,
        unless the site is closed."""
        return (ANYBODY, None) if route is API and not self.web.closed else reader_or_refusal(self.web, scope)

    def _unauthorized(self, route: Route, reader: Reader) -> Refusal | None:
        """Return why a closed site refuses a reader."""
        if not self.web.closed or reader.signed_in or route.who == "open":
            return None
        return token_required("This site shows its nodes to those who know its token.")

    async def begin(self, scope: Scope) -> str:
        """Begin the applications beside the site."""
        self._lives = [ApiLife(application, scope) for application in (self.api, self.mcp) if application is not None]
        return "; ".join([words for life in self._lives if (words := await life.begin())])

    async def end(self) -> None:
        """End what runs, and the applications beside the site."""
        if self.web.runner is not None:
            await self.web.runner.aclose()
        for life in self._lives:
            await life.end()
