"""`unreadable-import`: an import of a file that exists and cannot be read as a document."""

from __future__ import annotations

from collections.abc import Iterator

from prosa.diagnostics import Problem
from prosa.dialects.fields import shown
from prosa.rules.subject import ProgramSubject


def check(subject: ProgramSubject) -> Iterator[Problem]:
    """At the import."""
    for each in subject.program.imports:
        if each.state == "unreadable":
            message = f"the imported program `{shown(each.ref.text)}` cannot be read: {each.reason}"
            yield Problem("unreadable-import", message, each.ref.span)
