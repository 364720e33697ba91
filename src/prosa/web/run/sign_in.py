"""`/mdh/sign-in` and `/mdh/sign-out`: the token once in a form, a cookie from then on (X23, H20).

In: a form with `token` and `back`. Out: 303 to a path of this site with a cookie, or the form again. The token is
never in a URL, an answer or a log. Wrong ones are answered late, and after five in a minute no more are checked.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import TYPE_CHECKING
from urllib.parse import parse_qs, quote

from prosa.asgi import Receive, Scope, Send
from prosa.regex import regex
from prosa.render.page.chrome import sign_in_page
from prosa.source.url import ESCAPED_SAFE
from prosa.web.answer import NEVER, Answer, answer, send_answer
from prosa.web.limits import client_of
from prosa.web.run.admission import csrf_of, form_fields, read_body, require_intent, require_method
from prosa.web.run.problem import GONE, ClientGone, Refused
from prosa.web.run.result import html_page, said

if TYPE_CHECKING:
    from prosa.web.context import Attempts, SignIn

WRONG_SECONDS = 0.5
"""How late a wrong token is answered."""

MAX_FORM = 16 * 1024
MAX_BACK = 2_048

_ODD = regex(r"[\x00-\x20\x7f\\]")
_SAFE = f"{ESCAPED_SAFE}?#[]"


async def sign_in(scope: Scope, receive: Receive, send: Send, web: SignIn, methods: Sequence[str]) -> int:
    """Serve the form and its submission, and return the status that was sent."""
    return await _sent(scope, receive, send, web, methods, _signed_in)


async def sign_out(scope: Scope, receive: Receive, send: Send, web: SignIn, methods: Sequence[str]) -> int:
    """End the session of a reader. Return the status that was sent."""
    return await _sent(scope, receive, send, web, methods, _signed_out)


async def _sent(
    scope: Scope,
    receive: Receive,
    send: Send,
    web: SignIn,
    methods: Sequence[str],
    work: Callable[[Scope, Receive, SignIn], Awaitable[Answer]],
) -> int:
    try:
        require_method(scope, *methods)
        response = await work(scope, receive, web)
    except Refused as refused:
        frame = web.frame(web.sessions.reader(scope))
        response = said(frame, refused.status, refused.title, refused.detail, headers=refused.headers)
    except ClientGone:
        return GONE
    return await send_answer(scope, send, response)


async def _signed_in(scope: Scope, receive: Receive, web: SignIn) -> Answer:
    if not web.sessions.token:
        raise Refused(404, "Signing in is not possible here: the site has no token.")
    if scope["method"] != "POST":
        return _form(scope, web, _back_in_query(scope), failed=False)
    attempts, client = web.attempts, client_of(scope)
    attempts.require(client)
    fields = form_fields(scope, await read_body(scope, receive, MAX_FORM))
    attempts.require(client)  # others may have guessed while this one was read
    back = safe_back(fields.get("back", ""), web.prefix)
    if web.sessions.knows(fields.get("token", "").strip()):
        return _moved(back, web.sessions.cookie(web.prefix or "/"))
    return await _wrong(scope, web, back, attempts, client)


async def _wrong(scope: Scope, web: SignIn, back: str, attempts: Attempts, client: str) -> Answer:
    attempts.failed(client)
    await asyncio.sleep(WRONG_SECONDS)
    return _form(scope, web, back, failed=True)


async def _signed_out(scope: Scope, receive: Receive, web: SignIn) -> Answer:
    fields = form_fields(scope, await read_body(scope, receive, MAX_FORM))
    reader = web.sessions.reader(scope)
    if reader.signed_in:
        require_intent(web, reader, csrf_of(scope) or fields.get("csrf", ""))
        web.sessions.end(scope)
    return _moved(safe_back(fields.get("back", ""), web.prefix), web.sessions.no_cookie(web.prefix or "/"))


def safe_back(target: str, prefix: str = "") -> str:
    """Return a path on this site to go back to; the root of the site for everything else.

    A browser drops blanks and control characters, and takes `\\` for `/`: none of them is in a path that is good.
    """
    root = f"{prefix}/"
    if not target.startswith(root) or target.startswith("//") or len(target) > MAX_BACK or _ODD.search(target):
        return root
    return quote(target, safe=_SAFE, errors="replace")


def _back_in_query(scope: Scope) -> str:
    query: bytes = scope["query_string"]
    try:
        return parse_qs(query.decode("latin-1"), max_num_fields=8).get("back", [""])[0]
    except ValueError:
        return ""


def _form(scope: Scope, web: SignIn, back: str, *, failed: bool) -> Answer:
    frame = web.frame(web.sessions.reader(scope))
    page = sign_in_page(frame, back=safe_back(back, web.prefix), failed=failed)
    return html_page(page, 403 if failed else 200)


def _moved(url: str, cookie: str) -> Answer:
    headers = [("location", url), ("set-cookie", cookie)]
    return answer(b"", "text/plain; charset=utf-8", status=303, cache=NEVER, headers=headers)
