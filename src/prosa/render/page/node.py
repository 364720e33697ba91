"""A node as a page for people. In: a `Page`. Out: HTML that needs no script, for one policy (`policy.py`)."""

from __future__ import annotations

import re
from typing import Any

from prosa.render.page.actions import action_parts
from prosa.render.page.bodies import Body, body_of
from prosa.render.page.chrome import chrome
from prosa.render.page.model import Page
from prosa.render.page.side import connections, picture, properties
from prosa.render.page.templates import render
from prosa.render.page.urls import link_url, site_url
from prosa.site.layout import twin_of

_LANGUAGE = re.compile(r"[A-Za-z]{2,3}(?:-[A-Za-z0-9]{2,8}){0,3}")
_LANGUAGE_FIELDS = ("language", "lang")


def node_page(page: Page) -> str:
    """The page of a node."""
    view, frame = page.view, page.frame
    title = view.title.strip() or view.id or view.url
    body = body_of(page)
    actions = action_parts(page)
    scripts = [
        name
        for name, needed in (("actions.js", any(each["form"] for each in actions)), ("scripts.js", _has_script(body)))
        if needed
    ]
    values = {
        **chrome(frame, title, lang=language_of(page), back=view.url, scripts=tuple(scripts)),
        "view": {
            "title": title,
            "layout": f" layout-{view.layout}" if view.layout else "",
            "type": "" if view.dialect == "listing" else view.type,
            "updated": _text(view.fields.get("updated")),
        },
        "tags": _texts(view.fields.get("tags")),
        "summary": _summary(page, body),
        "description": view.summary,
        "body": body,
        "crumbs": [{"title": each.title, "url": site_url(frame, each.url)} for each in page.crumbs],
        "actions": actions,
        "forms": _forms(page),
        "properties": properties(view.fields, view.lent),
        "derived": sorted(map(str, view.derived)),
        "building": page.around is None,
        "connections": connections(page),
        "picture": picture(page),
        "canonical": link_url(f"{frame.origin}{frame.prefix}{view.url}") if frame.origin else "",
    }
    return render("node.html", values)


def language_of(page: Page) -> str:
    """The language of the document where it names one that a browser can use, else English."""
    for name in _LANGUAGE_FIELDS:
        value = page.view.fields.get(name)
        if isinstance(value, str) and _LANGUAGE.fullmatch(value):
            return value
    return "en"


def _has_script(body: Body) -> bool:
    return any(part["kind"] == "script" and part["state"] == "ready" for part in body.parts)


def _summary(page: Page, body: Body) -> str:
    """What the author says in short. One that was derived repeats the text."""
    if body.lead:
        return body.lead
    return "" if "summary" in page.view.derived else page.view.summary


def _forms(page: Page) -> dict[str, str]:
    """Where the other forms of the node lie; the file as written only where it differs."""
    frame, url = page.frame, page.view.url
    forms = {"markdown": frame.prefix + twin_of(url, "markdown"), "json": frame.prefix + twin_of(url, "json")}
    if page.view.derived and frame.live:
        forms["raw"] = f"{frame.prefix}{url}?raw=1"
    return forms


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""


def _texts(value: Any) -> list[str]:
    return [each for each in value if isinstance(each, str)][:50] if isinstance(value, list | tuple) else []
