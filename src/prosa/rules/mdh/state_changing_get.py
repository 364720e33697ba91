"""`state-changing-get`: a GET action whose name says that it changes something (H5, H17, HA19)."""

from __future__ import annotations

from collections.abc import Iterator

from prosa.diagnostics import Problem
from prosa.dialects.fields import shown
from prosa.dialects.mdh.action import changing_word
from prosa.rules.subject import Subject


def check(subject: Subject) -> Iterator[Problem]:
    """At the method."""
    for action in subject.model.actions:
        if action.verb != "GET" or action.method is None:
            continue
        if found := changing_word(action.id.text if action.id else "", action.title.text if action.title else ""):
            message = f"{action.title_for_people} is a GET, and its name says that it changes something: `{found}`"
            notes = ("a GET must have no side effects; use POST, PUT, PATCH or DELETE",)
            yield Problem("state-changing-get", shown(message, 200), action.method.span, notes)
