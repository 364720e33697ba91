"""`impossible-name`: the template uses a name that the closed input schema keeps out (X13)."""

from __future__ import annotations

from collections.abc import Iterator

from prosa.diagnostics import Problem
from prosa.rules.markdownlang.names_used import problems
from prosa.rules.subject import ProgramSubject


def check(subject: ProgramSubject) -> Iterator[Problem]:
    """At the name in the body. `additionalProperties: false` means no input can ever have it."""
    return problems(subject, "impossible-name", closed=True)
