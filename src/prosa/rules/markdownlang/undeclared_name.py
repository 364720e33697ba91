"""`undeclared-name`: the template uses a name that the input schema does not declare (X13)."""

from __future__ import annotations

from collections.abc import Iterator

from prosa.diagnostics import Problem
from prosa.rules.markdownlang.names_used import problems
from prosa.rules.subject import ProgramSubject


def check(subject: ProgramSubject) -> Iterator[Problem]:
    """At the name in the body. An open schema may still receive it, so a run is not stopped."""
    return problems(subject, "undeclared-name", closed=False)
