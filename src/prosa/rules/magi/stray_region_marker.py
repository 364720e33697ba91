"""`stray-region-marker`: a comment that begins or ends a written result, without its partner (X19)."""

from __future__ import annotations

from collections.abc import Iterator

from prosa.diagnostics import Problem
from prosa.dialects.magi.model import MagiModel
from prosa.rules.subject import Subject


def check(subject: Subject) -> Iterator[Problem]:
    """At the comment: the text around it is read as the author's own."""
    model: MagiModel = subject.model
    for span in model.stray_markers:
        message = "this marker of a written result belongs to no result"
        notes = ("a result stands between `<!-- ai-result {…} -->` and `<!-- /ai-result -->`",)
        yield Problem("stray-region-marker", message, span, notes)
