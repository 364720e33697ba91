"""`undocumented-csrf`: a state-changing action with a cookie and no word about CSRF (H12, H20, HA3)."""

from __future__ import annotations

from collections.abc import Iterator

from prosa.data import Mapping, Node, Scalar, Sequence
from prosa.diagnostics import Problem
from prosa.dialects.mdh.model import ActionModel, NodeModel
from prosa.rules.subject import Subject

_WORD = "csrf"
_NOTE = "MDH section 10.4: say in the action, under `csrf` for example, or in the text how to get the token"


def check(subject: Subject) -> Iterator[Problem]:
    """At the type of the authentication, where neither the action nor the text of the node speaks of CSRF."""
    model: NodeModel = subject.model
    concerned = [action for action in model.actions if _concerned(action)]
    if not concerned or _WORD in subject.source.slice(model.body).lower():
        return
    for action in concerned:
        if action.auth and action.auth.type and not _speaks(action.node):
            message = f"{action.title_for_people} changes something with a cookie and says nothing about CSRF"
            yield Problem("undocumented-csrf", message, action.auth.type.span, (_NOTE,))


def _concerned(action: ActionModel) -> bool:
    kind = action.auth.type if action.auth else None
    return kind is not None and kind.text == "cookie" and action.changes_state


def _speaks(node: Node) -> bool:
    if isinstance(node, Scalar):
        return _WORD in node.text.lower()
    if isinstance(node, Sequence):
        return any(_speaks(item) for item in node.items)
    assert isinstance(node, Mapping)
    return any(_WORD in entry.key.text.lower() or _speaks(entry.value) for entry in node)
