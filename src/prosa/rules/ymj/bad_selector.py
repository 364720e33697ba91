"""`bad-selector`: a selector that cannot mean anything, such as a pattern that RE2 does not take (Y27, YA16, X20)."""

from __future__ import annotations

from collections.abc import Iterator

from prosa.diagnostics import Problem
from prosa.dialects.fields import shown
from prosa.rules.subject import Subject
from prosa.rules.ymj.place_of_payload import failed


def check(subject: Subject) -> Iterator[Problem]:
    """At the selector."""
    found = failed(subject.model, "bad")
    if found is not None:
        payload, span = found
        yield Problem("bad-selector", f"the selector `{shown(payload.selector or '')}` {payload.reason}", span)
