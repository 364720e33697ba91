"""`parameter-declared-twice`: a parameter that an action declares in two places (H13, HA10)."""

from __future__ import annotations

from collections.abc import Iterator

from prosa.diagnostics import Annotation, Problem
from prosa.dialects.fields import shown
from prosa.dialects.mdh.model import ActionModel, Text
from prosa.rules.subject import Subject


def check(subject: Subject) -> Iterator[Problem]:
    """At the later one."""
    for action in subject.model.actions:
        yield from _of_action(action)


def _of_action(action: ActionModel) -> Iterator[Problem]:
    if action.query is None:
        return
    first: dict[str, tuple[str, Text | None]] = dict.fromkeys(action.path_names, ("the URL", action.url))
    for place, names in (("`required`", action.query.required), ("`optional`", action.query.optional)):
        for name in names:
            earlier, where = first.setdefault(name.text, (place, name))
            if where is name:
                continue
            message = f"the parameter `{shown(name.text)}` of {action.title_for_people} is already in {earlier}"
            notes = ("declare it once: a name in the URL is required by itself",) if where is action.url else ()
            annotations = (Annotation(where.span, "the first one"),) if where else ()
            yield Problem("parameter-declared-twice", message, name.span, notes, annotations)
