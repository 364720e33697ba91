"""`configuration-in-code`: a line in code that older tools would have executed; here it is text (PA1)."""

from __future__ import annotations

from collections.abc import Iterator

from prosa.diagnostics import Problem
from prosa.rules.subject import Subject


def check(subject: Subject) -> Iterator[Problem]:
    """At the line."""
    for span in subject.model.opaque:
        text = "this line is code and not a configuration line"
        yield Problem("configuration-in-code", text, span, ("it is sent as it stands; older tools executed it",))
