"""The answer to a search: a page, and the short list under the search field. In: hits as plain texts. Out: HTML."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from urllib.parse import unquote

from prosa.data import Value
from prosa.render.page.chrome import chrome
from prosa.render.page.model import Found, Frame, SearchPage
from prosa.render.page.templates import render
from prosa.render.page.urls import in_query, site_url

MAX_TYPED = 8
"""Hits in the list that appears as one types."""

MAX_HITS = 200
FRAGMENT_HEADER = "Prosa-Fragment"
"""The request header of the page's script that requests `hits_fragment` instead of the page."""


def search_page(found: SearchPage) -> str:
    """Return the page of results."""
    title = f"Search: {found.query}" if found.query.strip() else "Search"
    return render("search.html", {**chrome(found.frame, title, query=found.query), **_values(found, MAX_HITS)})


def hits_fragment(found: SearchPage) -> str:
    """Return the options of the list under the search field: links, each with the role of an option."""
    values = _values(found, MAX_TYPED)
    everything = f"{found.frame.prefix}/mdh/search?q={in_query(found.query)}"
    return render("hits.html", {**values, "everything": everything, "more": len(found.hits) > MAX_TYPED})


def _values(found: SearchPage, most: int) -> dict[str, Value]:
    return {
        "query": found.query,
        "asked": bool(found.query.strip()),
        "ready": found.ready,
        "complaint": found.complaint,
        "hits": _hits(found.frame, found.hits[:most]),
        "count": len(found.hits),
    }


def _hits(frame: Frame, hits: Sequence[Found]) -> list[dict[str, Value]]:
    """Return the hits; where several pages share a title, such as notes in folders by language, each is
    distinguished."""
    pages: dict[str, set[str]] = defaultdict(set)
    for hit in hits:
        pages[hit.title].add(_page(hit))
    return [{**_hit(frame, hit), "where": _page(hit) if len(pages[hit.title]) > 1 else ""} for hit in hits]


def _page(hit: Found) -> str:
    return unquote(hit.url.partition("#")[0])


def _hit(frame: Frame, hit: Found) -> dict[str, Value]:
    heading = "" if hit.heading == hit.title else hit.heading.removeprefix(f"{hit.title} › ")
    return {"title": hit.title, "url": site_url(frame, hit.url), "heading": heading, "pieces": marked(hit)}


def marked(hit: Found) -> list[tuple[bool, str]]:
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
