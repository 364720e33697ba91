"""`site-index-mismatch`: an index of the site, where there is one, that says something else than its nodes (HA1).

`mdh/nodes.json` is `{"spec": "mdh/1.0", "nodes": [{id, type, title, md_url}]}`, `mdh/actions.json` is `{"spec",
"actions": [{id, node_id, …}]}`. Neither has to be there. What is wrong with an index is reported at a node: at the one
it is about, else at the root node.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator
from pathlib import Path
from typing import TypeAlias

from prosa.data import JsonError, Value, parse_json
from prosa.diagnostics import Problem
from prosa.dialects.fields import shown
from prosa.rules.mdh.site import Page, Site, sites, span_of
from prosa.rules.subject import Corpus
from prosa.source import FileProblem, Files, Span

_SPEC = "mdh/1.0"
_Finding: TypeAlias = tuple[Path, Problem]
_Entries: TypeAlias = list[dict[str, Value]]


def check_corpus(corpus: Corpus) -> Iterator[_Finding]:
    """Both indexes of every site. Only where all documents of the site are known."""
    files = corpus.files
    for site in sites(corpus) if corpus.complete else ():
        home = site.names.get("/")
        at = home if home is not None and home.is_node else site.nodes[0]
        for name, judge in _INDEXES.items():
            path = site.root / "mdh" / f"{name}.json"
            if files.exists(path):
                listed = yield from _listed(files, path, name, at)
                yield from judge(site, listed, at) if listed is not None else ()


def _listed(files: Files, path: Path, name: str, at: Page) -> Generator[_Finding, None, _Entries | None]:
    """The entries of an index, or None where it cannot be read as one."""
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


def _nodes(site: Site, listed: _Entries, at: Page) -> Iterator[_Finding]:
    by_id = {each.get("id"): each for each in reversed(listed) if isinstance(each.get("id"), str)}
    for page in site.nodes:
        entry = by_id.pop(page.id, None)
        if entry is None:
            yield _finding(page, f"the node `{shown(page.id)}` is missing from mdh/nodes.json")
            continue
        own = {"type": page.facts.extra.get("type"), "title": page.facts.extra.get("title"), "md_url": page.url}
        for key, value in own.items():
            if key in entry and entry[key] != value:
                said = shown(str(entry[key]))
                yield _finding(page, f"mdh/nodes.json says `{key}` of this node is `{said}`, not `{shown(str(value))}`")
    for name in by_id:
        yield _finding(at, f"mdh/nodes.json lists the node `{shown(str(name))}`, which the site does not have")


def _actions(site: Site, listed: _Entries, at: Page) -> Iterator[_Finding]:
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


def _finding(page: Page, message: str, span: Span | None = None) -> _Finding:
    notes = ("make the index anew, or remove it: agents do not need it",)
    return page.real, Problem("site-index-mismatch", message, span or page.anchor, notes)


_INDEXES: dict[str, Callable[[Site, _Entries, Page], Iterator[_Finding]]] = {"nodes": _nodes, "actions": _actions}
