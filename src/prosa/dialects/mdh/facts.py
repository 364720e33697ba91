"""What `prosa show` says about a node, with the keys that interface.md fixes."""

from __future__ import annotations

from prosa.data import Value
from prosa.dialects.fields import declared_value
from prosa.dialects.mdh.fields import ACTION
from prosa.dialects.mdh.model import ActionModel, LinkModel, NodeModel


def facts(model: NodeModel, *, md_url: str | None = None) -> dict[str, Value]:
    """The keys of a node. ``md_url`` is known only to who knows the site (HA2).

    A link that has an `href` (HA9) shows it beside the others. Actions are as written; those under `action` are in the
    list too, methods in capital letters.
    """
    return {
        "id": model.id.text if model.id else None,
        "type": model.type.text if model.type else None,
        "title": model.title.text if model.title else None,
        "md_url": md_url,
        "links": [_link(link, model) for link in model.links],
        "inline_links": [{"href": each.href, "line": _line(model, each.start)} for each in model.inline_links],
        "actions": [action_value(action) for action in model.actions],
    }


def _line(model: NodeModel, offset: int) -> int:
    return model.source.position(offset).line


def _link(link: LinkModel, model: NodeModel) -> dict[str, Value]:
    shown = {
        "rel": link.rel.text if link.rel else None,
        "target": link.target.text if link.target else None,
        "line": _line(model, link.span.start),
    }
    return shown | {"href": link.href.text} if link.href else shown


def action_value(action: ActionModel) -> dict[str, Value]:
    """An action as plain data; what is declared as a string is its text (X1)."""
    value = declared_value(action.node, ACTION)
    if action.method and action.verb:
        value["method"] = action.verb
    return value
