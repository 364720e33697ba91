"""What stands beside an article: its properties and its connections. In: a page. Out: plain values for the template.

Long lists are cut, and say how much is missing: a node that everything points at must not make a page of megabytes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import chain, islice
from typing import Any

from prosa.render.json import dump
from prosa.render.page.model import Frame, Page
from prosa.render.page.urls import in_query, is_external, site_url
from prosa.site.view import Neighbour

MAX_NEIGHBOURS = 100
"""Neighbours of each kind on a page."""

MAX_PROPERTIES = 100
MAX_VALUE = 2_000
"""Characters of one property."""

_ELSEWHERE = ("actions", "action")
"""Fields that the page shows in a form of their own."""


def properties(fields: Mapping[str, Any], lent: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The front matter: ``text``, ``code`` or ``tags`` by ``name``; what is lent says by whom."""
    own = (
        (str(name), value) for name, value in fields.items() if name not in _ELSEWHERE and (not lent or value != lent)
    )
    shown = chain(own, ((f"{name} (lent by {each['by']})", each["value"]) for name, each in lent.items()))
    return [{"name": _cut(name), **_value(value)} for name, value in islice(shown, MAX_PROPERTIES)]


def _value(value: Any) -> dict[str, Any]:
    if _is_scalar(value):
        return {"text": _cut(_text(value))}
    if isinstance(value, Sequence) and value and all(map(_is_scalar, value)):
        return {"tags": [_cut(_text(each)) for each in value[:MAX_PROPERTIES]]}
    return {"code": _cut(dump(value, indent=2))}


def _is_scalar(value: Any) -> bool:
    return value is None or isinstance(value, str | int | float | bool)


def _text(value: Any) -> str:
    return value if isinstance(value, str) else dump(value)


def _cut(text: str) -> str:
    return text if len(text) <= MAX_VALUE else f"{text[:MAX_VALUE]}…"


def connections(page: Page) -> list[dict[str, Any]]:
    """Groups of neighbours: typed ones by relation, plain links, what links here."""
    around = page.around
    if around is None:
        return []
    groups = [
        _group(page.frame, rel or "related", found, typed=True) for rel, found in _by_rel(around.relationships).items()
    ]
    _bound(groups)
    groups.append(_group(page.frame, "In this folder", around.inside))
    groups.append(_group(page.frame, "Links to", around.links))
    groups.append(_group(page.frame, "Linked from", around.backlinks))
    return [each for each in groups if each["rows"] or each["more"]]


def _by_rel(neighbours: Sequence[Neighbour]) -> dict[str, list[Neighbour]]:
    found: dict[str, list[Neighbour]] = {}
    for each in neighbours:
        found.setdefault(each.rel, []).append(each)
    return found


def _group(frame: Frame, name: str, neighbours: Sequence[Neighbour], *, typed: bool = False) -> dict[str, Any]:
    rows = [_row(frame, each) for each in neighbours[:MAX_NEIGHBOURS]]
    return {"name": _cut(name), "typed": typed, "rows": rows, "more": len(neighbours) - len(rows)}


def _bound(groups: list[dict[str, Any]]) -> None:
    """The limit over all relations together."""
    left = MAX_NEIGHBOURS
    for group in groups:
        kept = group["rows"][:left]
        group["more"] += len(group["rows"]) - len(kept)
        group["rows"] = kept
        left -= len(kept)


def _row(frame: Frame, each: Neighbour) -> dict[str, Any]:
    url = site_url(frame, each.url)
    return {
        "title": _cut(each.title or each.url),
        "url": url,
        "note": _cut(each.note),
        "external": each.external or is_external(url),
    }


def picture(page: Page) -> dict[str, str] | None:
    """The small graph around the node; None where nothing draws it, and where it would show the node alone."""
    around = page.around
    if not page.frame.live or around is None or not (around.relationships or around.links or around.backlinks):
        return None
    where = f"around={in_query(page.view.url)}"
    start = f"{page.frame.prefix}/mdh/graph"
    return {"href": f"{start}?{where}", "src": f"{start}.svg?{where}&small=1"}
