"""`unknown-include`: a file that a chat includes and that is not there (PA11)."""

from __future__ import annotations

from collections.abc import Iterator

from prosa.diagnostics import Problem
from prosa.dialects.prapti.built_in import references
from prosa.rules.subject import Subject


def check(subject: Subject) -> Iterator[Problem]:
    """At the path; a text without a file includes nothing."""
    if subject.files is None:
        return
    for ref in references(subject.model):
        path = subject.path
        if path is None:
            return
        target = path.parent / ref.target
        if not subject.files.inside_root(target):
            text = f"`{ref.target}` lies outside the root and is not included"
            yield Problem("unknown-include", text, ref.span, ("give another --root to allow it",))
        elif not subject.files.exists(target):
            note = "a path is relative to the chat that includes it"
            yield Problem("unknown-include", f"the included file `{ref.target}` does not exist", ref.span, (note,))
