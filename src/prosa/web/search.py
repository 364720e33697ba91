"""Search and graph over HTTP: `/mdh/search?q=…` in the requested form, and `/mdh/graph` as page, drawing and data.

`?around=/url` shows the neighbourhood of a node, `&depth=N` more of it; `&small=1` is the drawing beside a page.
"""

from __future__ import annotations

from urllib.parse import parse_qs, quote

from msgspec import Struct, field

from prosa.app.site import picture
from prosa.app.site.search import published_hits
from prosa.asgi import Scope
from prosa.corpus.search import Search
from prosa.dialects.mdh.url import decoded
from prosa.graph.selection import Selection
from prosa.render.graph.html import html, page_policy
from prosa.render.graph.objects import graph_json
from prosa.render.graph.reports import drawn_line
from prosa.render.graph.scene import scene
from prosa.render.graph.svg import Caption, small_svg, svg
from prosa.render.json import dump
from prosa.render.page.chrome import FRAGMENT_HEADER, POLICY, hits_fragment, search_page
from prosa.render.page.model import SearchHit, SearchPage
from prosa.site.indexes import link_text
from prosa.site.negotiate import MEDIA_TYPES, choose
from prosa.web.answer import NEVER, PRIVATE, PUBLIC, Answer, answer, header_of
from prosa.web.assets import INERT
from prosa.web.context import Reader, Web
from prosa.web.locate import document_at

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


def found(web: Web, query: str, limit: int) -> tuple[SearchHit, ...]:
    """Return the published hits, best first."""
    hits = published_hits(web.site, Search(text=query, limit=limit))
    return tuple(
        SearchHit(row.title, _url(row.url, hit.anchor), hit.heading, hit.snippet, hit.marks) for hit, row in hits
    )


def _url(url: str, anchor: str) -> str:
    return url + (f"#{quote(anchor)}" if anchor else "")


def _headers(*, html: bool) -> list[tuple[str, str]]:
    return [("vary", "Accept"), ("x-robots-tag", "noindex"), *([("content-security-policy", POLICY)] if html else [])]


def _json(page: SearchPage) -> str:
    hits = [
        {"title": hit.title, "url": page.frame.prefix + hit.url, "heading": hit.heading, "snippet": hit.snippet}
        for hit in page.hits
    ]
    complaint = {"complaint": page.complaint} if page.complaint else {}
    return dump({"query": page.query, "ready": page.ready and not complaint, **complaint, "hits": hits}) + "\n"


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


def _name(hit: SearchHit) -> str:
    return f"{hit.title} › {hit.heading}" if hit.heading and hit.heading != hit.title else hit.title


MAX_KEPT = 200
"""Drawings that are kept; each takes some ten kilobytes."""


class Graphs(Struct):
    """The drawings of a site, each made once for every state of its graph."""

    web: Web
    _made: dict[tuple[str, str, int], tuple[int, Answer]] = field(default_factory=dict)

    def answer(self, kind: str, scope: Scope) -> Answer | None:
        """Return the answer for `html`, `svg` or `json`; None where there is no such node, or no graph yet. May take
        seconds: it belongs into a thread."""
        site = self.web.site
        centre, depth, small = around_of(scope), *_asked(scope)
        kind = "small" if small and kind == "svg" else kind
        path = document_at(site, centre) if centre else ""
        if path is None or not site.index.is_ready:
            return None
        key, generation = (kind, path, depth), site.index.catalogue.generation
        known = self._made.get(key)
        if known is None or known[0] != generation:
            if len(self._made) >= MAX_KEPT:
                self._made.clear()
            known = self._made[key] = (generation, self._drawn(kind, path, depth))
        return known[1]

    def _drawn(self, kind: str, path: str, depth: int) -> Answer:
        site, left = self.web.site, 0
        rows = site.index.catalogue.by_path
        if path:
            shown = picture.around(site, path, depth, most=picture.MAX_SMALL if kind == "small" else picture.MAX_AROUND)
            title = f"Around {rows[path].title}" if path in rows else "Around"
        else:
            shown, left = picture.whole(site)
            title = site.options.name
        cache = PRIVATE if self.web.closed else PUBLIC
        if kind == "json":
            return answer(graph_json(shown.nodes, shown.edges) + "\n", "application/json; charset=utf-8", cache=cache)
        prefix = self.web.prefix
        home = f"{prefix}{rows[path].url}" if path in rows else f"{prefix}/"
        return _picture(kind, shown, (title, left), prefix, home, cache)


def _picture(kind: str, shown: Selection, named: tuple[str, int], prefix: str, home: str, cache: str) -> Answer:
    """Return the drawing under its title, with the number of omitted documents."""
    (title, left), drawn = named, scene(shown)
    counts = drawn_line(shown, len(drawn.lines)) + (f", {left:,} less linked documents left out" if left else "")
    caption = Caption(title, counts)
    if kind != "html":
        drawing = (small_svg if kind == "small" else svg)(drawn, caption)
        headers = [("content-security-policy", INERT)]
        return answer(drawing, "image/svg+xml", cache=cache, headers=headers)
    urls = {node.path: f"{prefix}{node.url}" for node in shown.nodes}
    page = html(drawn, caption, lambda path: urls.get(path, ""), home=home)
    headers = [("content-security-policy", page_policy())]
    return answer(page, "text/html; charset=utf-8", cache=cache, headers=headers)


def around_of(scope: Scope) -> str:
    """Return the decoded URL path around which is drawn, empty for the whole."""
    return decoded(fields_of(scope).get("around", [""])[0].encode("utf-8", "replace")) or ""


def _asked(scope: Scope) -> tuple[int, bool]:
    """Return how far is drawn, and whether the drawing is a small one."""
    pairs = fields_of(scope)
    depth = pairs.get("depth", ["1"])[0]
    return int(depth) if depth in ("1", "2", "3") else 1, pairs.get("small") == ["1"]
