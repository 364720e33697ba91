"""Search over HTTP: `/mdh/search?q=…` in the requested form, and as a fragment for results while typing."""

from __future__ import annotations

from urllib.parse import parse_qs, quote

from prosa.app.site.search import published_hits
from prosa.corpus.search import Search
from prosa.render.json import dump
from prosa.render.page.chrome import FRAGMENT_HEADER, POLICY, hits_fragment, search_page
from prosa.render.page.model import Found, SearchPage
from prosa.site.listing import link_text
from prosa.site.negotiate import MEDIA_TYPES, choose
from prosa.web.answer import NEVER, Answer, Scope, answer, header_of
from prosa.web.context import Web
from prosa.web.session import Reader

MAX_FIELDS = 20
MAX_QUERY = 500
"""Maximum length of a query that is read."""

LIMIT, MAX_LIMIT = 20, 100
"""Default and maximum number of hits."""


def search_answer(web: Web, scope: Scope, reader: Reader) -> Answer:
    """Return the answer to a search. Takes a few milliseconds: it belongs into a thread."""
    query, limit = asked(scope)
    ready = web.site.index.is_ready
    hits = found(web, query, limit) if ready and query else ()
    frame = web.frame(reader)
    broken = "There is no search: the index cannot be used." if not ready and web.site.index.complaint else ""
    page = SearchPage(frame, query, hits, ready=ready or bool(broken), complaint=broken)
    if header_of(scope, FRAGMENT_HEADER.lower().encode("ascii")):
        return answer(hits_fragment(page), MEDIA_TYPES["html"], cache=NEVER, headers=_headers(html=True))
    form = choose(header_of(scope, b"accept"))
    if form == "html":
        return answer(search_page(page), MEDIA_TYPES["html"], cache=NEVER, headers=_headers(html=True))
    text = _json(page) if form == "json" else _markdown(page)
    return answer(text, MEDIA_TYPES[form], cache=NEVER, headers=_headers(html=False))


def fields_of(scope: Scope) -> dict[str, list[str]]:
    """Return the fields of a query; none of one that has too many."""
    try:
        return parse_qs(scope["query_string"].decode("latin-1"), max_num_fields=MAX_FIELDS)
    except ValueError:
        return {}


def asked(scope: Scope) -> tuple[str, int]:
    """Return the query and how many hits are wanted."""
    pairs = fields_of(scope)
    limit = pairs.get("limit", [""])[0]
    wanted = int(limit) if limit.isascii() and limit.isdigit() and len(limit) < 6 else LIMIT
    return " ".join(pairs.get("q", [""])[0][:MAX_QUERY].split()), max(1, min(wanted, MAX_LIMIT))


def found(web: Web, query: str, limit: int) -> tuple[Found, ...]:
    """Return the published hits, best first."""
    hits = published_hits(web.site, Search(text=query, limit=limit))
    return tuple(Found(row.title, _url(row.url, hit.anchor), hit.heading, hit.snippet, hit.marks) for hit, row in hits)


def _url(url: str, anchor: str) -> str:
    return url + (f"#{quote(anchor)}" if anchor else "")


def _headers(*, html: bool) -> list[tuple[str, str]]:
    return [("vary", "Accept"), ("x-robots-tag", "noindex"), *([("content-security-policy", POLICY)] if html else [])]


def _json(page: SearchPage) -> str:
    hits = [
        {"title": hit.title, "url": page.frame.prefix + hit.url, "heading": hit.heading, "snippet": hit.snippet}
        for hit in page.hits
    ]
    told = {"complaint": page.complaint} if page.complaint else {}
    return dump({"query": page.query, "ready": page.ready and not told, **told, "hits": hits}) + "\n"


def _markdown(page: SearchPage) -> str:
    lines = [f"# Search: {link_text(page.query)}" if page.query else "# Search", ""]
    if not page.ready:
        lines += ["The index is being built; ask again in a few seconds.", ""]
    for hit in page.hits:
        lines += [f"- [{link_text(_name(hit))}]({page.frame.prefix}{hit.url}): {link_text(hit.snippet)}"]
    if page.complaint:
        lines.append(page.complaint)
    elif page.ready and not page.hits:
        lines.append("Nothing was found." if page.query else "Put words behind `?q=`.")
    return "\n".join(lines) + "\n"


def _name(hit: Found) -> str:
    return f"{hit.title} › {hit.heading}" if hit.heading and hit.heading != hit.title else hit.title
