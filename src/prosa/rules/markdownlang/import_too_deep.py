"""`import-too-deep`: a chain of imports longer than the limit (X9)."""

from __future__ import annotations

from collections.abc import Iterator

from prosa.diagnostics import Problem
from prosa.dialects.fields import shown
from prosa.graph.closure import MAX_IMPORT_DEPTH
from prosa.rules.subject import ProgramSubject


def check(subject: ProgramSubject) -> Iterator[Problem]:
    """At the import that goes one step too far."""
    depths = subject.closure.depths
    here = depths[subject.program.path]
    if here != MAX_IMPORT_DEPTH:
        return
    for each in subject.program.imports:
        if each.path is not None and depths.get(each.path, 0) > here:
            message = (
                f"`{shown(each.ref.text)}` is import number {here + 1} in a chain; the limit is {MAX_IMPORT_DEPTH}"
            )
            yield Problem("import-too-deep", message, each.ref.span, ("let a program higher up import it",))
