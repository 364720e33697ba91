"""All requests to a site, in their order, and the crawl from its root to everything it links to (H7).

The same site gives the same evidence: the requests only depend on its answers. The crawl goes breadth first, on one
origin, by GET and HEAD. The URL of a declared action is not requested as a page: following a link must not call
actions. Endless sites end at a number of pages; the remaining paths are marked unknown.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from posixpath import splitext
from typing import Any, TypeAlias
from urllib.parse import unquote, urlsplit

from msgspec import Struct, field
from msgspec.structs import replace

from prosa.data import Value, are_mappings
from prosa.dialects.dialect import Hints
from prosa.dialects.mdh.facts import action_value
from prosa.dialects.mdh.model import NodeModel
from prosa.dialects.mdh.url import target_of
from prosa.dialects.reading import open_as
from prosa.dialects.table import MDH
from prosa.rules.mdh.site import Leads
from prosa.site.contract import read_contract
from prosa.site.discovery import LINKED, LLMS_FULL, SKILLS_INDEX
from prosa.site.probe.evidence import (
    CallSeen,
    DiscoverySeen,
    Evidence,
    Kind,
    Mark,
    NodeSeen,
    PageSeen,
    Read,
    Reply,
    SiteSeen,
    path_on,
    read_nodes,
)
from prosa.site.probe.questions import (
    BROWSER,
    JSON,
    MARKDOWN,
    QUESTIONS,
    ROOT,
    Ask,
    ProbedFiles,
    ask_of,
    file_of,
    sample,
    twin,
)
from prosa.site.problems import RequestError
from prosa.site.request import build_request
from prosa.site.skills_index import read_index
from prosa.source import SourceText
from prosa.source.url import origin_of

NODES_INDEX = "/mdh/nodes.json"
ACTIONS_INDEX = "/mdh/actions.json"
LLMS = "/llms.txt"
_BESIDE = {NODES_INDEX: JSON, ACTIONS_INDEX: JSON, LLMS: "text/plain, */*;q=0.5"}

NO_SUCH_PAGE = "/prosa-probe/no-such-page"
"""A path that no site has."""

_FORMS = {"markdown": MARKDOWN, "json": JSON, "browser": BROWSER}


class NoSite(Exception):
    """Nothing to probe: the root cannot be fetched, or is not a node. ``hint`` says what to do, ``again``
    whether a later probe may find one."""

    def __init__(self, message: str, hint: str = "", again: str = "never") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint
        self.again = again


MAX_PAGES = 200
"""Default limit of requested paths."""


def gather(url: str, ask: AskAll, *, most: int = MAX_PAGES, call_reads: bool = False) -> Evidence:
    """Ask a site for everything the checks need to know. Raises `NoSite`, and ValueError in words for a URL that is
    none."""
    root = f"{origin_of(url)}/"
    start = unquote(urlsplit(url).path) or "/"
    crawl = Crawl(root, ask, most)
    _root_node(crawl.first(start), root)
    beside = _beside(start, ask)
    crawl.walk(_listed_nodes(beside, root), _listed_actions(beside))
    missing = dict(zip(_FORMS, ask([Ask(NO_SUCH_PAGE, accept) for accept in _FORMS.values()]), strict=True))
    pages = _questioned(crawl.pages, crawl.same, ask)
    discovery = _discovery(start, pages[start].reply, root, ask)
    site = SiteSeen(
        root, start, pages, crawl.targets(), crawl.same, beside, missing, cut=crawl.cut, discovery=discovery
    )
    read = _read(site)
    if call_reads:
        site = replace(site, calls=_called(read, root, ask))
    return Evidence(url, read.nodes, read.remarks, site, read.unreadable)


def gather_discovery(url: str, ask: AskAll) -> Evidence:
    """Ask any site for what agents look for, and no more. Raises `NoSite`, and ValueError for a URL that is none."""
    root = f"{origin_of(url)}/"
    start = unquote(urlsplit(url).path) or "/"
    (page,) = ask([Ask(start)])
    if page.problem or not page.is_success:
        problem = page.problem or f"{page.url}: the answer is {page.status}"
        raise NoSite(problem, page.hint or "check the URL", page.again)
    site = SiteSeen(root, start, {}, {}, {}, {}, {}, discovery=_discovery(start, page, root, ask))
    return Evidence(url, (), (), site)


_LOOKED_FOR = (*LINKED, LLMS_FULL, "robots.txt")

MAX_SKILLS = 20
"""Skills that are fetched."""


def _discovery(start: str, page: Reply, root: str, ask: AskAll) -> DiscoverySeen:
    """Return the files below the path of the site, else at the root of its host, and a sample of its skills."""
    folder = start.rpartition("/")[0]
    by_path: dict[str, Reply] = {}
    for front in dict.fromkeys((folder, "")):
        waiting = [path for path in _LOOKED_FOR if path not in by_path]
        replies = ask([Ask(f"{front}/{path}", "*/*") for path in waiting])
        by_path |= {path: reply for path, reply in zip(waiting, replies, strict=True) if reply.is_success}
    index = by_path.get(SKILLS_INDEX)
    entries = read_index(index.value, index.url).entries if index is not None else ()
    near = sample([entry for entry in entries if origin_of(entry.url) == origin_of(root)], MAX_SKILLS)
    answers = ask([Ask("", "*/*", exact=entry.url, whole=True) for entry in near])
    (html,) = ask([Ask(start, BROWSER)])
    return DiscoverySeen(by_path, tuple(zip(near, answers, strict=True)), page, html)


def _root_node(page: PageSeen, root: str) -> None:
    """Raise `NoSite` if the root is not usable."""
    reply = page.reply
    if reply.problem:
        raise NoSite(reply.problem, reply.hint or "check the URL, and that the site runs", reply.again)
    if page.kind == "elsewhere":
        raise NoSite(
            f"the site redirects to {reply.header('location')[:200]}, on another origin", "probe that, if you mean it"
        )
    if page.kind == "missing":
        raise NoSite(f"{reply.url}: the answer is {reply.status}", "give the URL of the root node of the site")
    markdown = page.markdown
    if markdown is None:
        words = f"{reply.url} is not an MDH node: asked for Markdown, {reply.said}"
        raise NoSite(words, f"a node is Markdown with `id`, `type` and `title` in front matter; {root} is no such site")
    if markdown.text is not None and not markdown.text.lstrip("\ufeff").startswith("---"):
        words = f"{reply.url} is not an MDH node: its Markdown has no front matter"
        raise NoSite(words, "a node begins with `---`, `id`, `type` and `title`")


def _beside(start: str, ask: AskAll) -> dict[str, Reply]:
    """Return the files beside the nodes: in the folder of the root node, for a site that is mounted below others, else
    at the root of the origin."""
    by_path = dict(zip(_BESIDE, ask([Ask(path, accept) for path, accept in _BESIDE.items()]), strict=True))
    folder = start.rpartition("/")[0]
    if folder:
        nearer = ask([Ask(f"{folder}{path}", accept) for path, accept in _BESIDE.items()])
        by_path |= {path: reply for path, reply in zip(_BESIDE, nearer, strict=True) if reply.is_success}
    return by_path


def _listed_nodes(beside: Mapping[str, Reply], root: str) -> Iterator[str]:
    for entry in entries_of(beside[NODES_INDEX], "nodes") or ():
        url = entry.get("md_url")
        path = path_on(root, "/", url) if isinstance(url, str) and url else None
        if path is not None:
            yield path


def _listed_actions(beside: Mapping[str, Reply]) -> Iterator[tuple[str, str]]:
    for entry in entries_of(beside[ACTIONS_INDEX], "actions") or ():
        url, name = entry.get("url"), entry.get("id")
        if isinstance(url, str) and isinstance(name, str):
            yield url, name


def entries_of(reply: Reply, name: str) -> list[dict[str, Value]] | None:
    """Return the entries of an index; None where it is none."""
    value = reply.value if reply.is_success else None
    listed = value.get(name) if isinstance(value, dict) else None
    return listed if are_mappings(listed) else None


def _questioned(pages: Mapping[str, PageSeen], same: Mapping[str, str], ask: AskAll) -> dict[str, PageSeen]:
    """Return the pages, a sample of the nodes with their answers to every further question."""
    chosen = sample([path for path, page in pages.items() if page.kind == "node" and path not in same])
    asked = [
        (path, question.name, further)
        for path in chosen
        for question in QUESTIONS
        if (further := ask_of(question, path, pages[path].reply.header("etag"))) is not None
    ]
    answers: dict[str, dict[str, Reply]] = {path: {} for path in chosen}
    for (path, name, _), reply in zip(asked, ask([question for _, _, question in asked]), strict=True):
        answers[path][name] = reply
    return {path: replace(page, answers=answers.get(path, {})) for path, page in pages.items()}


def _read(site: SiteSeen) -> Read:
    """Return the nodes of a site, read like the documents of a folder."""
    texts: dict[Any, SourceText] = {}
    paths = {}
    for page in site.nodes:
        markdown = page.markdown
        file = file_of(page.path)
        if markdown is not None and markdown.text is not None and file not in texts:
            texts[file] = SourceText(markdown.text, page.url)
            paths[file] = base_of(page)
    there = frozenset(path for path, kind in site.targets.items() if kind not in ("missing", "unasked"))
    return read_nodes(paths, ProbedFiles(texts, there), ROOT, own=lambda _: Hints())


def _called(read: Read, root: str, ask: AskAll) -> tuple[CallSeen, ...]:
    calls = calls_of(read.nodes, root)
    replies = ask([call.ask for call in calls])
    return tuple(CallSeen(call.mark, reply, call.paginated) for call, reply in zip(calls, replies, strict=True))


MAX_CALLS = 20
"""Actions that are called."""


class Call(Struct, frozen=True):
    """A call to make: where the action is declared, the request, and whether it declares pages."""

    mark: Mark
    ask: Ask
    paginated: bool


def calls_of(nodes: Iterable[NodeSeen], root: str) -> tuple[Call, ...]:
    """Return the first calls of different URLs."""
    calls: dict[str, Call] = {}
    for call in _calls(nodes, root):
        if len(calls) < MAX_CALLS:
            calls.setdefault(call.ask.exact, call)
    return tuple(calls.values())


def _calls(nodes: Iterable[NodeSeen], root: str) -> Iterator[Call]:
    for node in nodes:
        for action in node.model.actions:
            try:
                contract = read_contract(action_value(action))
                if contract.wants_consent or contract.required or contract.path_names or contract.auth.wants_token:
                    continue
                request = build_request(contract, {}, site_root=root)
            except RequestError:
                continue
            mark = node.mark(action.anchor.start, action.title_for_people)
            ask = Ask("", contract.accept or "application/json", exact=request.address())
            yield Call(mark, ask, contract.pagination is not None)


AskAll: TypeAlias = Callable[[Sequence[Ask]], Sequence[Reply]]
"""Sends many requests to a site at once; the answers are in the order of the requests. Never raises for an answer."""

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
                self.same = {other: path if at == first else at for other, at in self.same.items() if other != path}
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
        for href in (*(link.href for link in model.inline_links), *_front_paths(model)):
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
