"""`ignored-interactive-field`: a button or field for a block that runs by itself (M37–M39, MA15)."""

from __future__ import annotations

from collections.abc import Iterator

from prosa.diagnostics import Annotation, Problem
from prosa.dialects.magi.model import MagiModel
from prosa.rules.subject import Subject

_FIELDS = ("interactive-type", "interactive-label", "interactive-placeholder")


def check(subject: Subject) -> Iterator[Problem]:
    """At the first such field of a block."""
    model: MagiModel = subject.model
    for script in model.scripts:
        name = next((name for name in _FIELDS if name in script.fields), None)
        if script.auto_run and name is not None:
            message = f"`{name}` has no effect in a block with `auto-run`"
            annotation = Annotation(script.span("auto-run"), "runs without being asked")
            yield Problem("ignored-interactive-field", message, script.span(name), annotations=(annotation,))
