"""What agents need, beside a site that another generator made: the Markdown of its pages at their addresses,
`llms.txt`, and what they look for (X40, X23).

In: a `Web` with its graph built, and the folder of the other site. Out: files. Links between documents lead to the
Markdown of each, links to other files to those of the site. A document without a page is left out and named.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from functools import cached_property
from pathlib import Path
from urllib.parse import unquote

from msgspec import Struct
from msgspec.structs import replace

from prosa.app.site.building import Built, file_of
from prosa.app.site.discovery import Discovery
from prosa.app.site.search import summaries
from prosa.app.site.skills import SiteSkills, Skills
from prosa.document.document import Document
from prosa.site import indexes
from prosa.site.beside import Beside, beside
from prosa.site.discovery import LLMS_FULL, FullPage
from prosa.site.layout import NodeView, twin_of
from prosa.site.wikilinks import as_markdown
from prosa.source import Edit, FileProblem, apply_edits
from prosa.source.url import quoted_path
from prosa.web.context import Web
from prosa.web.indexes import base_of
from prosa.web.locate import Resolver, resolver_of, targets_of

MOST_PAGES = 200_000
"""HTML files of a site that are looked at."""

_AS_WRITTEN = ("ymj", "markdownlang")
"""Dialects whose text stays as it is: a record has a hash of it, a program is a template."""


class BesideSite(Struct, frozen=True, dict=True):
    """The other site, and where the documents of ours are in it. ``files`` are all of its files, by path."""

    web: Web
    found: Beside
    files: frozenset[str]

    def place(self, url: str) -> str:
        """Return the link to a URL path of our site: the Markdown of a node, a file of the other site."""
        path, mark, rest = url.partition("#")
        row = self.web.site.index.catalogue.by_url.get(path)
        there = self.found.urls.get(row.path) if row is not None else None
        there = there or next((page for page in (path, f"{path}/", path.rstrip("/")) if page in self.pages), None)
        if there is not None:
            return f"{self.web.prefix}{twin_of(there, 'markdown')}{mark}{rest}"
        file = f"{self.found.base}{unquote(path[1:])}"
        return f"{self.web.prefix}/{quoted_path(file)}{mark}{rest}" if file in self.files else ""

    @cached_property
    def pages(self) -> frozenset[str]:
        """The URLs of the pages that documents have."""
        return frozenset(self.found.urls.values())

    def views(self) -> Iterator[NodeView]:
        """Yield the documents that have a page, with the URLs and links of the other site."""
        rows = self.web.site.index.catalogue.by_path
        names = {rows[path].id for path in self.found.urls if path in rows}
        for path, url in self.found.urls.items():
            try:
                view = self.web.site.view(path, names)
            except FileProblem:
                view = None
            if view is not None:
                targets = targets_of(self.web.site, view)
                yield _told(replace(view, url=url), resolver_of(targets, self.web.prefix, place=self.place))


def beside_of(web: Web, folder: Path) -> BesideSite:
    """Return where the documents of a site are in the site below ``folder``."""
    files = frozenset(_files(folder))
    documents = {}
    for row in web.site.index.catalogue.rows:
        try:
            view = web.site.view(row.path)
        except FileProblem:
            continue
        if view is not None:
            documents[row.path] = dict(view.reading.front_matter or {}) if view.reading is not None else {}
    pages_beside = beside(documents, [file for file in files if file.endswith(".html")])
    return BesideSite(web, pages_beside, files)


def beside_files(made: BesideSite) -> Iterator[Built]:
    """Yield all files."""
    web, site = made.web, made.web.site
    for view in made.views():
        yield Built(file_of(view.url, "markdown"), view.markdown)
    urls = made.found.urls
    rows = [row._replace(url=urls[row.path]) for row in site.index.catalogue.rows if row.path in urls]
    overview = indexes.overview(
        site.options.name,
        rows,
        base=base_of(web),
        summaries=summaries(site),
        closed=False,
        static=True,
        indexed=False,
    )
    yield Built("llms.txt", overview.encode("utf-8", "replace"))
    skills = Skills(SiteSkills(site), site.index.notice)
    discovery = Discovery(site, skills, lambda: _pages(made), web.origin, web.prefix, web.mcp, indexes=False)
    for file in discovery.all():
        if file.path != LLMS_FULL or rows:
            yield Built(file.path, file.content)


def _pages(made: BesideSite) -> Iterator[FullPage]:
    for view in made.views():
        yield FullPage(view.title, f"{base_of(made.web)}{twin_of(view.url, 'markdown')}", view.body)


def _told(view: NodeView, resolver: Resolver) -> NodeView:
    """Return a document with links for the other site."""
    if view.reading is None or view.dialect in _AS_WRITTEN:
        return view
    document, front = view.reading.document, view.reading.front
    body = front.source.slice(front.body)
    edits = [*as_markdown(document, resolver.wiki, vault=resolver.targets.vault), *_links(document, resolver)]
    linked = apply_edits(front.source.text, edits)[front.body.start :]
    text = view.markdown.decode("utf-8")
    if linked == body or not text.endswith(body) or not view.body.endswith(body):
        return view
    markdown = f"{text[: len(text) - len(body)]}{linked}"
    return replace(view, markdown=markdown.encode("utf-8"), body=f"{view.body[: len(view.body) - len(body)]}{linked}")


def _links(document: Document, resolver: Resolver) -> Iterator[Edit]:
    """Yield the destinations that become others."""
    links = [(link.destination_span, link.destination) for link in (*document.links, *document.images)]
    links += [(definition.destination_span, definition.destination) for definition in document.definitions]
    for span, destination in links:
        href = resolver.link(destination) if span is not None and not destination.startswith("#") else ""
        if span is not None and href and href != destination:
            yield Edit(span, indexes.link_target(href))


def _files(folder: Path) -> Iterator[str]:
    """Yield the files of a site, by path; hidden ones and those behind links are not looked at."""
    count = 0
    for place, folders, names in os.walk(folder):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        below = Path(place).relative_to(folder).as_posix()
        for name in sorted(names):
            count += 1
            if count > MOST_PAGES:
                return
            if not name.startswith("."):
                yield name if below == "." else f"{below}/{name}"
