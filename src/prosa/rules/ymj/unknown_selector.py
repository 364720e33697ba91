"""`unknown-selector`: a selector of a type that is not in the registry (Y27)."""

from __future__ import annotations

from collections.abc import Iterator

from prosa.diagnostics import Misspelling, Problem
from prosa.diagnostics.nearest import nearest
from prosa.dialects.fields import shown
from prosa.dialects.ymj.selectors import SELECTORS
from prosa.rules.subject import Subject
from prosa.rules.ymj.place_of_payload import failed


def check(subject: Subject) -> Iterator[Problem]:
    """At the selector."""
    found = failed(subject.model, "unknown")
    if found is None:
        return
    payload, span = found
    guess = nearest(payload.reason, [row.name for row in SELECTORS])
    known = ", ".join(f"`{row.form}`" for row in SELECTORS)
    note = f"did you mean `{guess}`?" if guess else f"known are {known}"
    message = f"`{shown(payload.reason)}` is not a type of selector"
    meant = Misspelling(payload.reason, guess) if guess else None
    yield Problem("unknown-selector", message, span, (note,), misspelling=meant)
