"""The handlers that `routes` names: each answers a request at its URL.

In: a `Request` that has passed the guard. Out: the status that was sent. What runs for visitors loads with the first
request for it: most sites run nothing.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Literal

from msgspec import Struct

from prosa.asgi import Asgi, Receive, Scope, Send, Sent
from prosa.corpus.errors import CorpusError
from prosa.render.json import dump
from prosa.web.answer import NEVER, Answer, answer, header_of, send_answer
from prosa.web.application import error
from prosa.web.assets import page_asset
from prosa.web.context import Reader, Web
from prosa.web.indexes import Indexes
from prosa.web.limits import Refusal
from prosa.web.nodes import Nodes, not_found
from prosa.web.search import Graphs, around_of, search_answer

SETTLE_SECONDS = 1.0
"""How long an answer about the whole site waits for a scan of the files."""


class SiteParts(Struct, frozen=True):
    """What one site shows."""

    web: Web
    nodes: Nodes
    indexes: Indexes
    graphs: Graphs


class Request(Struct, frozen=True):
    """One request, who sends it, and the route that it takes. ``path`` is the one below the prefix, as it was sent;
    ``api`` is the application of the user's own, ``mcp`` the one that agents ask."""

    shown: SiteParts
    route: Route
    path: str
    scope: Scope
    receive: Receive
    send: Send
    reader: Reader
    api: Asgi | None = None
    mcp: Asgi | None = None

    @property
    def is_allowed(self) -> bool:
        """Whether the route takes the method."""
        return self.scope["method"] in self.route.methods


Handler = Callable[[Request], Awaitable[int]]

Who = Literal["open", "guarded"]
"""The readers of a route on a closed site: everyone, or those with its token. A site that is not closed answers
everyone."""


class Route(Struct, frozen=True):
    """One row. ``costly`` ones count as queries for the guard."""

    url: str
    methods: tuple[str, ...]
    who: Who
    handler: Handler
    costly: bool = False

    @property
    def front(self) -> str:
        """The prefix of a URL with `*`."""
        return self.url.removesuffix("*")


async def node(asked: Request) -> int:
    """Return a node, or a file beside nodes."""
    if not asked.is_allowed:
        return await _refuse_method(asked, f"Nodes are read with {' and '.join(asked.route.methods)}.")
    return await asked.shown.nodes(asked.scope, asked.send, asked.reader)


async def health(asked: Request) -> int:
    """Return whether the index is there, and how many nodes it knows."""
    site = asked.shown.web.site
    value: dict[str, str | int] = {
        "status": "ok",
        "ready": site.index.is_ready,
        "nodes": len(site.index.catalogue.rows),
    }
    return await _read(asked, answer(dump(value) + "\n", "application/json; charset=utf-8", cache=NEVER))


async def index(asked: Request) -> int:
    """Return one of the indexes, by the name of its file."""
    name = asked.path.rpartition("/")[2]
    return await _read(asked, lambda: asked.shown.indexes.answer(name))


async def discovery(asked: Request) -> int:
    """Return a file by which agents find what there is; a node or a file of the site, where that has the path."""
    if await asyncio.to_thread(asked.shown.indexes.is_taken, asked.path[1:]):
        return await node(asked)
    return await _read(asked, lambda: asked.shown.indexes.found(asked.path[1:]))


async def graph(asked: Request) -> int:
    """Return the graph in the form that its suffix names."""
    form = asked.path.partition(".")[2] or "html"
    return await _read(asked, lambda: asked.shown.graphs.answer(form, asked.scope), about=around_of(asked.scope))


async def search(asked: Request) -> int:
    """Return the hits of a query."""
    return await _read(asked, lambda: search_answer(asked.shown.web, asked.scope, asked.reader))


async def asset(asked: Request) -> int:
    """Return a style or a script of the pages."""
    return await _read(asked, page_asset(asked.path.removeprefix(asked.route.front)))


async def program(asked: Request) -> int:
    """Return the run of a program."""
    from prosa.web.run.program import run_program_action

    return await run_program_action(asked.scope, asked.receive, asked.send, asked.shown.web, asked.route.methods)


