"""`text-beside-relationship`: a footnote that holds a relationship and something else (M43)."""

from __future__ import annotations

from collections.abc import Iterator

from prosa.diagnostics import Problem
from prosa.dialects.magi.model import MagiModel
from prosa.rules.subject import Subject


def check(subject: Subject) -> Iterator[Problem]:
    """At the object."""
    model: MagiModel = subject.model
    for each in model.relationships:
        if each.form == "surrounded":
            message = "a relationship is the only thing in its footnote, and here is more"
            notes = ("move the other text into `rel-desc`, or into a footnote of its own",)
            yield Problem("text-beside-relationship", message, each.span, notes)
