"""A node as its client needs it: the actions it declares. In: its Markdown, or its JSON form (HA8). Out: a `SiteNode`.

Reading never fails: what is no action is left out, and one that cannot be called is refused when it is called.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from prosa.dialects.front import read_front
from prosa.dialects.mdh.facts import action_value
from prosa.dialects.mdh.model import NodeModel
from prosa.dialects.reading import read_as
from prosa.source import SourceText

_FRONT = ("meta", "front_matter", "frontmatter")
"""Where the JSON of a node may have its front matter, when it is not at the top: the first site's `meta` (HA8)."""


@dataclass(frozen=True, slots=True)
class SiteNode:
    """``name`` is what the node is called in messages; ``actions`` are plain data, in the order written."""

    name: str
    actions: tuple[Mapping[str, Any], ...]

    def action(self, name: str) -> Mapping[str, Any] | None:
        """The action of that id, None without one; of several the first."""
        return next((action for action in self.actions if str(action.get("id", "")) == name), None)

    @property
    def ids(self) -> tuple[str, ...]:
        """The ids of its actions."""
        return tuple(str(action["id"]) for action in self.actions if action.get("id"))


def node_of_text(text: str, name: str) -> SiteNode:
    """The node that a Markdown document is. `action` counts as `actions` with one entry (HA9)."""
    model = read_as(read_front(SourceText(text, name)), "mdh").model
    return SiteNode(name, tuple(map(action_value, model.actions)) if isinstance(model, NodeModel) else ())


def node_of_json(value: Any, name: str) -> SiteNode:
    """The node that a JSON value is: its front matter at the top, or below `meta` (HA8)."""
    fields = value if isinstance(value, Mapping) else {}
    if "actions" not in fields and "action" not in fields:
        fields = next((fields[key] for key in _FRONT if isinstance(fields.get(key), Mapping)), {})
    found = [item for key in ("actions", "action") for item in _many(fields.get(key))]
    return SiteNode(name, tuple(item for item in found if isinstance(item, Mapping)))


def _many(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]
