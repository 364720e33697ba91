"""`import-not-markdown`: an import whose name does not end in `.md` (L6)."""

from __future__ import annotations

from collections.abc import Iterator

from prosa.diagnostics import Problem
from prosa.dialects.fields import shown
from prosa.rules.subject import ProgramSubject


def check(subject: ProgramSubject) -> Iterator[Problem]:
    """At the import; the file is not opened."""
    for each in subject.program.imports:
        if each.state == "not-markdown":
            message = f"the import `{shown(each.ref.text)}` is not a program: its name does not end in `.md`"
            note = (
                "programs cannot be imported over the network"
                if "://" in each.ref.text
                else "give the path of a `.md` file"
            )
            yield Problem("import-not-markdown", message, each.ref.span, (note,))
