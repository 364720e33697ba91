"""Errors in the requested form (HW1): a page for people, Markdown for agents, problem JSON for programs."""

from __future__ import annotations

from collections.abc import Iterable

from prosa.render.json import dump
from prosa.render.page.chrome import POLICY, message_page
from prosa.render.page.model import Crumb, Frame, MessagePage
from prosa.site.listing import link_text
from prosa.site.negotiate import MEDIA_TYPES, choose
from prosa.web.answer import NEVER, Answer, answer

PROBLEM = "application/problem+json"
"""RFC 9457."""

Pairs = Iterable[tuple[str, str]]


def not_found(frame: Frame, accept: str, path: str) -> Answer:
    """Return 404 for a node that is missing or not published, without distinguishing them."""
    said = f"There is no node at {path[:200]}." if path else "There is no such node."
    return error(frame, accept, 404, "Not found", said)


def error(frame: Frame, accept: str, status: int, title: str, text: str, headers: Pairs = ()) -> Answer:
    """Return an error in words."""
    form = choose(accept)
    more = [("vary", "Accept"), *headers]
    if form == "json":
        value = {"type": "about:blank", "title": title, "status": status, "detail": text}
        return answer(dump(value) + "\n", PROBLEM, status=status, cache=NEVER, headers=more)
    if form == "markdown":
        overview = f"[{link_text(frame.name)}]({frame.prefix}/)"
        body = f"# {title}\n\n{link_text(text)}\n\nThe root of this site is {overview}.\n"
        return answer(body, MEDIA_TYPES["markdown"], status=status, cache=NEVER, headers=more)
    page = message_page(MessagePage(frame, title, text, (Crumb(frame.name, "/"),)))
    more.append(("content-security-policy", POLICY))
    return answer(page, MEDIA_TYPES["html"], status=status, cache=NEVER, headers=more)
