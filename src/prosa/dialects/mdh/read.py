"""Read a node: front matter and body in, `NodeModel` and problems out. Never fails, opens nothing (H9–H15).

Only problems of the document itself are reported here: shapes and forms of fields, schemas, JSONPaths, tolerated
forms. The problems of the front matter as YAML are not repeated. Rules compare parts with each other and check the
whole site.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from prosa.data import Entry, Mapping, Node, Scalar, Sequence
from prosa.diagnostics import Problem, Severity
from prosa.dialects.fields import Owner, read_fields
from prosa.dialects.front import FrontReading
from prosa.dialects.mdh.action import identifier_problems, read_actions
from prosa.dialects.mdh.fields import LINK, LINK_WITH_HREF, NODE
from prosa.dialects.mdh.model import InlineLink, LinkModel, NodeModel, Text, WikilinkModel
from prosa.dialects.mdh.normal import tolerated

if TYPE_CHECKING:
    from prosa.document import Document


def read(front: FrontReading, document: Document) -> tuple[NodeModel, tuple[Problem, ...]]:
    """Return the node in a document and everything that is wrong with the text of it."""
    entries, problems = _top_fields(front)
    links, link_problems = _links(_raw(front, "links"))
    holders = [node for name in ("actions", "action") if (node := _raw(front, name)) is not None]
    actions, action_problems = read_actions(holders, front.source)
    node_id = _text(entries.get("id"))
    model = NodeModel(
        source=front.source,
        fields=front.fields,
        anchor=front.anchor,
        body=front.body,
        id=node_id,
        type=_text(entries.get("type")),
        title=_text(entries.get("title")),
        summary=_text(entries.get("summary")),
        updated=_text(entries.get("updated")),
        canonical_url=_text(entries.get("canonical_url")),
        aliases=_texts(entries.get("aliases")),
        tags=_texts(entries.get("tags")),
        links=links,
        actions=actions,
        inline_links=_inline_links(document),
        wikilinks=_wikilinks(document),
    )
    own = (*identifier_problems(node_id, "a node"), *tolerated(model))
    return model, (*problems, *link_problems, *action_problems, *own)


def _top_fields(front: FrontReading) -> tuple[dict[str, Entry], tuple[Problem, ...]]:
    if front.fields is None:
        return {}, (() if front.present else (_no_front_matter(front),))
    owner = Owner("an MDH node", front.anchor, unknown=Severity.INFO, complete=front.complete)
    return read_fields(front.fields, NODE, owner)


def _no_front_matter(front: FrontReading) -> Problem:
    message = "an MDH node begins with front matter between `---` lines, and this document has none"
    notes = ("MDH conformance, MUST 2: every node has `id`, `type` and `title`",)
    return Problem("node-without-front-matter", message, front.anchor, notes)


def _raw(front: FrontReading, name: str) -> Node | None:
    """Return a field as written: one bad item of a list must not hide the others."""
    return front.fields.get(name) if front.fields is not None else None


def _links(node: Node | None) -> tuple[tuple[LinkModel, ...], tuple[Problem, ...]]:
    links: list[LinkModel] = []
    problems: list[Problem] = []
    for item in node.items if isinstance(node, Sequence) else ():
        if isinstance(item, Mapping):
            link, wrong = _link(item)
            links.append(link)
            problems += wrong
    return tuple(links), tuple(problems)


def _link(item: Mapping) -> tuple[LinkModel, tuple[Problem, ...]]:
    anchor = item.entries[0].key.span if item.entries else item.span
    table = LINK_WITH_HREF if item.get("href") is not None else LINK
    entries, problems = read_fields(item, table, Owner("a link", anchor, "links.", unknown=Severity.INFO))
    rel, target, href = (_text(entries.get(name)) for name in ("rel", "target", "href"))
    return LinkModel(rel, target, href, item.span), problems


def _inline_links(document: Document) -> tuple[InlineLink, ...]:
    """Return links of every Markdown form; images and code are none (HA5)."""
    return tuple(
        InlineLink(link.destination, link.destination_span or link.span, link.span.start) for link in document.links
    )


def _wikilinks(document: Document) -> tuple[WikilinkModel, ...]:
    return tuple(
        WikilinkModel(each.target, each.label, each.fragment, each.embed, each.span) for each in document.wikilinks
    )


def _text(entry: Entry | None) -> Text | None:
    return Text.of(entry.value) if entry is not None and isinstance(entry.value, Scalar) else None


def _texts(entry: Entry | None) -> tuple[Text, ...]:
    if entry is None or not isinstance(entry.value, Sequence):
        return ()
    return tuple(Text.of(item) for item in entry.value.items if isinstance(item, Scalar))
