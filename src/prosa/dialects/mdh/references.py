"""What a node points at and what others can point at in it, for the graph (H4, X21)."""

from __future__ import annotations

from collections.abc import Iterator
from urllib.parse import unquote

from prosa.dialects.mdh.model import LinkModel, NodeModel
from prosa.dialects.mdh.target import target_of
from prosa.dialects.mdh.url import resolve
from prosa.document.references import Def, Ref
from prosa.source import Span


def references(model: NodeModel) -> tuple[Ref, ...]:
    """Links of the front matter, then links of the body, then wikilinks, each in the order written.

    Inline links to other sites have the kind ``url``; those within the site the kind ``path``, relative to the URL of
    the node (HA6) where they do not begin with `/`. Links that are only a fragment point at nothing else.
    """
    front = (ref for link in model.links for ref in _front(link))
    inline = (ref for each in model.inline_links if (ref := _inline(each.href, each.span)))
    wikilinks = (
        Ref("wikilink", each.target, "stem", each.span, fragment=each.fragment or "")
        for each in model.wikilinks
        if each.target
    )
    return (*front, *inline, *wikilinks)


def definitions(model: NodeModel) -> tuple[Def, ...]:
    """The id, the title and the aliases of a node (HA22: the latter two for search)."""
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
        yield Ref("front-matter", path, target.kind, link.target.span, rel=rel, fragment=fragment)
    elif link.href is not None and (ref := _inline(link.href.text, link.href.span)):
        yield Ref("front-matter", ref.target, ref.kind, ref.span, rel=rel, fragment=ref.fragment)


def _inline(href: str, span: Span) -> Ref | None:
    if resolve("/", href).origin:
        return Ref("inline", href, "url", span)
    path, _, fragment = href.partition("#")
    path = unquote(path.partition("?")[0])
    return Ref("inline", path, "path", span, fragment=fragment) if path else None
