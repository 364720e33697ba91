"""A node as a page for people. In: a `Page`. Out: HTML that needs no script, for one policy (`policy.py`)."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from html import unescape
from itertools import chain, islice
from typing import TYPE_CHECKING, TypedDict

from prosa.data import Plain, Value
from prosa.regex import regex
from prosa.render.json import dump
from prosa.render.page.actions import action_parts
from prosa.render.page.bodies import Body, body_of
from prosa.render.page.chrome import chrome
from prosa.render.page.model import Crumb, Frame, Page, in_query, is_external, link_url, site_url
from prosa.render.page.templates import render
from prosa.site.layout import Neighbour, twin_of
from prosa.site.navigation import Shown

if TYPE_CHECKING:
    from prosa.dialects.magi.meta import Inherited

_LANGUAGE = regex(r"[A-Za-z]{2,3}(?:-[A-Za-z0-9]{2,8}){0,3}")
_LANGUAGE_FIELDS = ("language", "lang")
_TAG = regex(r"<[^>]*>")
_PARAGRAPH = regex(r"<p>((?:(?!</p>).)*+)</p>", re.DOTALL)

MAX_DESCRIPTION = 200
"""Characters of a text that other sites show of a page."""

MAX_TAGS = 50
"""Tags of the front matter, and as many of the text, that a page lists."""

MAX_LOOKED = 2_000
"""Characters of HTML that such a text is taken from."""


def node_page(page: Page) -> str:
    """Return the page of a node."""
    view, frame = page.view, page.frame
    title = view.title.strip() or view.id or view.url
    body = body_of(page)
    actions = action_parts(page)
    scripts = [
        name
        for name, needed in (
            ("actions.js", any(action["form"] for action in actions)),
            ("scripts.js", _has_script(body)),
        )
        if needed
    ]
    values = {
        **chrome(frame, title, lang=language_of(page), back=view.url, scripts=tuple(scripts)),
        "view": {
            "title": title,
            "layout": f" layout-{view.layout}" if view.layout else "",
            "type": "" if view.dialect == "listing" or view.derived.get("type") == "page" else view.type,
            "updated": _text(view.fields.get("updated")),
        },
        "tags": [
            _tag(frame, fromkey) for fromkey in dict.fromkeys((*_texts(view.fields.get("tags")), *view.tags[:MAX_TAGS]))
        ],
        "summary": _summary(page, body),
        "description": view.summary,
        "body": body,
        "crumbs": [_crumb(frame, crumb) for crumb in page.crumbs],
        "nav": [_entry(frame, shown) for shown in page.nav],
        "before": _crumb(frame, page.before) if page.before else None,
        "behind": _crumb(frame, page.behind) if page.behind else None,
        "actions": actions,
        "forms": _forms(page),
        "links": [link._asdict() | {"url": f"{frame.prefix}/{link.path}"} for link in frame.links],
        "properties": properties(view.fields, view.inherited),
        "derived": sorted(map(str, view.derived)),
        "building": page.neighbourhood is None,
        "connections": connections(page),
        "picture": picture(page),
        **_address(page, body, title),
    }
    return render("node.html", values)


def _address(page: Page, body: Body, title: str) -> dict[str, Plain]:
    """Return the address of the page, and metadata for other sites; empty if the address of the site is unknown."""
    frame, view = page.frame, page.view
    if not frame.origin:
        return {"canonical": "", "social": {}}
    url = view.url if frame.live else twin_of(view.url, "html")
    canonical = link_url(f"{frame.origin}{frame.prefix}{url}")
    social = {"title": title, "site_name": frame.name, "type": "article" if view.path else "website", "url": canonical}
    return {"canonical": canonical, "social": {**social, "description": view.summary or _first_words(body)}}


def _first_words(body: Body) -> str:
    """Return the beginning of the text of an article, as text."""
    html = next((part["html"] for part in body.parts if part["kind"] == "html"), "")
    paragraphs = " ".join(_PARAGRAPH.findall(html[:MAX_LOOKED]))
    text = " ".join(unescape(_TAG.sub("", paragraphs)).split())
    return text if len(text) <= MAX_DESCRIPTION else f"{text[:MAX_DESCRIPTION].rpartition(' ')[0]} …"


def _crumb(frame: Frame, crumb: Crumb) -> dict[str, str]:
    return {"title": crumb.title, "url": site_url(frame, crumb.url)}


def _entry(frame: Frame, shown: Shown) -> dict[str, Plain]:
    url = site_url(frame, shown.url)
    return {
        "title": _cut(shown.title),
        "url": url,
        "external": is_external(url),
        "inside": [_entry(frame, inner) for inner in shown.inside],
        "here": shown.here,
        "around": shown.around,
    }


def language_of(page: Page) -> str:
    """Return the language of the document where it names one that a browser can use, else English."""
    for name in _LANGUAGE_FIELDS:
        value = page.view.fields.get(name)
        if isinstance(value, str) and _LANGUAGE.fullmatch(value):
            return value
    return "en"


def _has_script(body: Body) -> bool:
    return any(part["kind"] == "script" and part["state"] == "ready" for part in body.parts)


def _summary(page: Page, body: Body) -> str:
    """Return the author's summary, not a derived one, which would repeat the text."""
    if body.lead:
        return body.lead
    return "" if "summary" in page.view.derived else page.view.summary


