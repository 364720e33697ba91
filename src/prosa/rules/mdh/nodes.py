"""The nodes of a site among each other: links, URLs and indexes (H7, HA1), and actions that several of them declare
(H11, HA13)."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import NamedTuple, TypeAlias
from urllib.parse import quote

from prosa.data import JsonError, Value, are_mappings, parse_json
from prosa.diagnostics import Applicability, Fix, Misspelling, Severity
from prosa.diagnostics.nearest import nearest
from prosa.dialects.fields import shown
from prosa.dialects.mdh.url import RESERVED, is_reserved
from prosa.rules.corpus_names import corpus_names
from prosa.rules.mdh import RULES
from prosa.rules.mdh.site import Page, Site, neighbours, sites, span_of
from prosa.rules.rule import Corpus, DocumentFacts, Finding
from prosa.source import Edit, FileProblem, Files, Span

MAX_SUGGESTIONS = 100
"""Links of one check that are compared with similar URLs; comparing is slow."""


@RULES.corpus("MH051", "unresolved-inline-link", Severity.ERROR)
def unresolved_inline_link(corpus: Corpus) -> Iterator[tuple[Path, Finding]]:
    """Find a link of the body that leads to nothing on its site (H21 MUST 3, H3, HA5, HA6). The finding points at the
    destination. It is silent unless all documents of the site are known."""
    left = MAX_SUGGESTIONS
    for site in sites(corpus) if corpus.complete else ():
        for page in site.nodes:
            for path, href, span in site.links(page):
                if site.page_at(path) is not None or site.leads.what(path):
                    continue
                left -= 1
                guess = site.like(path) if left >= 0 else None
                notes = (f"did you mean `{guess}`?",) if guess else (f"there is no node at `{shown(path)}`",)
                message = f"the link `{shown(href)}` leads to no node of the site (MDH conformance, MUST 3)"
                meant = Misspelling("", guess) if guess else None
                yield page.real, Finding(message, span_of(span), notes, misspelling=meant)


_NO_NODE_NOTE = "an agent that follows it finds no front matter with links and actions"


@RULES.corpus("MH052", "inline-link-to-no-node", Severity.INFO)
def inline_link_to_no_node(corpus: Corpus) -> Iterator[tuple[Path, Finding]]:
    """Find a link to something on the site that is there and is no node (H21 MUST 3, HA5). The finding points at the
    destination."""
    for site in sites(corpus):
        for page in site.nodes:
            for path, href, span in site.links(page):
                if (what := _what(path, site)) is not None:
                    message = f"the link `{shown(href)}` leads to {what}, not to a node"
                    yield page.real, Finding(message, span_of(span), (_NO_NODE_NOTE,))


def _what(path: str, site: Site) -> str | None:
    page = site.page_at(path)
    if page is None:
        return site.leads.what(path)
    return None if page.is_node else "a document without `id` and `type`"


MAX_SUGGESTED_IDS = 100
"""Targets of one check that are compared with similar ids; comparing is slow."""


@RULES.corpus("MH053", "unresolved-link-target", Severity.WARNING)
def unresolved_link_target(corpus: Corpus) -> Iterator[tuple[Path, Finding]]:
    """Find a link of the front matter whose node is not in the site (H10, HA4, HA22). The finding points at the target.
    It is silent unless all documents of the site are known."""
    left = MAX_SUGGESTED_IDS
    for site in sites(corpus) if corpus.complete else ():
        for page in site.nodes:
            for kind, target, span in page.extra.get("targets", ()):
                if _resolves(kind, target, page, site):
                    continue
                left -= 1
                note, guess = _note(kind, target, site) if left >= 0 else ("", None)
                what = "no node of the site has the id" if kind == "id" else "nothing of the site is at"
                yield (
                    page.real,
                    Finding(
                        f"{what} `{shown(target)}`",
                        span_of(span),
                        (note,) if note else (),
                        misspelling=Misspelling(target, guess) if guess else None,
                    ),
                )


def _resolves(kind: str, target: str, page: Page, site: Site) -> bool:
    if kind == "id":
        return target in site.by_id
    path = site.path(page, target)
    return path is None or site.page_at(path) is not None or site.leads.what(path) is not None


def _note(kind: str, target: str, site: Site) -> tuple[str, str | None]:
    """Return what to do, and the target that was most likely meant."""
    if kind != "id":
        guess = site.like(target)
    elif target in site.other_names:
        return f"that is another name of the node `{site.other_names[target]}`; a target is an id", None
    else:
        guess = nearest(target, site.by_id)
    return (f"did you mean `{guess}`?" if guess else "a target is the id of a node, or `url:` and a URL"), guess


@RULES.corpus("MH060", "wikilink-in-node", Severity.WARNING)
def wikilink_in_node(corpus: Corpus) -> Iterator[tuple[Path, Finding]]:
    """Find a wikilink, which no client of a site follows (H3, HA22). The finding points at the wikilink. Where exactly
    one node has that id, title or alias, a fix writes the link to it."""
    for pages in neighbours(corpus):
        linking = [page for page in pages if page.extra.get("wikilinks")]
        names = _urls_by_name(pages) if linking else {}
        for page in linking:
            for target, label, fragment, embed, pair in page.extra["wikilinks"]:
                span = span_of(pair)
                url = names.get(target.strip().lower(), "")
                fix = _as_link(url, label or target, fragment, span) if url and not embed else None
                message = f"the wikilink to `{shown(target)}` is not a link for the readers of a site"
                notes = () if fix else ("write `[text](/path)` with the URL of the node",)
                yield page.real, Finding(message, span, notes, fix=fix)


def _urls_by_name(pages: tuple[Page, ...]) -> Mapping[str, str]:
    """Return URLs by id, title, alias and own path, in lower case; empty for a name that several nodes have."""
    urls: dict[str, str] = {}
    for page in pages:
        own = {definition.name.lower() for definition in page.facts.defs} | {page.url.lower()}
        for name in own:
            urls[name] = page.url if urls.get(name, page.url) == page.url else ""
    return urls


def _as_link(url: str, text: str, fragment: str | None, span: Span) -> Fix:
    label = text.replace("\\", "\\\\").replace("[", "\\[").replace("]", "\\]")
    anchor = f"#{quote(fragment)}" if fragment else ""
    edit = Edit(span, f"[{label}]({url.replace('(', '%28').replace(')', '%29')}{anchor})")
    return Fix(f"write it as a link to `{url}`", (edit,), Applicability.UNSAFE)


# The URLs of a site, and its indexes, where there are any (H7, HA1).


@RULES.corpus("MH050", "url-collision", Severity.ERROR)
def url_collision(corpus: Corpus) -> Iterator[tuple[Path, Finding]]:
    """Find two documents of a site that live at one URL (H7, H21 MUST 1). The finding points at the id of the later
    one, or of the one of them that is a node."""
    for site in sites(corpus):
        for numbers in site.standing.collisions:
            earlier, page = (site.pages[number] for number in numbers)
            at, other = (page, earlier) if page.is_node else (earlier, page)
            message = f"`{at.url}` is the URL of {other.facts.path} too (MDH conformance, MUST 1)"
            notes = ("a server can give only one of them; rename a file",)
            yield at.real, Finding(message, at.anchor, notes)


@RULES.one_of_many("MH058", "reserved-url", Severity.WARNING)
def reserved_url(corpus: Corpus, path: Path, _: DocumentFacts) -> Iterator[Finding]:
    """Find a document whose URL belongs to the site itself (H7, HA1). The finding points at the id of the node; at the
    beginning of another document."""
    if not any(segment.lower() in RESERVED for segment in (*path.parts, path.stem)):
        return
    for page in corpus_names(corpus).derived("sites", "sites", partial(_pages, corpus)).get(path, ()):
        part = f"/{page.url[1:].partition('/')[0]}"
        message = f"`{page.url}` cannot be read: `{part}` belongs to the site itself"
        notes = ("a server answers there with its own indexes; rename the file or its folder",)
        yield Finding(message, page.anchor, notes)


def _pages(corpus: Corpus) -> dict[Path, list[Page]]:
    """Return the documents whose URLs are reserved."""
    pages: dict[Path, list[Page]] = {}
    for page in (page for site in sites(corpus) for page in site.pages if is_reserved(page.url)):
        pages.setdefault(page.real, []).append(page)
    return pages


@RULES.corpus("MH057", "site-without-root", Severity.INFO)
def site_without_root(corpus: Corpus) -> Iterator[tuple[Path, Finding]]:
    """Find a site without a node at `/`, where agents start (H7). The finding points at the id of the first node."""
    for site in sites(corpus) if corpus.complete else ():
        page = site.page_at("/")
        if page is None or not page.is_node:
            first = site.nodes[0]
            message = "the site has no node at `/`, where agents start reading"
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
        home = site.page_at("/")
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
    index = data if isinstance(data, dict) else {}
    listed = index.get(name)
    if not are_mappings(listed):
        yield _finding(at, f"{label} has no list of mappings under `{name}`")
        return None
    if index.get("spec") != _SPEC:
        yield _finding(at, f'{label} does not say `"spec": "{_SPEC}"`')
    return listed


def _file(url: str) -> str:
    """Return where the Markdown of a node is on a static host, if its URL alone does not lead there (HA7)."""
    return f"{url}{'index' if url.endswith('/') else ''}.md"


def _judge_nodes(site: Site, listed: _Entries, at: Page) -> Iterator[_Located]:
    by_id = {item.get("id"): item for item in reversed(listed) if isinstance(item.get("id"), str)}
    pages: dict[str, list[Page]] = {}
    for page in site.nodes:
        pages.setdefault(page.id, []).append(page)
    for page, *copies in pages.values():  # another rule reports two nodes with one id
        entry = by_id.pop(page.id, None)
        if entry is None:
            yield _finding(page, f"the node `{shown(page.id)}` is missing from mdh/nodes.json")
            continue
        own = {"type": page.extra.get("type"), "title": page.extra.get("title"), "md_url": page.url}
        places = {place for copy in (page, *copies) for place in (copy.url, _file(copy.url))}
        for key, value in own.items():
            if key in entry and entry[key] != value and not (key == "md_url" and entry[key] in places):
                listed_text = shown(str(entry[key]))
                yield _finding(
                    page, f"mdh/nodes.json says `{key}` of this node is `{listed_text}`, not `{shown(str(value))}`"
                )
    for name in by_id:
        yield _finding(at, f"mdh/nodes.json lists the node `{shown(str(name))}`, which the site does not have")


def _judge_actions(site: Site, listed: _Entries, at: Page) -> Iterator[_Located]:
    by_key = {(str(item.get("id")), str(item.get("node_id"))): item for item in reversed(listed)}
    names = {name for name, _ in by_key}
    known: set[str] = set()
    for page in site.nodes:
        for name, method, url, _, span in page.extra.get("actions", ()):
            known.add(name)
            if name not in names:
                message = f"the action `{shown(name)}` is missing from mdh/actions.json"
                yield _finding(page, message, span_of(span))
            entry = by_key.get((name, page.id), {})
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


# Actions that several nodes of a site declare, by id (H11, HA13).


_Action: TypeAlias = tuple[str, str, str, Sequence[tuple[str, str]], tuple[int, int]]
"""An action as it travels: id, method, URL, contract, span."""


class Declared(NamedTuple):
    """One declaration. ``contract`` maps the parts beyond method and URL to JSON."""

    page: Page
    id: str
    method: str
    url: str
    contract: dict[str, str]
    span: Span

    @classmethod
    def of(cls, page: Page, action: _Action) -> Declared:
        """Return the declaration of an action of a node."""
        name, method, url, contract, span = action
        return cls(page, name, method, url, dict(contract), span_of(span))

    def seen_from(self, other: Declared) -> str:
        """Return the place of a declaration, relative to another one."""
        return "this node too" if self.page is other.page else self.page.facts.path


def repeated(corpus: Corpus) -> Iterator[tuple[Declared, Declared]]:
    """Yield the first declaration of an id in a site with each later one."""
    for pages in neighbours(corpus):
        first: dict[str, tuple[Page, _Action]] = {}
        for page in pages:
            for action in page.extra.get("actions", ()):
                mine = page, action
                earlier = first.setdefault(action[0], mine)
                if earlier is not mine:
                    yield Declared.of(*earlier), Declared.of(*mine)


def same_call(one: Declared, other: Declared) -> bool:
    """Return whether method and URL are equal, so that it is one action declared twice (HA13)."""
    return one.method == other.method and one.url.lstrip("/") == other.url.lstrip("/")


@RULES.corpus("MH054", "conflicting-action", Severity.ERROR)
def conflicting_action(corpus: Corpus) -> Iterator[tuple[Path, Finding]]:
    """Find two actions of one id that call different things (H11, HA13). The finding points at the id of the later
    one."""
    for first, later in repeated(corpus):
        if same_call(first, later):
            continue
        message = (
            f"the action id `{shown(later.id)}` stands for `{later.method} {shown(later.url)}` here and for"
            f" `{first.method} {shown(first.url)}` in {first.seen_from(later)}"
        )
        notes = ("an action id is unique in its site; give one of them another id",)
        yield later.page.real, Finding(message, later.span, notes)


@RULES.corpus("MH055", "drifting-action", Severity.WARNING)
def drifting_action(corpus: Corpus) -> Iterator[tuple[Path, Finding]]:
    """Find one action declared twice with different contracts (HA13, HW8). The finding points at the id of the later
    one. A part that only one of them has does not count: a short form may leave it out."""
    for first, later in repeated(corpus):
        parts = _differ(first, later) if same_call(first, later) else []
        if parts:
            names = ", ".join(f"`{part}`" for part in parts)
            message = f"the action `{shown(later.id)}` differs in {names} from the one in {first.seen_from(later)}"
            notes = ("an agent uses the one that it read last; make them equal",)
            yield later.page.real, Finding(message, later.span, notes)


def _differ(first: Declared, later: Declared) -> list[str]:
    return [part for part, value in later.contract.items() if first.contract.get(part, value) != value]
