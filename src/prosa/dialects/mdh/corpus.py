"""What the rules of a whole site need to know of one node, as plain data that travels between processes."""

from __future__ import annotations

import json

from prosa.data import Value
from prosa.dialects.mdh.facts import action_value
from prosa.dialects.mdh.model import ActionModel, LinkModel, NodeModel, Text
from prosa.dialects.mdh.target import target_of
from prosa.source import Span

CONTRACT: tuple[str, ...] = (
    *("accept", "content_type", "auth", "query", "body_schema", "response_schema", "pagination"),
)
"""The parts of an action beyond method and URL that a client acts on (HW8)."""


def corpus_facts(model: NodeModel) -> dict[str, Value]:
    """Plain tuples; spans are pairs of offsets.

    ``links``: `(href, span)` of the body. ``targets``: `(kind, text, span)` of the front matter, kind `id` or `path`.
    ``actions``: `(id, method, url, contract, span)`, those that have all three; a contract is `(part, JSON)` pairs.
    ``wikilinks``: `(target, label, fragment, embed, span)`. ``anchor``: where to point at the whole node.
    """
    anchor = model.id.span if model.id else model.anchor
    return {
        "id": model.id.text if model.id else "",
        "type": model.type.text if model.type else "",
        "title": model.title.text if model.title else "",
        "anchor": _pair(anchor),
        "canonical": model.canonical_url.text if model.canonical_url else "",
        "links": tuple((each.href, _pair(each.span)) for each in model.inline_links),
        "targets": tuple(target for link in model.links for target in _targets(link)),
        "actions": tuple(_action(each) for each in model.actions if each.id and each.method and each.url),
        "wikilinks": tuple(
            (each.target, each.label, each.fragment, each.embed, _pair(each.span)) for each in model.wikilinks
        ),
    }


def _pair(span: Span) -> tuple[int, int]:
    return span.start, span.end


def _targets(link: LinkModel) -> tuple[tuple[str, str, tuple[int, int]], ...]:
    """Absolute URLs are nobody's business here."""
    found = []
    if link.target is not None:
        target = target_of(link.target.text)
        found.append((target.kind, target.text, _pair(link.target.span)))
    if link.href is not None:
        found.append(("path", link.href.text, _pair(link.href.span)))
    return tuple(each for each in found if each[0] != "url")


def _action(action: ActionModel) -> tuple[str, str, str, tuple[tuple[str, str], ...], tuple[int, int]]:
    value = action_value(action)
    contract = tuple((part, _canonical(value[part])) for part in CONTRACT if value.get(part) is not None)
    span = action.id.span if action.id else action.anchor
    return _text(action.id), action.verb, _text(action.url), contract, _pair(span)


def _canonical(value: Value) -> str:
    return json.dumps(value, sort_keys=True, ensure_ascii=False)


def _text(text: Text | None) -> str:
    return text.text if text else ""