async def script(asked: Request) -> int:
    """Return the run of a script."""
    from prosa.web.run.script import run_script

    return await run_script(asked.scope, asked.receive, asked.send, asked.shown.web, asked.route.methods)


async def schema(asked: Request) -> int:
    """Return the schema of what a program answers."""
    from prosa.web.run.program import show_schema

    return await show_schema(asked.scope, asked.receive, asked.send, asked.shown.web, asked.route.methods)


async def sign_in(asked: Request) -> int:
    """Return the form for the token."""
    from prosa.web.run import sign_in as signing

    return await signing.sign_in(asked.scope, asked.receive, asked.send, asked.shown.web, asked.route.methods)


async def sign_out(asked: Request) -> int:
    """Return the end of a session."""
    from prosa.web.run import sign_in as signing

    return await signing.sign_out(asked.scope, asked.receive, asked.send, asked.shown.web, asked.route.methods)


async def nothing(asked: Request) -> int:
    """404 below `/mdh/`, which is never a node's."""
    missing = not_found(asked.shown.web.frame(asked.reader), header_of(asked.scope, b"accept"), asked.path)
    return await send_answer(asked.scope, asked.send, missing)


async def outside(asked: Request) -> int:
    """308 from the prefix to the root of the site; 404 for every other path that is not below the prefix."""
    prefix = asked.shown.web.prefix
    if asked.scope["raw_path"].decode("latin-1") == prefix:
        moved = answer("", "text/plain", status=308, cache=NEVER, headers=[("location", f"{prefix}/")])
        return await send_answer(asked.scope, asked.send, moved)
    return await send_refusal(asked, Refusal(404, "Not found", "The site is elsewhere."))


async def user_api(asked: Request) -> int:
    """Return the status that the user's own application sends."""
    return await _handed_on(asked, asked.api)


async def agents(asked: Request) -> int:
    """Return the status that the server of the Model Context Protocol sends."""
    return await _handed_on(asked, asked.mcp)


async def _handed_on(asked: Request, application: Asgi | None) -> int:
    """Let an application answer, and return the status that it sends."""
    status = 500

    async def listening(message: Sent) -> None:
        nonlocal status
        if message["type"] == "http.response.start":
            status = message["status"]
        await asked.send(message)

    if application is None:
        return await nothing(asked)
    await application(asked.scope.copy(), asked.receive, listening)
    return status


async def send_refusal(asked: Request, refusal: Refusal) -> int:
    """Explain why a request is refused, in the requested format."""
    frame, accept = asked.shown.web.frame(asked.reader), header_of(asked.scope, b"accept")
    response = error(frame, accept, refusal.status, refusal.title, refusal.text, refusal.headers)
    return await send_answer(asked.scope, asked.send, response)


async def _refuse_method(asked: Request, words: str) -> int:
    allow = (("allow", ", ".join(asked.route.methods)),)
    return await send_refusal(asked, Refusal(405, "Method not allowed", words, allow))


async def _read(asked: Request, made: Answer | Callable[[], Answer | None] | None, *, about: str = "") -> int:
    """Send an answer that is only read; what takes time is made in a thread. ``about`` is the URL path of its node."""
    site = asked.shown.web.site
    if not asked.is_allowed:
        return await _refuse_method(asked, f"It is read with {' and '.join(asked.route.methods)}.")
    try:
        response, failed = await asyncio.to_thread(_answered, asked, made) if callable(made) else made, False
    except CorpusError:
        response, failed = None, True
    if response is None and (failed or not site.index.is_ready):
        broken = failed or site.index.complaint  # what exactly is wrong is for those who run the site
        words = "The index cannot be used." if broken else "The index is being built; ask again in a few seconds."
        return await send_refusal(asked, Refusal(503, "Not ready", words, (("retry-after", "2"),)))
    if response is None:
        frame = asked.shown.web.frame(asked.reader)
        response = not_found(frame, header_of(asked.scope, b"accept"), about or asked.scope["path"])
    return await send_answer(asked.scope, asked.send, response)


def _answered(asked: Request, made: Callable[[], Answer | None]) -> Answer | None:
    """Return an answer about the whole site, after a scan of its files."""
    asked.shown.web.site.index.wait_for_look(SETTLE_SECONDS)
    return made()
