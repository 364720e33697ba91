"""`too-many-imports`: more imports than a program may have, or programs than imports may add up to."""

from __future__ import annotations

from collections.abc import Iterator

from prosa.diagnostics import Problem
from prosa.rules.subject import ProgramSubject


def check(subject: ProgramSubject) -> Iterator[Problem]:
    """At the first import that was not followed."""
    for each in subject.program.imports:
        if each.state == "too-many":
            message = f"this import and those after it are not followed: {each.reason}"
            yield Problem("too-many-imports", message, each.ref.span)
            return
