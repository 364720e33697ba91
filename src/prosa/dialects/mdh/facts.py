"""The public data of a node: the keys of `prosa show` in interface.md, references and definitions for the graph (H4,
X21), and plain data for the rules of a whole site, which travels between processes."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING
from urllib.parse import unquote

from prosa.data import Value
from prosa.dialects.fields import declared_value
from prosa.dialects.mdh.fields import ACTION
from prosa.dialects.mdh.model import ActionModel, LinkModel, NodeModel, Text
from prosa.dialects.mdh.url import resolve, target_of
from prosa.document.references import Def, Ref
from prosa.source import Span

if TYPE_CHECKING:
    from typing import TypeAlias, TypedDict

    from prosa.dialects.facts import MdhFacts, NodeLink

    Pair: TypeAlias = tuple[int, int]

    class CorpusFacts(TypedDict, total=False):
        """What rules of a whole site read of a node (`corpus_facts`)."""

        id: str
        type: str
        title: str
        anchor: Pair
        canonical: str
        links: Sequence[tuple[str, Pair]]
        targets: Sequence[tuple[str, str, Pair]]
        actions: Sequence[tuple[str, str, str, Sequence[tuple[str, str]], Pair]]
        wikilinks: Sequence[tuple[str, str | None, str | None, bool, Pair]]


def facts(model: NodeModel, *, md_url: str | None = None) -> MdhFacts:
    """Return the keys of a node. ``md_url`` is known only to who knows the site (HA2).

    A link that has an `href` (HA9) shows it beside the others. Actions are as written; those under `action` are in the
    list too, methods in capital letters.
    """
    return {
        "dialect": "mdh",
        "id": model.id.text if model.id else None,
        "type": model.type.text if model.type else None,
        "title": model.title.text if model.title else None,
        "md_url": md_url,
        "links": [_link(link, model) for link in model.links],
        "inline_links": [{"href": link.href, "line": _line(model, link.start)} for link in model.inline_links],
        "actions": [action_value(action) for action in model.actions],
    }


def _line(model: NodeModel, offset: int) -> int:
    return model.source.position(offset).line


def _link(link: LinkModel, model: NodeModel) -> NodeLink:
    shown: NodeLink = {
        "rel": link.rel.text if link.rel else None,
        "target": link.target.text if link.target else None,
        "line": _line(model, link.span.start),
    }
    if link.href:
        shown["href"] = link.href.text
    return shown


def action_value(action: ActionModel) -> dict[str, Value]:
    """Return an action as plain data; a value declared as a string is its text (X1)."""
    value = declared_value(action.node, ACTION)
    if action.method and action.verb:
        value["method"] = action.verb
    return value


def references(model: NodeModel) -> tuple[Ref, ...]:
    """Return links of the front matter, then links of the body, then wikilinks, each in their order.

    Inline links to other sites have the kind ``url``; those within the site the kind ``path``, relative to the URL of
    the node (HA6) unless they begin with `/`. Links that are only a fragment have no target.
    """
    front = (ref for link in model.links for ref in _front(link))
    inline = (ref for link in model.inline_links if (ref := _inline(link.href, link.span)))
    wikilinks = (
        Ref("wikilink", wikilink.target, "stem", wikilink.span, fragment=wikilink.fragment or "")
        for wikilink in model.wikilinks
        if wikilink.target
    )
    return (*front, *inline, *wikilinks)


def definitions(model: NodeModel) -> tuple[Def, ...]:
    """Return the id, the title and the aliases of a node (HA22: the latter two for search)."""
    named: list[Def] = []
    if model.id:
        named.append(Def("id", model.id.text, model.id.span))
    if model.title:
        named.append(Def("title", model.title.text, model.title.span))
    return (*named, *(Def("alias", alias.text, alias.span) for alias in model.aliases))


def _front(link: LinkModel) -> Iterator[Ref]:
    rel = link.rel.text if link.rel else None
    if link.target is not None:
        target = target_of(link.target.text)
        path, _, fragment = target.text.partition("#") if target.kind == "path" else (target.text, "", "")
        path = unquote(path.partition("?")[0]) if target.kind == "path" else path
        yield Ref("front-matter", path, target.kind, link.target.span, rel=rel, fragment=fragment)
    elif link.href is not None and (ref := _inline(link.href.text, link.href.span)):
        yield Ref("front-matter", ref.target, ref.kind, ref.span, rel=rel, fragment=ref.fragment)


def _inline(href: str, span: Span) -> Ref | None:
    if resolve("/", href).origin:
        return Ref("inline", href, "url", span)
    path, _, fragment = href.partition("#")
    path = unquote(path.partition("?")[0])
    return Ref("inline", path, "path", span, fragment=fragment) if path else None


CONTRACT: tuple[str, ...] = (
    *("accept", "content_type", "auth", "query", "body_schema", "response_schema", "pagination"),
)
"""The parts of an action beyond method and URL that a client acts on (HW8)."""


def corpus_facts(model: NodeModel) -> CorpusFacts:
    """Return plain tuples; spans are pairs of offsets.

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
        "links": tuple((link.href, _pair(link.span)) for link in model.inline_links),
        "targets": tuple(target for link in model.links for target in _targets(link)),
        "actions": tuple(_action(action) for action in model.actions if action.id and action.method and action.url),
        "wikilinks": tuple(
            (wikilink.target, wikilink.label, wikilink.fragment, wikilink.embed, _pair(wikilink.span))
            for wikilink in model.wikilinks
        ),
    }


def _pair(span: Span) -> tuple[int, int]:
    return span.start, span.end


def _targets(link: LinkModel) -> tuple[tuple[str, str, tuple[int, int]], ...]:
    """Absolute URLs are ignored here."""
    targets = []
    if link.target is not None:
        target = target_of(link.target.text)
        targets.append((target.kind, target.text, _pair(link.target.span)))
    if link.href is not None:
        targets.append(("path", link.href.text, _pair(link.href.span)))
    return tuple(reference for reference in targets if reference[0] != "url")


def _action(action: ActionModel) -> tuple[str, str, str, tuple[tuple[str, str], ...], tuple[int, int]]:
    value = action_value(action)
    contract = tuple((part, _canonical(value[part])) for part in CONTRACT if value.get(part) is not None)
    span = action.id.span if action.id else action.anchor
    return _text(action.id), action.verb, _text(action.url), contract, _pair(span)


def _canonical(value: Value) -> str:
    return json.dumps(value, sort_keys=True, ensure_ascii=False)


def _text(text: Text | None) -> str:
    return text.text if text else ""
