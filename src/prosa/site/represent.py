"""A node as JSON (HA8, H23): the fields of its front matter at the top, then `md_url` and `body`."""

from __future__ import annotations

from prosa.data import Value
from prosa.site.view import NodeView

_OURS = ("md_url", "body")


def json_of(view: NodeView, prefix: str = "") -> dict[str, Value]:
    """Return the JSON form. ``prefix`` is the path of the site. An author's field with a reserved name is left out, so
    that clients can rely on those."""
    fields = {name: value for name, value in view.fields.items() if name not in _OURS}
    fields |= {"id": view.id, "type": view.type, "title": view.title}
    if view.actions or "actions" in fields:
        fields["actions"] = [dict(action) for action in view.actions]
        fields.pop("action", None)
    if view.lent:
        fields.setdefault("lent", dict(view.lent))
    head = {name: fields.pop(name) for name in ("id", "type", "title")}
    return {**head, **fields, "md_url": f"{prefix}{view.url}", "body": view.body}
