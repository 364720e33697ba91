"""What stands around the content of every page, and the pages of the site itself: messages, the token form, searches.

No page has a style attribute, an inline script or an event handler, so that the policy needs no exception.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from urllib.parse import unquote

from msgspec.structs import replace

from prosa.data import Plain
from prosa.render.page.clean import safe_html
from prosa.render.page.model import Frame, MessagePage, SearchHit, SearchPage, in_query, site_url
from prosa.render.page.templates import asset_url, html, render


def chrome(
    frame: Frame, title: str, *, lang: str = "en", query: str = "", back: str = "/", scripts: tuple[str, ...] = ()
) -> dict[str, Plain]:
    """Return the values. ``scripts`` are names of scripts that this page needs beside `page.js`; ``back`` is the path,
    without the prefix, to which signing in and out return."""
    names = ("page.js", *scripts) if frame.live else ("search.js", "page.js", *scripts)
    return {
        "site": frame.name,
        "prefix": frame.prefix,
        "live": frame.live,
        "find": f"{frame.prefix}/mdh/search{'' if frame.live else '.html'}" if frame.of_documents else "",
        "of_documents": frame.of_documents,
        "policy": "" if frame.live else META_POLICY,
        "notices": frame.more,
        "head_title": title if title == frame.name else f"{title} · {frame.name}",
        "lang": lang,
        "query": query,
        "csrf": frame.csrf,
        "signed_in": frame.signed_in,
        "back": f"{frame.prefix}{back}",
        "sign_in": f"{frame.prefix}/mdh/sign-in?back={in_query(frame.prefix + back)}" if frame.can_run else "",
        "css": asset_url(frame, "page.css"),
        "scripts": [asset_url(frame, name) for name in names],
    }


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


MAX_TYPED = 8
"""Hits in the list that appears as one types."""

MAX_HITS = 200
FRAGMENT_HEADER = "Prosa-Fragment"
"""The request header of the page's script that requests `hits_fragment` instead of the page."""


def search_page(page: SearchPage) -> str:
    """Return the page of results."""
    title = f"Search: {page.query}" if page.query.strip() else "Search"
    return render("search.html", {**chrome(page.frame, title, query=page.query), **_values(page, MAX_HITS)})


def hits_fragment(page: SearchPage) -> str:
    """Return the options of the list under the search field: links, each with the role of an option."""
    values = _values(page, MAX_TYPED)
    everything = f"{page.frame.prefix}/mdh/search?q={in_query(page.query)}"
    return render("hits.html", {**values, "everything": everything, "more": len(page.hits) > MAX_TYPED})


def _values(page: SearchPage, most: int) -> dict[str, Plain]:
    return {
        "query": page.query,
        "asked": bool(page.query.strip()),
        "ready": page.ready,
        "complaint": page.complaint,
        "hits": _hits(page.frame, page.hits[:most]),
        "count": len(page.hits),
    }


def _hits(frame: Frame, hits: Sequence[SearchHit]) -> list[dict[str, Plain]]:
    """Return the hits; where several pages share a title, such as notes in folders by language, each is
    distinguished."""
    pages: dict[str, set[str]] = defaultdict(set)
    for hit in hits:
        pages[hit.title].add(_page(hit))
    return [{**_hit(frame, hit), "where": _page(hit) if len(pages[hit.title]) > 1 else ""} for hit in hits]


def _page(hit: SearchHit) -> str:
    return unquote(hit.url.partition("#")[0])


def _hit(frame: Frame, hit: SearchHit) -> dict[str, Plain]:
    heading = "" if hit.heading == hit.title else hit.heading.removeprefix(f"{hit.title} › ")
    return {"title": hit.title, "url": site_url(frame, hit.url), "heading": heading, "pieces": marked(hit)}


def marked(hit: SearchHit) -> list[tuple[bool, str]]:
    """Return the snippet in pieces, each with whether it is marked. Marks outside the text, or inside others, are left
    out."""
    pieces: list[tuple[bool, str]] = []
    done = 0
    for start, end in sorted(hit.marks):
        end = min(end, len(hit.snippet))
        if done <= start < end:
            pieces += [(False, hit.snippet[done:start]), (True, hit.snippet[start:end])]
            done = end
    return [(mark, text) for mark, text in (*pieces, (False, hit.snippet[done:])) if text]


POLICY = "; ".join(
    (
        "default-src 'none'",
        "style-src 'self'",
        "script-src 'self'",
        "img-src 'self' data:",
        "media-src 'self'",
        "font-src 'none'",
        "connect-src 'self'",
        "form-action 'self'",
        "base-uri 'none'",
        "frame-ancestors 'none'",
    )
)
"""The value of `Content-Security-Policy` for every page."""

META_POLICY = POLICY.replace("; frame-ancestors 'none'", "")
"""The same inside a page that lies on a host which sends no policy; frames can only be refused by a header."""
