"""`unresolved-variable`: `var(NAME)` of a name that is not set, or that leads in a circle."""

from __future__ import annotations

from collections.abc import Iterator

from prosa.diagnostics import Problem
from prosa.dialects.prapti.configuration import effective
from prosa.rules.subject import Subject


def check(subject: Subject) -> Iterator[Problem]:
    """At the right side of the assignment that counts."""
    for found in effective(subject.model).values():
        if found.problem is not None:
            yield Problem("unresolved-variable", found.problem, found.line.value_span)
