"""`import-outside-root`: an import that a check does not open, because it lies outside the root (X5)."""

from __future__ import annotations

from collections.abc import Iterator

from prosa.diagnostics import Problem
from prosa.dialects.fields import shown
from prosa.rules.subject import ProgramSubject


def check(subject: ProgramSubject) -> Iterator[Problem]:
    """At the import. A run of the program follows it all the same."""
    for each in subject.program.imports:
        if each.state == "outside-root":
            message = f"the imported program `{shown(each.ref.text)}` lies outside the root and was not opened"
            yield Problem("import-outside-root", message, each.ref.span, ("`--root DIR` makes the root wider",))
