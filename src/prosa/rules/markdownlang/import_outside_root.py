"""`import-outside-root`: an import that a check does not open, because it lies outside the root (X5)."""

from __future__ import annotations

from collections.abc import Iterator

from prosa.diagnostics import Problem
from prosa.dialects.fields import shown
from prosa.rules.subject import ProgramSubject


def check(subject: ProgramSubject) -> Iterator[Problem]:
    """At the import. A run without `--root` follows it all the same, where it leads to a program without a link."""
    for each in subject.program.imports:
        if each.state == "outside-root":
            why = each.reason or "was not opened"
            message = f"the imported program `{shown(each.ref.text)}` lies outside the root and {why}"
            yield Problem("import-outside-root", message, each.ref.span, ("`--root DIR` makes the root wider",))
