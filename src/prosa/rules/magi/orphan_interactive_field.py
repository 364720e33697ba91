"""`orphan-interactive-field`: a label without a type, or a placeholder without an input field (M38, M39, MA15)."""

from __future__ import annotations

from collections.abc import Iterator

from prosa.diagnostics import Problem
from prosa.dialects.magi.model import MagiModel
from prosa.rules.subject import Subject


def check(subject: Subject) -> Iterator[Problem]:
    """At the label or placeholder. Where `auto-run` makes all of them idle, another rule says so."""
    model: MagiModel = subject.model
    for script in model.scripts:
        if script.auto_run:
            continue
        if "interactive-label" in script.fields and "interactive-type" not in script.fields:
            message = "`interactive-label` has no effect without `interactive-type`"
            notes = ("add `interactive-type`: `button` or `inputbox`",)
            yield Problem("orphan-interactive-field", message, script.span("interactive-label"), notes)
        if "interactive-placeholder" in script.fields and script.fields.text("interactive-type") != "inputbox":
            message = "`interactive-placeholder` has no effect without the `interactive-type` `inputbox`"
            yield Problem("orphan-interactive-field", message, script.span("interactive-placeholder"))