def _forms(page: Page) -> dict[str, str]:
    """Return where the other forms of the node lie; the file as written only where it differs."""
    frame, url = page.frame, page.view.url
    forms = {"markdown": frame.prefix + twin_of(url, "markdown"), "json": frame.prefix + twin_of(url, "json")}
    if page.view.derived and frame.live:
        forms["raw"] = f"{frame.prefix}{url}?raw=1"
    return forms


def _tag(frame: Frame, name: str) -> dict[str, str]:
    """Return a tag, on a server with a link to its search."""
    query = 'tag:"{}"'.format(name.lstrip("#").replace('"', " "))
    return {"name": _cut(name), "url": f"{frame.prefix}/mdh/search?q={in_query(query)}" if frame.live else ""}


def _text(value: Plain) -> str:
    return value if isinstance(value, str) else ""


def _texts(value: Plain) -> list[str]:
    return [item for item in value if isinstance(item, str)][:MAX_TAGS] if isinstance(value, list | tuple) else []


# What stands beside an article: its properties and its connections. In: a page. Out: plain values for the template.
#
# Long lists are cut, and say how much is missing: a node that everything points at must not make a page of megabytes.

MAX_NEIGHBOURS = 100
"""Neighbours of each kind on a page."""

MAX_PROPERTIES = 100
MAX_VALUE = 2_000
"""Characters of one property."""

_ELSEWHERE = ("actions", "action")
"""Fields that the page shows in a form of their own."""


def properties(fields: Mapping[str, Plain], inherited: Mapping[str, Inherited[Value]]) -> list[dict[str, Plain]]:
    """Return the front matter: ``text``, ``code`` or ``tags`` by ``name``; inherited values name their meta file."""
    derived = {name: field.as_dict() for name, field in inherited.items()}  # as they stand among the fields
    own = (
        (str(name), value)
        for name, value in fields.items()
        if name not in _ELSEWHERE and (not derived or value != derived)
    )
    shown = chain(own, ((f"{name} (inherited from {field.by})", field.value) for name, field in inherited.items()))
    return [{"name": _cut(name), **_value(value)} for name, value in islice(shown, MAX_PROPERTIES)]


def _value(value: Plain) -> dict[str, Plain]:
    if _is_scalar(value):
        return {"text": _cut(_text_of_side(value))}
    if isinstance(value, Sequence) and value and all(map(_is_scalar, value)):
        return {"tags": [_cut(_text_of_side(item)) for item in value[:MAX_PROPERTIES]]}
    return {"code": _cut(dump(value, indent=2))}


def _is_scalar(value: Plain) -> bool:
    return value is None or isinstance(value, str | int | float | bool)


def _text_of_side(value: Plain) -> str:
    return value if isinstance(value, str) else dump(value)


def _cut(text: str) -> str:
    return text if len(text) <= MAX_VALUE else f"{text[:MAX_VALUE]}…"


class _Group(TypedDict):
    name: str
    typed: bool
    rows: list[dict[str, Plain]]
    more: int


def connections(page: Page) -> list[_Group]:
    """Return groups of neighbours: typed ones by relation, plain links, incoming links."""
    near = page.neighbourhood
    if near is None:
        return []
    groups = [
        _group(page.frame, rel or "related", neighbours, typed=True)
        for rel, neighbours in _by_rel(near.relationships).items()
    ]
    _bound(groups)
    if not page.nav:  # the content of a folder is listed beside the page already
        groups.append(_group(page.frame, "In this folder", near.inside))
    groups.append(_group(page.frame, "Links to", near.links))
    groups.append(_group(page.frame, "Linked from", near.backlinks))
    return [group for group in groups if group["rows"] or group["more"]]


def _by_rel(neighbours: Sequence[Neighbour]) -> dict[str, list[Neighbour]]:
    by_rel: dict[str, list[Neighbour]] = {}
    for neighbour in neighbours:
        by_rel.setdefault(neighbour.rel, []).append(neighbour)
    return by_rel


def _group(frame: Frame, name: str, neighbours: Sequence[Neighbour], *, typed: bool = False) -> _Group:
    rows = [_row(frame, neighbour) for neighbour in neighbours[:MAX_NEIGHBOURS]]
    return {"name": _cut(name), "typed": typed, "rows": rows, "more": len(neighbours) - len(rows)}


def _bound(groups: list[_Group]) -> None:
    """Apply the limit over all relations together."""
    left = MAX_NEIGHBOURS
    for group in groups:
        kept = group["rows"][:left]
        group["more"] += len(group["rows"]) - len(kept)
        group["rows"] = kept
        left -= len(kept)


def _row(frame: Frame, neighbour: Neighbour) -> dict[str, Plain]:
    url = site_url(frame, neighbour.url)
    return {
        "title": _cut(neighbour.title or neighbour.url),
        "url": url,
        "note": _cut(neighbour.note),
        "external": neighbour.external or is_external(url),
    }


def picture(page: Page) -> dict[str, str] | None:
    """Return the small graph around the node; None where nothing draws it, and where it would show the node alone."""
    near = page.neighbourhood
    if not page.frame.live or near is None or not (near.relationships or near.links or near.backlinks):
        return None
    where = f"around={in_query(page.view.url)}"
    start = f"{page.frame.prefix}/mdh/graph"
    return {"href": f"{start}?{where}", "src": f"{start}.svg?{where}&small=1"}
