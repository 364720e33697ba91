"""From the root of a site to everything it links to (H7). In: the root and a function that sends requests. Out: the
pages, and the state of every linked path.

Breadth first, on one origin, by GET and HEAD. The URL of a declared action is not requested as a page: following a
link must not call actions. Endless sites end at a number of pages; the remaining paths are marked unknown.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from posixpath import splitext
from typing import TypeAlias
from urllib.parse import unquote, urlsplit

from msgspec import Struct, field
from msgspec.structs import replace

from prosa.dialects.mdh.model import NodeModel
from prosa.dialects.mdh.url import target_of
from prosa.dialects.reading import open_as
from prosa.dialects.table import MDH
from prosa.rules.mdh.leads import Leads
from prosa.site.probe.evidence import Kind, PageSeen, path_on
from prosa.site.probe.probed_files import ROOT, ProbedFiles
from prosa.site.probe.questions import Ask, twin
from prosa.site.probe.reply import Reply
from prosa.source import SourceText

AskAll: TypeAlias = Callable[[Sequence[Ask]], Sequence[Reply]]
"""Sends many requests to a site at once; the answers are in the order of the requests. Never raises for an answer."""

MAX_PAGES = 200
"""Default limit of requested paths."""

MAX_TARGETS = 20_000
"""Paths that are remembered; a page may hold any number of links."""

MAX_PAGE_LINKS = 50_000
"""What may be a link on one page; more is made to be slow to read."""

MAX_LINKS = 200_000
"""The same on all pages together."""

_TEXT_SUFFIXES = ("", ".md", ".markdown", ".json", ".html", ".htm", ".txt")
"""Files that are fetched completely; for others their existence is enough."""

_HTML_SUFFIXES = (".html", ".htm")


class Crawl(Struct):
    """The state of a walk over a site. ``root`` is the origin as a URL that ends with a slash."""

    root: str
    ask: AskAll
    most: int = MAX_PAGES
    pages: dict[str, PageSeen] = field(default_factory=dict)
    same: dict[str, str] = field(default_factory=dict)
    _led: dict[str, None] = field(default_factory=dict)
    _listed: frozenset[str] = frozenset()
    _actions: dict[tuple[str, str], None] = field(default_factory=dict)
    _texts: dict[str, str] = field(default_factory=dict)
    _weight: int = 0

    def first(self, path: str) -> PageSeen:
        """Request the page where the walk starts."""
        self._led[path] = None
        self._visit([path])
        return self.pages[path]

    def walk(self, listed: Iterable[str], actions: Iterable[tuple[str, str]]) -> None:
        """Follow everything. ``listed`` are paths that an index calls nodes; ``actions`` are pairs of URL and id that
        it lists."""
        self._listed = frozenset(listed)
        self._actions.update(dict.fromkeys(actions))
        self._led.update(dict.fromkeys(sorted(self._listed)[:MAX_TARGETS]))
        while batch := list(islice(self._waiting(), max(0, self.most - len(self.pages)))):
            self._visit(batch)
        self._prefer_names()

    def _prefer_names(self) -> None:
        """Of the paths of one document, one without a suffix stands for it: the others have one form by their name."""
        for path, first in list(self.same.items()):
            if self.same.get(path) == first and _is_file_form(first) and not _is_file_form(path):
                self.same = {each: path if at == first else at for each, at in self.same.items() if each != path}
                self.same[first] = path

    @property
    def cut(self) -> bool:
        """Whether something was left out."""
        return "unasked" in self.targets().values()

    def targets(self) -> Mapping[str, Kind]:
        """Return the state of every linked path."""
        leads = self._leads()
        return {path: self._kind(path, leads) for path in self._led}

    def _kind(self, path: str, leads: Leads) -> Kind:
        if path in self.pages:
            return self.pages[path].kind
        what = leads.what(path)
        if what is None:
            return "unasked"
        return "action" if "action" in what else "index"

    def _waiting(self) -> Iterator[str]:
        leads = self._leads()
        for path in list(self._led):
            if path not in self.pages and (path in self._listed or leads.what(path) is None):
                yield path

    def _leads(self) -> Leads:
        return Leads(ROOT, list(self._actions), ProbedFiles({}, frozenset()))

    def _visit(self, paths: Sequence[str]) -> None:
        replies = list(self.ask([_first_ask(path) for path in paths]))
        unsure = [at for at, reply in enumerate(replies) if _is_whole_needed(paths[at], reply)]
        for at, reply in zip(unsure, self.ask([Ask(paths[at]) for at in unsure]), strict=True):
            replies[at] = reply
        html = [at for at, reply in enumerate(replies) if reply.is_html and _suffix(paths[at]) not in _HTML_SUFFIXES]
        twins = dict(zip(html, self.ask([Ask(twin(paths[at], ".md")) for at in html]), strict=True))
        for at, path in enumerate(paths):
            self._take(path, replies[at], twins.get(at))

    def _take(self, path: str, reply: Reply, other: Reply | None) -> None:
        page = self._bearable(PageSeen(path, reply.url, _kind_of(path, reply, other), reply, other))
        self.pages[path] = page
        markdown = page.markdown
        if page.kind != "node" or markdown is None or not markdown.text:
            return
        first = self._texts.setdefault(markdown.text, path)
        if first != path:
            self.same[path] = first
            return
        self._follow(open_as(SourceText(markdown.text, reply.url), MDH).model, base_of(page))

    def _bearable(self, page: PageSeen) -> PageSeen:
        """Return the page; one that would take too long to read counts as missing or not requested."""
        text = page.markdown.text if page.markdown is not None else None
        weight = text.count("[") + text.count("<") if text else 0
        if weight > MAX_PAGE_LINKS:
            problem = f"it has more than {MAX_PAGE_LINKS:,} links, and is not read"
            return replace(page, kind="missing", reply=Reply(page.url, problem=problem), twin=None)
        self._weight += weight
        if weight and self._weight > MAX_LINKS:
            self.most = len(self.pages)
            return replace(page, kind="unasked")
        return page

    def _follow(self, model: NodeModel, base: str) -> None:
        for action in model.actions:
            if action.id and action.url:
                self._actions[(action.url.text, action.id.text)] = None
        for href in (*(each.href for each in model.inline_links), *_front_paths(model)):
            path = path_on(self.root, base, href)
            if path is not None and len(self._led) < MAX_TARGETS:
                self._led.setdefault(path)


def base_of(page: PageSeen) -> str:
    """Return the decoded path that links of a page start from: where its Markdown came from after redirects."""
    return unquote(urlsplit(page.reply.url).path) or "/"


def _front_paths(model: NodeModel) -> Iterable[str]:
    for link in model.links:
        if link.target is not None and (target := target_of(link.target.text)).kind != "id":
            yield target.text
        if link.href is not None:
            yield link.href.text


def _is_file_form(path: str) -> bool:
    return _suffix(path) in (".md", ".markdown")


def _suffix(path: str) -> str:
    return splitext(path.rpartition("/")[2])[1].lower()


def _first_ask(path: str) -> Ask:
    return Ask(path) if _suffix(path) in _TEXT_SUFFIXES else Ask(path, "*/*", "HEAD")


def _is_whole_needed(path: str, reply: Reply) -> bool:
    """Return whether a HEAD did not say enough: servers refuse it, and a path with a dot may be a node."""
    if _suffix(path) in _TEXT_SUFFIXES or not reply.asked:
        return False
    return not reply.is_success or reply.is_markdown or reply.media_type in ("", "text/plain", "text/html")


def _kind_of(path: str, reply: Reply, other: Reply | None) -> Kind:
    if not reply.asked:
        return "unasked"
    if 300 <= reply.status < 400 and reply.header("location"):
        return "elsewhere"
    if not reply.is_success:
        return "missing"
    if reply.is_markdown or (other is not None and other.is_markdown):
        return "node"
    return "html" if reply.is_html and _suffix(path) not in _HTML_SUFFIXES else "asset"
