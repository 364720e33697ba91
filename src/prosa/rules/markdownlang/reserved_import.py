"""`reserved-import`: `stdlib:NAME`, which the specification keeps for later (L28, LA14)."""

from __future__ import annotations

from collections.abc import Iterator

from prosa.diagnostics import Problem
from prosa.dialects.fields import shown
from prosa.rules.subject import ProgramSubject


def check(subject: ProgramSubject) -> Iterator[Problem]:
    """At the import."""
    for each in subject.program.imports:
        if each.state == "reserved":
            message = f"`{shown(each.ref.text)}` is reserved: there is no standard library of programs yet"
            yield Problem("reserved-import", message, each.ref.span, ("import a file by its path",))
