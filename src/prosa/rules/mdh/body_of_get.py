"""`body-of-get`: a GET action that declares a request body (H14, H17)."""

from __future__ import annotations

from collections.abc import Iterator

from prosa.diagnostics import Problem
from prosa.rules.subject import Subject


def check(subject: Subject) -> Iterator[Problem]:
    """At the schema, or at the content type where there is none."""
    for action in subject.model.actions:
        if action.verb != "GET":
            continue
        span = action.body_schema.node.span if action.body_schema else None
        if span is None and action.content_type:
            span = action.content_type.span
        if span is not None:
            message = f"{action.title_for_people} is a GET and has a body; servers and caches ignore it"
            notes = ("declare the values under `query`, or use POST where it changes something",)
            yield Problem("body-of-get", message, span, notes)
