"""`pattern-selector`: a selector with a regular expression, where a structured one would last longer (Y27)."""

from __future__ import annotations

from collections.abc import Iterator

from prosa.diagnostics import Problem
from prosa.dialects.ymj.model import YmjModel
from prosa.dialects.ymj.selectors import selector_type
from prosa.rules.subject import Subject


def check(subject: Subject) -> Iterator[Problem]:
    """At the selector."""
    model: YmjModel = subject.model
    entry, text = model.ops.get("body_selector"), model.option("body_selector")
    row = selector_type(text) if text else None
    if entry is not None and row is not None and row.pattern:
        message = f"`{row.name}:` depends on the wording of the body and breaks when it is edited"
        note = "prefer `first_fenced:`, `nth_fenced:` or `block_id:`"
        yield Problem("pattern-selector", message, entry.value.span, (note,))
