"""A node of a site and the request for it, for people and for programs: what `prosa visit` and `prosa call` print.

Everything comes from a site, so nothing of it moves a cursor; credentials are `***` (X8).
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping

from prosa.data import Value
from prosa.dialects.mdh.fields import template_names
from prosa.render.json import dump
from prosa.render.plain import safe, safe_source
from prosa.site.follow import leads
from prosa.site.node import SiteNode
from prosa.site.request import Request
from prosa.site.skills_index import FetchedSkill, SkillEntry, SkillsIndex


def visit_text(node: SiteNode) -> str:
    """Title, id and type, summary, the body as it is, then the numbered links and the actions."""
    head = [node.title or node.url]
    head += [" · ".join(text for text in (node.id, node.type, node.url) if text)]
    head += [node.summary] if node.summary else []
    parts = ["\n".join(map(safe, head))]
    body = node.body.strip("\r\n")
    parts += ["\n".join(map(safe_source, body.splitlines()))] if body else []
    links, actions = list(_links(node)), list(_actions(node))
    parts += ["\n".join(("Links", *links))] if links else []
    parts += ["\n".join(("Actions", *actions))] if actions else []
    return "\n\n".join(parts)


def visit_object(node: SiteNode) -> dict[str, Value]:
    """Return every fact of a node. ``number`` is the argument of `--follow`; ``url`` of a link is null if only an
    index of the site could tell it, or if it is not fetched over HTTP."""
    every = leads(node)
    return {
        "url": node.url,
        "md_url": node.md_url,
        "form": node.form,
        "id": node.id or None,
        "type": node.type or None,
        "title": node.title or None,
        "summary": node.summary or None,
        "links": [
            {
                "number": lead.number,
                "rel": link.rel or None,
                "target": link.target or None,
                "href": link.href or None,
                "title": link.title or None,
                "url": lead.url or None,
            }
            for lead, link in zip(every, node.links, strict=False)
        ],
        "inline_links": [
            {
                "number": lead.number,
                "text": link.text,
                "href": link.href,
                "url": link.url or None,
                "same_site": link.same_site,
            }
            for lead, link in zip(every[len(node.links) :], node.inline_links, strict=True)
        ],
        "actions": [dict(action) for action in node.actions],
        "body": node.body,
        "notes": list(node.notes),
    }


def _links(node: SiteNode) -> Iterator[str]:
    every = leads(node)
    width = len(str(len(every)))
    for lead, link in zip(every, node.links, strict=False):
        name = f"{link.rel}: {link.title or link.target or link.href}"
        yield safe(f"  {lead.number:>{width}}  {name}{_arrow(lead.url, link.target, link.title)}")
    for lead, inline in zip(every[len(node.links) :], node.inline_links, strict=True):
        where = inline.url or inline.href
        yield safe(f"  {lead.number:>{width}}  {inline.text or inline.href}{_arrow(where, inline.text, '')}")


def _arrow(url: str, target: str, title: str) -> str:
    """Return where a link leads, where its name does not say that already."""
    shown = url or (target if title else "")
    return f" → {shown}" if shown and shown != target else ""


def _actions(node: SiteNode) -> Iterator[str]:
    for action in node.actions:
        parts = [f"{action.get('method', '')} {action.get('url', '')}".strip(), str(action.get("title", ""))]
        yield safe(f"  {action.get('id') or '(no id)'}  {'  '.join(part for part in parts if part)}")
        if needs := "; ".join(_needs(action)):
            yield safe(f"    {needs}")


def _needs(action: Mapping[str, Value]) -> Iterator[str]:
    """Yield what a caller must have: names of the path and the query, of the body, and a credential."""
    query, schema = _mapping(action.get("query")), _mapping(action.get("body_schema"))
    names = [*template_names(str(action.get("url", ""))), *_names(query.get("required"))]
    if names:
        yield f"needs {', '.join(dict.fromkeys(names))}"
    if body := _names(schema.get("required")):
        yield f"body needs {', '.join(body)}"
    kind = str(_mapping(action.get("auth")).get("type") or "")
    if kind and kind != "none":
        yield f"token: {kind}"


def _mapping(value: Value) -> Mapping[str, Value]:
    return value if isinstance(value, Mapping) else {}


def _names(value: Value) -> list[str]:
    return [str(item) for item in value] if isinstance(value, list) else []


def request_text(request: Request, *, show: bool = False) -> str:
    """Return the request; with ``show`` its credential as it is sent."""
    lines = [f"{request.method} {request.address(show=show)}"]
    lines += [f"{name}: {value}" for name, value in request.sent_headers(show=show).items()]
    if request.body is not None:
        text = request.body if isinstance(request.body, str) else json.dumps(request.body, ensure_ascii=False, indent=2)
        lines += ["", *text.split("\n")]
    return "\n".join(map(safe, lines))


# The skills of a site: each a line, in JSON with every fact of its entry.


def skill_lines(index: SkillsIndex, form: str) -> Iterator[str]:
    """Yield the skills that a site offers."""
    if form == "json":
        yield dump(
            {"skills": [_skill(entry) for entry in index.entries], "complaints": list(index.complaints)}, indent=2
        )
        return
    width = max((len(entry.name) for entry in index.entries), default=0)
    yield from (f"{entry.name:<{width}}  {safe(entry.description)}" for entry in index.entries)


def fetched_line(skill: FetchedSkill, form: str) -> str:
    """Return what became of a skill that was asked for."""
    if form == "json":
        return dump({**_skill(skill.entry), "status": skill.state, "note": skill.note or None})
    return safe(f"{skill.state:<7}  {skill.entry.name}" + (f": {skill.note}" if skill.note else ""))


def _skill(entry: SkillEntry) -> dict[str, Value]:
    digest = f"sha256:{entry.digest}"
    named = {"name": entry.name, "type": entry.type, "description": entry.description}
    return {**named, "url": entry.url, "digest": digest}
