"""What every application over HTTP does with a request: time it, log it, refuse it in words, and end with the server.

In: requests as ASGI has them. Out: `HttpApp`, whose subclasses answer; clients see internal errors only as "internal
error".
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable

from prosa.app.options import say_nothing
from prosa.asgi import Receive, Scope, Send
from prosa.render.json import dump
from prosa.render.page.chrome import POLICY, message_page
from prosa.render.page.model import Crumb, Frame, MessagePage, in_query
from prosa.site.indexes import link_text
from prosa.site.negotiate import MEDIA_TYPES, choose
from prosa.web.answer import NEVER, Answer, UnderWay, answer, header_of, send_answer
from prosa.web.context import ANYBODY, Reader, SignIn, is_bearer
from prosa.web.limits import NO_PROXIES, SAFE_METHODS, Guard, Proxies, Refusal, client_behind, client_of, is_proxy
from prosa.web.log import PAUSE, AccessLog
from prosa.web.run.problem import PROBLEM, Pairs, Refused


class HttpApp:
    """An application; ``fault`` is called with internal errors, ``proxies`` are trusted to name their clients."""

    def __init__(
        self,
        guard: Guard,
        log: AccessLog | None = None,
        fault: Callable[[str], None] = say_nothing,
        proxies: Proxies = NO_PROXIES,
    ) -> None:
        self.guard, self.log, self.fault, self.proxies = guard, log, fault, proxies
        self.under_way = UnderWay()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """One request, or the life of the server."""
        if scope["type"] == "lifespan":
            await self._live(scope, receive, send)
        elif scope["type"] != "http":
            await send({"type": "websocket.close", "code": 1003})
        else:
            await self._timed(self._from_client(scope), receive, send)

    async def answered(self, scope: Scope, receive: Receive, send: Send) -> int:
        """Answer one request, and return the status that was sent."""
        raise NotImplementedError

    async def begin(self, scope: Scope) -> str:
        """Begin what lasts as long as the server; return why that failed, empty if it did not."""
        del scope
        return ""

    async def end(self) -> None:
        """End what lasts as long as the server."""

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
        scope.setdefault("raw_path", scope["path"].encode("utf-8", "replace"))
        try:
            status = await self.answered(scope, receive, send)
        except ConnectionError:
            status = 499  # the client went away
        except Exception as fault:
            self.fault(f"{type(fault).__name__} in {scope['method']} {scope['path'][:200]!a}: {fault}")
            await self._failed(scope, send)
        finally:
            if self.log is not None:
                self.log.add(scope, status, time.perf_counter() - started)

    async def _failed(self, scope: Scope, send: Send) -> None:
        """Send 500 if nothing has been sent yet; the server aborts an answer that has started."""
        try:
            await send_answer(scope, send, answer("internal error\n", "text/plain", status=500, cache=NEVER))
        except Exception:
            self.fault("the answer was broken off midway")

    async def _live(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve the lifespan of the server."""
        writing: asyncio.Task[None] | None = None
        while True:
            message = await receive()
            if message["type"] == "lifespan.startup":
                writing = asyncio.create_task(self._write_log())
                failure = await self.begin(scope)
                if failure:
                    await send({"type": "lifespan.startup.failed", "message": failure})
                else:
                    await send({"type": "lifespan.startup.complete"})
            elif message["type"] == "lifespan.shutdown":
                await self.end()
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


def reader_of(web: SignIn, scope: Scope) -> Reader:
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


def reader_or_refusal(web: SignIn, scope: Scope) -> tuple[Reader, Refusal | None]:
    """Return the reader of a request, and why the token was not checked."""
    try:
        return reader_of(web, scope), None
    except Refused as refused:
        return ANYBODY, Refusal(refused.status, refused.title, refused.detail, refused.headers)


def token_required(text: str) -> Refusal:
    """Return the refusal of a reader who has not shown the token."""
    return Refusal(401, "Sign in", text, (("www-authenticate", 'Bearer realm="prosa"'),))


def refused(web: SignIn, scope: Scope, reader: Reader, refusal: Refusal, back: str = "") -> Answer:
    """Return why a request is refused, in the requested form; a browser without the token is redirected to the form for
    it, which leads ``back``."""
    accept = header_of(scope, b"accept")
    if refusal.status == 401 and scope["method"] in SAFE_METHODS and choose(accept) == "html":
        where = f"{web.prefix}/mdh/sign-in" + (f"?back={in_query(back)}" if back else "")
        return answer("", "text/plain", status=303, cache=NEVER, headers=[("location", where)])
    return error(web.frame(reader), accept, refusal.status, refusal.title, refusal.text, refusal.headers)


def error(frame: Frame, accept: str, status: int, title: str, text: str, headers: Pairs = ()) -> Answer:
    """Return an error in words."""
    form = choose(accept)
    more = [("vary", "Accept"), *headers]
    if form == "json":
        value: dict[str, str | int] = {"type": "about:blank", "title": title, "status": status, "detail": text}
        return answer(dump(value) + "\n", PROBLEM, status=status, cache=NEVER, headers=more)
    if form == "markdown":
        overview = f"[{link_text(frame.name)}]({frame.prefix}/)"
        body = f"# {title}\n\n{link_text(text)}\n\nThe root of this site is {overview}.\n"
        return answer(body, MEDIA_TYPES["markdown"], status=status, cache=NEVER, headers=more)
    page = message_page(MessagePage(frame, title, text, (Crumb(frame.name, "/"),)))
    more.append(("content-security-policy", POLICY))
    return answer(page, MEDIA_TYPES["html"], status=status, cache=NEVER, headers=more)
