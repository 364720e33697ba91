"""`setting-of-the-user`: a document that chooses an endpoint, a key, a tool or a permission (X7)."""

from __future__ import annotations

from collections.abc import Iterator

from prosa.diagnostics import Problem
from prosa.dialects.markdownlang.fields import user_setting
from prosa.rules.subject import ProgramSubject


def check(subject: ProgramSubject) -> Iterator[Problem]:
    """At the field's name."""
    for entry in subject.program.model.fields or ():
        instead = user_setting(entry.key.text)
        if instead:
            message = f"`{entry.key.text}` is for the user to decide, not for a document: the line is refused"
            yield Problem("setting-of-the-user", message, entry.key.span, (instead,))
