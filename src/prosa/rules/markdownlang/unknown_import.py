"""`unknown-import`: an import of a file that does not exist (L6)."""

from __future__ import annotations

from collections.abc import Iterator

from prosa.diagnostics import Problem
from prosa.dialects.fields import shown
from prosa.rules.subject import ProgramSubject


def check(subject: ProgramSubject) -> Iterator[Problem]:
    """At the import."""
    for each in subject.program.imports:
        if each.state == "missing":
            message = f"the imported program `{shown(each.ref.text)}` does not exist"
            note = f"looked for {each.path}; a relative path starts at the folder of the importing file"
            yield Problem("unknown-import", message, each.ref.span, (note,))
