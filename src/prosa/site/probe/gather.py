"""All requests to a site, in their order. In: a URL and a function that sends requests. Out: `Evidence`, or `NoSite`.

The same site gives the same evidence: the requests only depend on its answers.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any
from urllib.parse import unquote, urlsplit

from msgspec import Struct
from msgspec.structs import replace

from prosa.data import Value
from prosa.dialects.dialect import Hints
from prosa.dialects.mdh.facts import action_value
from prosa.site.contract import read_contract
from prosa.site.probe.crawl import MAX_PAGES, AskAll, Crawl, base_of
from prosa.site.probe.evidence import CallSeen, Evidence, Mark, NodeSeen, PageSeen, SiteSeen, path_on
from prosa.site.probe.probed_files import ROOT, ProbedFiles, file_of
from prosa.site.probe.questions import BROWSER, JSON, MARKDOWN, QUESTIONS, Ask, ask_of, sample
from prosa.site.probe.reading import Read, read_nodes
from prosa.site.probe.reply import Reply
from prosa.site.problems import RequestError
from prosa.site.request import build_request
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
    """Nothing to probe: the root cannot be fetched, or is not a node. ``hint`` says what to do."""

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint


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
    site = SiteSeen(root, start, pages, crawl.targets(), crawl.same, beside, missing, cut=crawl.cut)
    read = _read(site)
    if call_reads:
        site = replace(site, calls=_called(read, root, ask))
    return Evidence(url, read.nodes, read.remarks, site, read.unreadable)


def _root_node(page: PageSeen, root: str) -> None:
    """Raise `NoSite` if the root is not usable."""
    reply = page.reply
    if reply.problem:
        raise NoSite(reply.problem, reply.hint or "check the URL, and that the site runs")
    if page.kind == "elsewhere":
        raise NoSite(
            f"the site redirects to {reply.header('location')[:200]}, on another origin", "probe that, if you mean it"
        )
    if page.kind == "missing":
        raise NoSite(f"{reply.url}: the answer is {reply.status}", "give the URL of the root node of the site")
    markdown = page.markdown
    if markdown is None:
        words = f"{reply.url} is no MDH node: asked for Markdown, {reply.said}"
        raise NoSite(words, f"a node is Markdown with `id`, `type` and `title` in front matter; {root} is no such site")
    if markdown.text is not None and not markdown.text.lstrip("\ufeff").startswith("---"):
        words = f"{reply.url} is no MDH node: its Markdown has no front matter"
        raise NoSite(words, "a node begins with `---`, `id`, `type` and `title`")


def _beside(start: str, ask: AskAll) -> dict[str, Reply]:
    """Return the files beside the nodes: in the folder of the root node, for a site that is mounted below others, else
    at the root of the origin."""
    found = dict(zip(_BESIDE, ask([Ask(path, accept) for path, accept in _BESIDE.items()]), strict=True))
    folder = start.rpartition("/")[0]
    if folder:
        nearer = ask([Ask(f"{folder}{path}", accept) for path, accept in _BESIDE.items()])
        found |= {path: reply for path, reply in zip(_BESIDE, nearer, strict=True) if reply.is_success}
    return found


def _listed_nodes(beside: Mapping[str, Reply], root: str) -> Iterator[str]:
    for each in entries_of(beside[NODES_INDEX], "nodes") or ():
        url = each.get("md_url")
        path = path_on(root, "/", url) if isinstance(url, str) and url else None
        if path is not None:
            yield path


def _listed_actions(beside: Mapping[str, Reply]) -> Iterator[tuple[str, str]]:
    for each in entries_of(beside[ACTIONS_INDEX], "actions") or ():
        if isinstance(each.get("url"), str) and isinstance(each.get("id"), str):
            yield each["url"], each["id"]


def entries_of(reply: Reply, name: str) -> list[dict[str, Value]] | None:
    """Return the entries of an index; None where it is none."""
    value = reply.value if reply.is_success else None
    listed = value.get(name) if isinstance(value, dict) else None
    if not isinstance(listed, list) or not all(isinstance(each, dict) for each in listed):
        return None
    return listed


def _questioned(pages: Mapping[str, PageSeen], same: Mapping[str, str], ask: AskAll) -> dict[str, PageSeen]:
    """Return the pages, a sample of the nodes with their answers to every further question."""
    chosen = sample([path for path, page in pages.items() if page.kind == "node" and path not in same])
    asked = [
        (path, question.name, found)
        for path in chosen
        for question in QUESTIONS
        if (found := ask_of(question, path, pages[path].reply.header("etag"))) is not None
    ]
    answers: dict[str, dict[str, Reply]] = {path: {} for path in chosen}
    for (path, name, _), reply in zip(asked, ask([each for _, _, each in asked]), strict=True):
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
    replies = ask([each.ask for each in calls])
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
    found: dict[str, Call] = {}
    for call in _calls(nodes, root):
        if len(found) < MAX_CALLS:
            found.setdefault(call.ask.exact, call)
    return tuple(found.values())


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
