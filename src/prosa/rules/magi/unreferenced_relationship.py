"""`unreferenced-relationship`: a relationship that no place in the text refers to (M43, MA22)."""

from __future__ import annotations

from collections.abc import Iterator

from prosa.diagnostics import Problem
from prosa.dialects.fields import shown
from prosa.dialects.magi.model import MagiModel
from prosa.rules.subject import Subject
from prosa.source import Span


def check(subject: Subject) -> Iterator[Problem]:
    """At the label. It still connects the two documents as a whole."""
    model: MagiModel = subject.model
    for each in model.relationships:
        if not each.referenced_at:
            start = each.definition.span.start
            span = Span(start, min(start + len(each.label) + 3, each.definition.span.end))
            label = shown(each.label)
            message = f"nothing refers to `[^{label}]`: the relationship holds for the document as a whole"
            yield Problem("unreferenced-relationship", message, span, (f"write `[^{label}]` where it belongs",))
