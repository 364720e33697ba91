"""`missing-selector-target`: nothing in the body is what the selector looks for (Y27, YA17)."""

from __future__ import annotations

from collections.abc import Iterator

from prosa.diagnostics import Problem
from prosa.dialects.fields import shown
from prosa.rules.subject import Subject
from prosa.rules.ymj.place_of_payload import failed


def check(subject: Subject) -> Iterator[Problem]:
    """At the selector, or at the format whose default selector finds nothing."""
    found = failed(subject.model, "missing")
    if found is not None:
        payload, span = found
        message = f"nothing in the body matches the selector `{shown(payload.selector or '')}`"
        notes = () if payload.explicit else ("without `body_selector` the first fence of the format is looked for",)
        yield Problem("missing-selector-target", message, span, notes)
