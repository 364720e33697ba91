"""The URLs of a site, and its indexes, where there are any (H7, HA1)."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator
from functools import partial
from pathlib import Path
from typing import TypeAlias
from urllib.parse import unquote

from prosa.data import JsonError, Value, parse_json
from prosa.diagnostics import Severity
from prosa.dialects.fields import shown
from prosa.dialects.mdh.url import RESERVED, is_reserved
from prosa.rules.corpus_names import corpus_names
from prosa.rules.mdh import RULES
from prosa.rules.mdh.site import Page, Site, sites, span_of
from prosa.rules.rule import Finding
from prosa.rules.subject import Corpus, Facts
from prosa.source import FileProblem, Files, Span


@RULES.corpus("MH050", "url-collision", Severity.ERROR)
def url_collision(corpus: Corpus) -> Iterator[tuple[Path, Finding]]:
    """Find two documents of a site that live at one URL (H7, H21 MUST 1). The finding points at the id of the later
    one, or of the one of them that is a node."""
    for site in sites(corpus):
        first: dict[str, Page] = {}
        for page in site.pages:
            earlier = first.setdefault(unquote(page.url).rstrip("/"), page)
            if earlier is page or not (page.is_node or earlier.is_node):
                continue
            at, other = (page, earlier) if page.is_node else (earlier, page)
            message = f"`{at.url}` is the URL of {other.facts.path} too (MDH conformance, MUST 1)"
            notes = ("a server can give only one of them; rename a file",)
            yield at.real, Finding(message, at.anchor, notes)


@RULES.one_of_many("MH058", "reserved-url", Severity.WARNING)
def reserved_url(corpus: Corpus, path: Path, _: Facts) -> Iterator[Finding]:
    """Find a document whose URL belongs to the site itself (H7, HA1). The finding points at the id of the node; at the
    beginning of another document."""
    if not any(each.lower() in RESERVED for each in (*path.parts, path.stem)):
        return
    for page in corpus_names(corpus).derived("sites", "sites", partial(_pages, corpus)).get(path, ()):
        part = f"/{page.url[1:].partition('/')[0]}"
        message = f"`{page.url}` cannot be read: `{part}` belongs to the site itself"
        notes = ("a server answers there with its own indexes; rename the file or its folder",)
        yield Finding(message, page.anchor, notes)


def _pages(corpus: Corpus) -> dict[Path, list[Page]]:
    """Return the documents whose URLs are reserved."""
    found: dict[Path, list[Page]] = {}
    for page in (page for site in sites(corpus) for page in site.pages if is_reserved(page.url)):
        found.setdefault(page.real, []).append(page)
    return found


@RULES.corpus("MH057", "site-without-root", Severity.INFO)
def site_without_root(corpus: Corpus) -> Iterator[tuple[Path, Finding]]:
    """Find a site without a node at `/`, where agents start (H7). The finding points at the id of the first node."""
    for site in sites(corpus) if corpus.complete else ():
        page = site.names.get("/")
        if page is None or not page.is_node:
            first = site.nodes[0]
            message = "the site has no node at `/`, where agents begin to read"
            notes = (f"write an `index.md` with `id`, `type` and `title` in {site.root.name or '/'}",)
            yield first.real, Finding(message, first.anchor, notes)


_SPEC = "mdh/1.0"
_Located: TypeAlias = tuple[Path, Finding]
_Entries: TypeAlias = list[dict[str, Value]]


@RULES.corpus("MH056", "site-index-mismatch", Severity.WARNING)
def site_index_mismatch(corpus: Corpus) -> Iterator[_Located]:
    """Find an index of the site that contradicts its nodes (HA1). It checks both indexes of every site, if all
    documents of the site are known.

    `mdh/nodes.json` is `{"spec": "mdh/1.0", "nodes": [{id, type, title, md_url}]}`, `mdh/actions.json` is `{"spec",
    "actions": [{id, node_id, …}]}`. Both are optional. A problem of an index is reported at the node it concerns,
    otherwise at the root node.
    """
    files = corpus.files
    for site in sites(corpus) if corpus.complete else ():
        home = site.names.get("/")
        at = home if home is not None and home.is_node else site.nodes[0]
        for name, judge in _INDEXES.items():
            path = site.root / "mdh" / f"{name}.json"
            if files.exists(path):
                listed = yield from _listed(files, path, name, at)
                yield from judge(site, listed, at) if listed is not None else ()


def _listed(files: Files, path: Path, name: str, at: Page) -> Generator[_Located, None, _Entries | None]:
    """Yield the entries of an index, or None where it cannot be read as one."""
    label = f"mdh/{name}.json"
    try:
        data = parse_json(files.read(path).text)
    except FileProblem as problem:
        yield _finding(at, f"{label} {problem.reason}")
        return None
    except JsonError as error:
        yield _finding(at, f"{label} is not JSON: {error}")
        return None
    listed = data.get(name) if isinstance(data, dict) else None
    if not isinstance(listed, list) or not all(isinstance(each, dict) for each in listed):
        yield _finding(at, f"{label} has no list of mappings under `{name}`")
        return None
    if data.get("spec") != _SPEC:
        yield _finding(at, f'{label} does not say `"spec": "{_SPEC}"`')
    return listed


def _file(url: str) -> str:
    """Return where the Markdown of a node is on a static host, if its URL alone does not lead there (HA7)."""
    return f"{url}{'index' if url.endswith('/') else ''}.md"


def _judge_nodes(site: Site, listed: _Entries, at: Page) -> Iterator[_Located]:
    by_id = {each.get("id"): each for each in reversed(listed) if isinstance(each.get("id"), str)}
    pages: dict[str, list[Page]] = {}
    for page in site.nodes:
        pages.setdefault(page.id, []).append(page)
    for page, *copies in pages.values():  # another rule reports two nodes with one id
        entry = by_id.pop(page.id, None)
        if entry is None:
            yield _finding(page, f"the node `{shown(page.id)}` is missing from mdh/nodes.json")
            continue
        own = {"type": page.facts.extra.get("type"), "title": page.facts.extra.get("title"), "md_url": page.url}
        places = {place for each in (page, *copies) for place in (each.url, _file(each.url))}
        for key, value in own.items():
            if key in entry and entry[key] != value and not (key == "md_url" and entry[key] in places):
                said = shown(str(entry[key]))
                yield _finding(page, f"mdh/nodes.json says `{key}` of this node is `{said}`, not `{shown(str(value))}`")
    for name in by_id:
        yield _finding(at, f"mdh/nodes.json lists the node `{shown(str(name))}`, which the site does not have")


def _judge_actions(site: Site, listed: _Entries, at: Page) -> Iterator[_Located]:
    said = {(str(each.get("id")), str(each.get("node_id"))): each for each in reversed(listed)}
    names = {name for name, _ in said}
    known: set[str] = set()
    for page in site.nodes:
        for name, method, url, _, span in page.facts.extra.get("actions", ()):
            known.add(name)
            if name not in names:
                message = f"the action `{shown(name)}` is missing from mdh/actions.json"
                yield _finding(page, message, span_of(span))
            entry = said.get((name, page.id), {})
            if entry.get("method", method) != method or entry.get("url", url) != url:
                message = f"mdh/actions.json has another method or URL for the action `{shown(name)}`"
                yield _finding(page, message, span_of(span))
    for unknown in sorted(names - known):
        yield _finding(at, f"mdh/actions.json lists the action `{shown(unknown)}`, which no node declares")


def _finding(page: Page, message: str, span: Span | None = None) -> _Located:
    notes = ("make the index anew, or remove it: agents do not need it",)
    return page.real, Finding(message, span or page.anchor, notes)


_INDEXES: dict[str, Callable[[Site, _Entries, Page], Iterator[_Located]]] = {
    "nodes": _judge_nodes,
    "actions": _judge_actions,
}
