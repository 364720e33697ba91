"""`refused-configuration`: a line that wants what only the user may give: endpoints, keys, plugins, tools (X7)."""

from __future__ import annotations

from collections.abc import Iterator

from prosa.diagnostics import Problem, Severity
from prosa.dialects.prapti.fields import refusal
from prosa.rules.subject import Subject

CHOOSES = ("tools", "vars.tools")
"""A line that grants nothing and chooses among what is granted: worth a hint and no more."""


def check(subject: Subject) -> Iterator[Problem]:
    """At the name of the setting or the action."""
    for line in (*subject.model.assignments, *subject.model.actions):
        if found := refusal(line):
            severity = Severity.HINT if line.key in CHOOSES else None
            yield Problem("refused-configuration", found.message, line.name_span, (found.instead,), severity=severity)
