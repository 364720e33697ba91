"""The endpoints of the site itself: `/mdh/…`, `/healthz` and what tells of the whole site. They win over files.

In: a path below the prefix. Out: the status that was sent, or None for a path that belongs to a node.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field

from prosa.corpus.errors import CorpusError
from prosa.render.json import dump
from prosa.web.answer import NEVER, Answer, Receive, Scope, Send, answer, header_of, send_answer
from prosa.web.assets import page_asset
from prosa.web.context import Web
from prosa.web.errors import error, not_found
from prosa.web.graph import Graphs
from prosa.web.guard import Guard
from prosa.web.indexes import Indexes
from prosa.web.search import search_answer
from prosa.web.session import Reader

Run = Callable[..., Awaitable[int]]

SETTLE_SECONDS = 1.0
"""How long an answer about the whole site waits for a look at the files."""

MDH = "/mdh/"
_INDEXES = {
    "/llms.txt": "llms.txt",
    "/sitemap.xml": "sitemap.xml",
    "/robots.txt": "robots.txt",
    "/mdh/nodes.json": "nodes.json",
    "/mdh/actions.json": "actions.json",
}
_GRAPHS = {"/mdh/graph": "html", "/mdh/graph.svg": "svg", "/mdh/graph.json": "json"}
_ASSETS = "/mdh/assets/"
_RUNNING = ("/mdh/run/", "/mdh/scripts/", "/mdh/schema/", "/mdh/sign-in", "/mdh/sign-out")


@dataclass(slots=True)
class Endpoints:
    """The endpoints of one site."""

    web: Web
    guard: Guard
    _indexes: Indexes = field(init=False)
    _graphs: Graphs = field(init=False)

    def __post_init__(self) -> None:
        self._indexes = Indexes(self.web)
        self._graphs = Graphs(self.web)

    async def __call__(self, path: str, scope: Scope, receive: Receive, send: Send, reader: Reader) -> int | None:
        """Answers a request for an endpoint; None where the path is none of theirs."""
        if path == "/healthz":
            return await self._read(scope, send, reader, self._health())
        if path in _INDEXES:
            return await self._read(scope, send, reader, lambda: self._indexes.answer(_INDEXES[path]))
        if path != MDH[:-1] and not path.startswith(MDH):
            return None
        if path.startswith(_RUNNING):
            from prosa.web.run.routes import run_endpoint

            return await run_endpoint(path, scope, receive, send, self.web, reader)
        if path.startswith(_ASSETS):
            return await self._read(scope, send, reader, page_asset(path[len(_ASSETS) :]))
        if path in _GRAPHS or path == "/mdh/search":
            return await self._costly(path, scope, send, reader)
        missing = not_found(self.web.frame(reader), header_of(scope, b"accept"), path)
        return await send_answer(scope, send, missing)

    async def _costly(self, path: str, scope: Scope, send: Send, reader: Reader) -> int:
        refusal = self.guard.too_many(scope)
        if refusal is not None:
            frame, accept = self.web.frame(reader), header_of(scope, b"accept")
            found = error(frame, accept, refusal.status, refusal.title, refusal.text, refusal.headers)
            return await send_answer(scope, send, found)
        if path in _GRAPHS:
            return await self._read(scope, send, reader, lambda: self._graphs.answer(_GRAPHS[path], scope))
        return await self._read(scope, send, reader, lambda: search_answer(self.web, scope, reader))

    async def _read(
        self, scope: Scope, send: Send, reader: Reader, made: Answer | Callable[[], Answer | None] | None
    ) -> int:
        """Sends an answer that is only read; what takes time is made in a thread."""
        frame, accept = self.web.frame(reader), header_of(scope, b"accept")
        if scope["method"] not in ("GET", "HEAD"):
            words = "It is read with GET and HEAD."
            refused = error(frame, accept, 405, "Method not allowed", words, [("allow", "GET, HEAD")])
            return await send_answer(scope, send, refused)
        try:
            found, failed = await asyncio.to_thread(self._settled, made) if callable(made) else made, False
        except CorpusError:
            found, failed = None, True
        if found is None and (failed or not self.web.site.index.is_ready):
            broken = failed or self.web.site.index.complaint  # what exactly is wrong is for those who run the site
            words = "The index cannot be used." if broken else "The index is being built; ask again in a few seconds."
            found = error(frame, accept, 503, "Not ready", words, [("retry-after", "2")])
        return await send_answer(scope, send, found or not_found(frame, accept, scope["path"]))

    def _settled(self, made: Callable[[], Answer | None]) -> Answer | None:
        """An answer about the whole site, after a look at its files."""
        self.web.site.index.wait_for_look(SETTLE_SECONDS)
        return made()

    def _health(self) -> Answer:
        site = self.web.site
        value = {"status": "ok", "ready": site.index.is_ready, "nodes": len(site.index.catalogue.rows)}
        return answer(dump(value) + "\n", "application/json; charset=utf-8", cache=NEVER)
