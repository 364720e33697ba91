"""Every file of a static site, from the same parts that answer requests (H8). In: a `Web` with its graph built. Out:
files. Pages link to pages, `/x.html`; Markdown and JSON are beside them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from html import escape, unescape
from urllib.parse import quote, unquote

from msgspec.structs import replace

from prosa.app.site.building import Built, file_of, static_around, static_nav, static_url, views_of
from prosa.app.site.search import published_sections
from prosa.dialects.mdh.url import is_readme
from prosa.regex import regex
from prosa.render.json import dump
from prosa.render.page.chrome import all_pages
from prosa.render.page.model import Crumb, MessagePage, Page
from prosa.render.page.node import node_page
from prosa.render.page.templates import ASSETS
from prosa.site.assets import suffix_of
from prosa.site.drawing import inert_drawing
from prosa.site.layout import NodeView, twin_of
from prosa.site.negotiate import json_of
from prosa.site.search_index import IndexedPage, search_index
from prosa.web.assets import asset_bytes
from prosa.web.context import Reader, Web
from prosa.web.indexes import Indexes, listed
from prosa.web.locate import Targets, for_agents, form_place, resolver_of, targets_of
from prosa.web.nodes import folder_view, page_of

WHY = "a drawing of a static site must not run anything or ask other hosts"
_ATTRIBUTE = r"""\s++[^\s"'>=/]++(?:="[^"]*+")?+"""
_ADDRESSED = r"""(?<!\s)\s++(?:href|src|action)="(?=/)"""
_TAG = regex(
    rf"""(<[a-zA-Z][^\s>/"']*+(?:(?!{_ADDRESSED}){_ATTRIBUTE})*+{_ADDRESSED})([^"]*+)("(?:{_ATTRIBUTE})*+\s*+/?>)"""
)
"""A tag of our own pages with an address: the text before it, the address, the text after it."""

_ADDRESS = regex(rf"""({_ADDRESSED})([^"]*+)(")""")
_BEHIND = regex("[?#]")

MAX_ADDRESSES = 8_192
"""Cached relative paths of addresses from a folder: all pages of a folder link to the same ones."""

_TOLD = ("mdh/nodes.json", "mdh/actions.json", "llms.txt", "robots.txt")


def built_files(web: Web) -> Iterator[Built]:
    """Yield all files, those of documents before others of the same name."""
    yield from _of_pages()
    for made in views_of(web.site, lambda folder: folder_view(web.site, folder, prefix=web.prefix)):
        yield from _contained(web, made)
    yield from _of_site(web)
    for path in (asset.path for asset in web.site.assets.all()):
        content = asset_bytes(web.site, path)
        if content is not None and suffix_of(path) == ".svg":
            content = _drawing(web, path, content)
        if content is not None:
            yield Built(path, content)


def _contained(web: Web, made: NodeView) -> list[Built]:
    """Return the files of one node; none, with a report, if our own code fails on it."""
    try:
        return list(_of_node(web, made))
    except (OSError, MemoryError):
        raise
    except Exception as error:
        from prosa.diagnostics.crash import crash  # only here: nothing fails as a rule

        web.site.index.notice(f"warning: {made.path!r} is left out: {crash('the page', error).message}")
        return []


def _of_node(web: Web, made: NodeView) -> Iterator[Built]:
    view = made
    if not made.path:  # agents are led to Markdown
        view = folder_view(web.site, unquote(view.url[1:]), prefix=web.prefix, form="markdown")
    targets = targets_of(web.site, made)
    told_view = for_agents(
        resolver_of(replace(targets, view=view), web.prefix, place=form_place(web.site, web.prefix, "markdown"))
    )
    yield Built(file_of(view.url, "markdown"), told_view.markdown)
    if is_readme(view.path) and view.url.endswith("/"):  # links between documents name the file
        yield Built(view.path, told_view.markdown)
    node = json_of(replace(told_view, url=twin_of(view.url, "markdown")), web.prefix)
    yield Built(file_of(view.url, "json"), f"{dump(node)}\n".encode("utf-8", "replace"))
    yield Built(file_of(view.url, "html"), _html(web, targets))


def _drawing(web: Web, path: str, content: bytes) -> bytes | None:
    """Return an inert drawing, because static hosts do not send our policy; removed parts are reported."""
    drawing = inert_drawing(content)
    if drawing is None:
        web.site.index.notice(f"warning: {path!r} is left out: it cannot be read as a drawing")
        return None
    if drawing.removed:
        web.site.index.notice(f"warning: {path!r} is written without {', '.join(drawing.removed)}: {WHY}")
    return drawing.content


def _html(web: Web, targets: Targets) -> bytes:
    html = node_page(static_page(page_of(web, targets, Reader(), place=form_place(web.site, web.prefix, "html"))))
    url = f"{web.prefix}{twin_of(targets.view.url, 'html')}"
    return relative_html(html, url, web.prefix).encode("utf-8", "replace")


def relative_html(html: str, url: str, prefix: str) -> str:
    """Return a page at ``url`` with every address below ``prefix`` as a relative path to a file, so that it works from
    any location, including a disk."""
    folder = url[: url.rfind("/") + 1]

    def related(match: re.Match[str]) -> str:
        behind = _ADDRESS.sub(related, match[3]) if '="/' in match[3] else match[3]
        return f"{match[1]}{_relative(match[2], folder, prefix)}{behind}"

    return _TAG.sub(related, html)


@lru_cache(maxsize=MAX_ADDRESSES)
def _relative(address: str, folder: str, prefix: str) -> str:
    """Return an address, as HTML writes it, as a path from a folder where it is one below the prefix."""
    path, mark, rest = _parts(unescape(address))
    if path.startswith("//") or not path.startswith(f"{prefix}/"):
        return address
    file = f"{path}index.html" if path.endswith("/") else path
    return escape(_way(folder, file) + mark + rest)


def _parts(address: str) -> tuple[str, str, str]:
    """Return the path of an address, and what stands behind it."""
    at = _BEHIND.search(address)
    return (address, "", "") if at is None else (address[: at.start()], at[0], address[at.end() :])


def _way(folder: str, there: str) -> str:
    """Return the relative path from a folder to a URL path; the first part never looks like a scheme."""
    here = folder
    while not there.startswith(folder):
        folder = folder[: folder.rstrip("/").rfind("/") + 1]
    ups = here.count("/") - folder.count("/")
    way = "../" * ups + there[len(folder) :]
    return f"./{way}" if not ups and ":" in way.partition("/")[0] else way


def static_page(page: Page) -> Page:
    """Return a page whose breadcrumbs and neighbours link to files."""
    frame, crumbs = replace(page.frame, live=False), tuple(map(_static_crumb, page.crumbs))
    before, behind = (_static_crumb(crumb) if crumb else None for crumb in (page.before, page.behind))
    near, nav = static_around(page.neighbourhood), static_nav(page.nav)
    return replace(page, frame=frame, crumbs=crumbs, neighbourhood=near, nav=nav, before=before, behind=behind)


def _static_crumb(crumb: Crumb) -> Crumb:
    return crumb._replace(url=static_url(crumb.url))


def _of_pages() -> Iterator[Built]:
    for name, (_, content) in ASSETS.items():
        yield Built(f"mdh/assets/{name}", content)


def _of_site(web: Web) -> Iterator[Built]:
    indexes = Indexes(web, static=True)
    for path in (*_TOLD, *(("sitemap.xml",) if web.origin else ())):
        made = indexes.answer(path.rpartition("/")[2])
        if made is not None:
            yield Built(path, made.body)
    for file in indexes.discovery.all():
        if not indexes.is_taken(file.path):
            yield Built(file.path, file.content)
    yield from _of_search(web)


def _of_search(web: Web) -> Iterator[Built]:
    """Yield what finds pages without a server: the index, once more as a script for pages that are opened from a disk,
    the page of results, and what a host shows in the place of a page that is not there."""
    data = dump(search_index(tuple(_indexed(web))), compact=True)
    yield Built("mdh/search.json", data.encode("utf-8", "replace"))
    yield Built("mdh/search-index.js", f"globalThis.prosaIndex = {data};\n".encode("utf-8", "replace"))
    frame = replace(web.frame(Reader()), live=False)
    rows = tuple(Crumb(row.title, static_url(row.url)) for row in listed(web))
    page = all_pages(MessagePage(frame, "Search", "", rows))
    yield Built("mdh/search.html", relative_html(page, f"{web.prefix}/mdh/", web.prefix).encode("utf-8", "replace"))
    message = "There is no such page. Search for it, or look through all of them."
    yield Built("404.html", all_pages(MessagePage(frame, "Not found", message, rows)).encode("utf-8", "replace"))


def _indexed(web: Web) -> Iterator[IndexedPage]:
    """Yield every published page with its sections, for the search of a reader's browser."""
    sections = published_sections(web.site)
    for row in listed(web):
        path = file_of(row.url, "html")
        yield IndexedPage(row.title, quote(path), tuple(sections.get(row.path, ())))
