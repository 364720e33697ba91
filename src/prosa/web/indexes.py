"""The endpoints about the whole site (HA1). Each answer is built once for every state of the catalogue."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

from msgspec import Struct, field

from prosa.app.site.discovery import Discovery
from prosa.app.site.search import declared_actions, summaries
from prosa.app.site.skills import SiteSkills, Skills
from prosa.dialects.mdh.url import is_reserved
from prosa.render.json import dump
from prosa.site import indexes
from prosa.site.discovery import LLMS_FULL, OPENAPI, SKILLS, FullPage, link_header
from prosa.site.layout import Form, NodeRow, twin_of
from prosa.source import FileProblem
from prosa.web.answer import PRIVATE, PUBLIC, Answer, answer
from prosa.web.context import Web
from prosa.web.locate import READY_SECONDS, for_agents, form_place, resolver_of, targets_of
from prosa.web.nodes import folder_view

_JSON = "application/json; charset=utf-8"
_TEXT = "text/plain; charset=utf-8"


class Indexes(Struct):
    """The indexes of a site. ``static``: they list files, where the Markdown of a node is `x.md` and its page
    `x.html`."""

    web: Web
    static: bool = False
    _made: dict[str, tuple[int, Answer]] = field(default_factory=dict)
    _discovery: Discovery | None = None

    @property
    def discovery(self) -> Discovery:
        """The files by which agents find what there is."""
        if self._discovery is None:
            web, site = self.web, self.web.site
            skills = Skills(SiteSkills(site), site.index.notice)
            self._discovery = Discovery(
                site, skills, partial(_full_pages, web), web.origin, web.prefix, web.mcp, web.closed
            )
        return self._discovery

    def is_taken(self, path: str) -> bool:
        """Return whether the site has a file or a node of its own in the place of one of these files."""
        if path not in (LLMS_FULL, OPENAPI):
            return False
        stem = path.removesuffix(".json")
        return self.web.site.assets.at(path) is not None or f"/{stem}" in self.web.site.index.catalogue.by_url

    def found(self, path: str) -> Answer | None:
        """Return one of the files of discovery; None where there is none of that path. Skills are read at once, the
        others once for every state of the catalogue. May take long."""
        if not self.web.site.index.wait_ready(READY_SECONDS) or self.is_taken(path):
            return None
        generation = self.web.site.index.catalogue.generation
        known = self._made.get(path)
        if known is not None and known[0] == generation:
            return known[1]
        file = self.discovery.file(path)
        if file is None:
            return None
        headers = [("link", link_header(self.web.links, self.web.prefix))]
        if self.web.origin.startswith("https://") and not self.web.closed:
            # a site of this machine stays unreadable for the pages that its author visits
            headers.append(("access-control-allow-origin", "*"))
        made = answer(file.content, file.media_type, cache=_cache(self.web), headers=headers)
        if not path.startswith(SKILLS):
            self._made[path] = (generation, made)
        return made

    def answer(self, name: str) -> Answer | None:
        """Return the answer for `nodes.json`, `actions.json`, `llms.txt`, `sitemap.xml` or `robots.txt`; None while
        there is no catalogue. May take long: it belongs into a thread."""
        if not self.web.site.index.wait_ready(READY_SECONDS):
            return None
        generation = self.web.site.index.catalogue.generation
        known = self._made.get(name)
        if known is None or known[0] != generation:
            known = self._made[name] = (generation, _MAKERS[name](self))
        return known[1]


def listed(web: Web) -> Iterator[NodeRow]:
    """Yield every node, those of folders that no file stands for among them."""
    catalogue = web.site.index.catalogue
    for folder in catalogue.folders:
        if not catalogue.has_index(folder) and not is_reserved(f"/{folder}"):
            view = folder_view(web.site, folder)
            yield NodeRow(view.id, view.type, view.title, view.url, "", "listing")
    yield from catalogue.rows


def base_of(web: Web) -> str:
    """Return the prefix of URL paths: the address of the site as far as it is known."""
    return f"{web.origin}{web.prefix}"


def _cache(web: Web) -> str:
    return PRIVATE if web.closed else PUBLIC


def _listed(asked: Indexes, form: Form) -> Iterator[NodeRow]:
    rows = listed(asked.web)
    return (row._replace(url=twin_of(row.url, form)) for row in rows) if asked.static else rows


def _full_pages(web: Web) -> Iterator[FullPage]:
    """Yield the documents as agents read them, for `llms-full.txt`; each is read when it is asked for."""
    site, base = web.site, base_of(web)
    place = form_place(site, web.prefix, "markdown")
    for row in site.index.catalogue.rows:
        try:
            view = site.view(row.path)
        except FileProblem:
            view = None
        if view is not None:
            linked = for_agents(resolver_of(targets_of(site, view), web.prefix, place=place))
            yield FullPage(row.title, f"{base}{twin_of(row.url, 'markdown')}", linked.body)


def _nodes(asked: Indexes) -> Answer:
    index = indexes.nodes_index(_listed(asked, "markdown"), asked.web.prefix)
    return answer(dump(index) + "\n", _JSON, cache=_cache(asked.web))


def _actions(asked: Indexes) -> Answer:
    web = asked.web
    return answer(dump(indexes.actions_index(declared_actions(web.site))) + "\n", _JSON, cache=_cache(web))


def _overview(asked: Indexes) -> Answer:
    web, site = asked.web, asked.web.site
    descriptions = summaries(site)
    rows = site.index.catalogue.rows
    name, base = site.options.name, base_of(web)
    text = indexes.overview(name, rows, base=base, summaries=descriptions, closed=web.closed, static=asked.static)
    return answer(text, "text/markdown; charset=utf-8", cache=_cache(web))


def _sitemap(asked: Indexes) -> Answer:
    text = indexes.sitemap(_listed(asked, "html"), base_of(asked.web))
    return answer(text, "application/xml; charset=utf-8", cache=_cache(asked.web))


def _robots(asked: Indexes) -> Answer:
    web = asked.web
    base = base_of(web) if web.origin else ""
    return answer(indexes.robots(base, closed=web.closed, signal=web.site.options.signal), _TEXT, cache=_cache(web))


_MAKERS: dict[str, Callable[[Indexes], Answer]] = {
    "nodes.json": _nodes,
    "actions.json": _actions,
    "llms.txt": _overview,
    "sitemap.xml": _sitemap,
    "robots.txt": _robots,
}
