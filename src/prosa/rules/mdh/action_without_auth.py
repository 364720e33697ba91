"""`action-without-auth`: an action that does not say how to authenticate (H21 SHOULD 6, HA14)."""

from __future__ import annotations

from collections.abc import Iterator

from prosa.diagnostics import Problem
from prosa.rules.subject import Subject

_NOTE = "write `auth: {type: none}` for an action that anybody may call"


def check(subject: Subject) -> Iterator[Problem]:
    """At the first key of the action."""
    for action in subject.model.actions:
        if action.node.get("auth") is None:
            message = f"{action.title_for_people} has no `auth` (MDH conformance, SHOULD 6); no credentials are sent"
            yield Problem("action-without-auth", message, action.anchor, (_NOTE,))
