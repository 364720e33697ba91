"""Pages with a message, and the one with the token form. In: a frame and texts. Out: HTML."""

from __future__ import annotations

from msgspec.structs import replace

from prosa.render.page.chrome import chrome
from prosa.render.page.fragment import safe_html
from prosa.render.page.model import Frame, MessagePage
from prosa.render.page.templates import html, render
from prosa.render.page.urls import site_url


def message_page(page: MessagePage) -> str:
    """Return an error, that something is done, or what came of it."""
    rows = [{"title": row.title, "url": site_url(page.frame, row.url)} for row in page.rows]
    written = html(safe_html(page.markdown)) if page.markdown else ""
    values = {"title": page.title, "text": page.text, "rows": rows, "written": written}
    return render("message.html", {**chrome(page.frame, page.title), **values})


MAX_PAGES = 500
"""Pages that are listed for those who cannot search."""


def all_pages(page: MessagePage) -> str:
    """Return the page of a static site that finds others: a script puts what was found in place of the list of
    ``rows``."""
    rows = [{"title": row.title, "url": site_url(page.frame, row.url)} for row in page.rows[:MAX_PAGES]]
    values = {"title": page.title, "text": page.text, "rows": rows, "more": len(page.rows) - len(rows)}
    return render("search-static.html", {**chrome(page.frame, page.title), **values})


def sign_in_page(frame: Frame, *, back: str, failed: bool) -> str:
    """Return the form that takes the token of this site; ``back`` is the path to return to, ``failed`` is true
    after a wrong token."""
    values = {"return_to": back, "failed": failed, "action": f"{frame.prefix}/mdh/sign-in", "csrf": frame.csrf}
    return render("sign-in.html", {**chrome(replace(frame, can_run=False), "Sign in"), **values})
