"""`costly-selector`: a pattern that is not tried because the body is too large for it (YA16)."""

from __future__ import annotations

from collections.abc import Iterator

from prosa.diagnostics import Problem
from prosa.rules.subject import Subject
from prosa.rules.ymj.place_of_payload import failed


def check(subject: Subject) -> Iterator[Problem]:
    """At the selector."""
    found = failed(subject.model, "costly")
    if found is not None:
        payload, span = found
        yield Problem("costly-selector", payload.reason, span, ("use a simpler pattern or a structured selector",))
