"""`unknown-pagination`: a `pagination.type` other than `cursor`, the only one that is specified (H15)."""

from __future__ import annotations

from collections.abc import Iterator

from prosa.diagnostics import Problem
from prosa.dialects.fields import shown
from prosa.rules.subject import Subject


def check(subject: Subject) -> Iterator[Problem]:
    """At the type."""
    for action in subject.model.actions:
        kind = action.pagination.type if action.pagination else None
        if kind is not None and kind.text != "cursor":
            message = f"the pagination `{shown(kind.text)}` of {action.title_for_people} is one that no client follows"
            yield Problem("unknown-pagination", message, kind.span, ("MDH specifies `cursor`",))
