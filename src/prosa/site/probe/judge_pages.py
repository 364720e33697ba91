"""The checks of a site as a whole: its Markdown, its links, its indexes, its answer for a missing page."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from prosa.data import Value
from prosa.dialects.fields import shown
from prosa.site.probe.evidence import Evidence, Kind, Mark, NodeSeen, Outcome, PageSeen, SiteSeen, judged
from prosa.site.probe.gather import ACTIONS_INDEX, LLMS, NODES_INDEX, entries_of
from prosa.site.probe.questions import twin

_SPEC = "mdh/1.0"
_LEADS: Mapping[Kind, str] = {
    "action": "the URL of an action, not to a node",
    "index": "an index of the site, not to a node",
    "asset": "a file, not to a node",
    "html": "a page that has no Markdown",
    "elsewhere": "a redirect to another site",
    "unasked": "a page that was not requested",
}


def markdown(evidence: Evidence) -> Outcome:
    """Require Markdown of every node, at a URL that returns it again (MUST 1)."""
    site = evidence.site
    if site is None:
        wrong = (*evidence.unreadable, *evidence.remarked("url-collision"))
        return judged(wrong, len(evidence.nodes) + len(evidence.unreadable), "document", "documents")
    marks = [mark for page in site.pages.values() if page.path not in site.same for mark in _unread(page)]
    return judged([*marks, *_not_there(site)], len(site.nodes), "node", "nodes")


def _unread(page: PageSeen) -> Iterator[Mark]:
    if page.kind == "html":
        other = twin(page.path, ".md")
        yield Mark(page.url, f"asked for Markdown, the site gives {page.reply.media_type}, and `{shown(other)}` none")
    reply = page.markdown
    if page.kind != "node" or reply is None:
        return
    if reply.text is None:
        yield Mark(page.url, "its Markdown is not UTF-8")
    again = page.answer("again")
    if again is not None and page.reply.is_markdown and not again.is_markdown:
        yield Mark(page.url, f"asked for its Markdown a second time, {again.said}")


def _not_there(site: SiteSeen) -> Iterator[Mark]:
    """Yield nodes that the site itself lists but does not serve."""
    for entry in entries_of(site.beside[NODES_INDEX], "nodes") or ():
        url = entry.get("md_url")
        path = site.path_of("/", url) if isinstance(url, str) and url else None
        page = site.pages.get(path) if path is not None else None
        if page is not None and page.kind not in ("node", "html", "unasked"):
            yield Mark(page.url, f"`{NODES_INDEX}` lists it as a node, and {page.reply.said}")


def links(evidence: Evidence) -> Outcome:
    """MUST 3: every link of a text leads to a node; what leads to an action or a file is noticed (HA5, HA6)."""
    count = sum(len(node.model.inline_links) for node in evidence.nodes)
    if evidence.site is None:
        wrong = evidence.remarked("unresolved-inline-link")
        return judged(wrong, count, "link", "links", noticed=evidence.remarked("inline-link-to-no-node"))
    marks = [link for node in evidence.nodes for link in _leading(node, evidence.site)]
    wrong = tuple(mark for kind, mark in marks if kind == "missing")
    return judged(wrong, count, "link", "links", noticed=[mark for kind, mark in marks if kind != "missing"])


def _leading(node: NodeSeen, site: SiteSeen) -> Iterator[tuple[Kind, Mark]]:
    for link in node.model.inline_links:
        path = site.path_of(node.path, link.href)
        kind = site.targets.get(path, "unasked") if path is not None else "node"
        if kind == "node" or path is None:
            continue
        if kind == "missing":
            words = f"the link `{shown(link.href)}` leads to nothing: {site.pages[path].reply.said}"
        else:
            words = f"the link `{shown(link.href)}` leads to {_LEADS[kind]}"
        yield kind, node.mark(link.span.start, words)


def indexes(evidence: Evidence) -> Outcome:
    """Index, where there are any, say what the nodes say (HA1)."""
    site = evidence.site
    if site is None:
        return _index_files(evidence)
    there = [name for name in (NODES_INDEX, ACTIONS_INDEX) if site.beside[name].is_success]
    if not there:
        return Outcome("not-applicable", words="the site has no indexes, and needs none")
    marks = [*_form(site, there)]
    if not marks:
        marks = [*_nodes_index(evidence, site), *_actions_index(evidence, site)]
    return judged(marks, len(there), "index", "indexes")


def _index_files(evidence: Evidence) -> Outcome:
    marks = evidence.remarked("site-index-mismatch")
    return Outcome("failed", marks) if marks else Outcome("passed", words="no index disagrees")


def _form(site: SiteSeen, there: list[str]) -> Iterator[Mark]:
    for path in there:
        reply, name = site.beside[path], path.rpartition("/")[2].removesuffix(".json")
        if entries_of(reply, name) is None:
            yield Mark(reply.url, f"it has no list of objects under `{name}`, or is not JSON")
        elif isinstance(reply.value, dict) and reply.value.get("spec") != _SPEC:
            yield Mark(reply.url, f'it does not say `"spec": "{_SPEC}"`')


def _nodes_index(evidence: Evidence, site: SiteSeen) -> Iterator[Mark]:
    reply = site.beside[NODES_INDEX]
    listed = entries_of(reply, "nodes")
    if listed is None:
        return
    by_id = {name: item for item in reversed(listed) if isinstance(name := item.get("id"), str)}
    for node in evidence.nodes:
        entry = by_id.pop(node.id, None)
        if entry is None:
            yield Mark(reply.url, f"the node `{shown(node.id)}` is missing")
            continue
        yield from _differences(node, entry, site, reply.url)
    for name in by_id if not site.cut else ():
        yield Mark(reply.url, f"no node that was found has the id `{shown(name)}`")


def _differences(node: NodeSeen, entry: dict[str, Value], site: SiteSeen, at: str) -> Iterator[Mark]:
    for key, own in (("type", node.model.type), ("title", node.model.title)):
        if own is not None and key in entry and entry[key] != own.text:
            listed_text = shown(str(entry[key]))
            yield Mark(
                at, f"`{key}` of the node `{shown(node.id)}` is `{listed_text}`, and `{shown(own.text)}` in the node"
            )
    url = entry.get("md_url")
    path = site.path_of("/", url) if isinstance(url, str) else None
    if path is not None and path in site.pages and site.same.get(path, path) not in _paths(node, site):
        yield Mark(at, f"`md_url` of the node `{shown(node.id)}` is `{shown(str(url))}`, where another node is")


def _paths(node: NodeSeen, site: SiteSeen) -> set[str]:
    return {page.path for page in site.pages.values() if page.url == node.at}


def _actions_index(evidence: Evidence, site: SiteSeen) -> Iterator[Mark]:
    reply = site.beside[ACTIONS_INDEX]
    listed = entries_of(reply, "actions")
    if listed is None:
        return
    by_id = {str(item.get("id")): item for item in reversed(listed)}
    known = set()
    for node in evidence.nodes:
        for action in node.model.actions:
            if not (action.id and action.url and action.method) or action.id.text in known:
                continue
            known.add(action.id.text)
            entry = by_id.get(action.id.text)
            if entry is None:
                yield Mark(reply.url, f"{action.title_for_people} is missing")
            elif (entry.get("method", action.verb), entry.get("url", action.url.text)) != (
                action.verb,
                action.url.text,
            ):
                yield Mark(reply.url, f"{action.title_for_people} has another method or URL in its node")
    for name in sorted(by_id.keys() - known) if not site.cut else ():
        yield Mark(reply.url, f"no node that was found declares the action `{shown(name)}`")


def not_found(evidence: Evidence) -> Outcome:
    """Require 404 for a missing page, in the requested form (HW1)."""
    assert evidence.site is not None
    replies = evidence.site.missing
    has_json = any(_is_json(page) for page in evidence.site.sampled)
    marks = []
    for form, reply in replies.items():
        if reply.status not in (404, 410):
            marks.append(Mark(reply.url, f"asked for a missing page, {reply.said}; expected 404"))
        elif form == "json" and has_json and "json" not in reply.media_type:
            marks.append(Mark(reply.url, f"asked for JSON, the words of the 404 are {reply.media_type or 'untyped'}"))
        elif form != "json" and "json" in reply.media_type:
            wanted = "Markdown" if form == "markdown" else "HTML"
            marks.append(Mark(reply.url, f"asked for {wanted}, the words of the 404 are {reply.media_type}"))
    return judged(marks, len(replies), "form", "forms")


def _is_json(page: PageSeen) -> bool:
    reply = page.answer("json")
    return reply is not None and reply.is_json


def has_indexes(evidence: Evidence) -> Outcome:
    """Return `/mdh/nodes.json` and `/mdh/actions.json` are there (HA1)."""
    assert evidence.site is not None
    return _has(evidence.site, NODES_INDEX, ACTIONS_INDEX)


def has_llms(evidence: Evidence) -> Outcome:
    """`/llms.txt` is there."""
    assert evidence.site is not None
    return _has(evidence.site, LLMS)


def _has(site: SiteSeen, *paths: str) -> Outcome:
    wrong = [Mark(site.beside[path].url, site.beside[path].said) for path in paths if not _is_file(site, path)]
    return judged(wrong, len(paths), "file", "files")


def _is_file(site: SiteSeen, path: str) -> bool:
    return site.beside[path].is_success and not site.beside[path].is_html
