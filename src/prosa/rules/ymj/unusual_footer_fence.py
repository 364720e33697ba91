"""`unusual-footer-fence`: a footer whose fence lines are not exactly those of Strict form (Y9, YA10)."""

from __future__ import annotations

from collections.abc import Iterator

from prosa.diagnostics import Fix, Problem
from prosa.dialects.ymj.format import fence_edits
from prosa.dialects.ymj.model import YmjModel
from prosa.rules.subject import Subject


def check(subject: Subject) -> Iterator[Problem]:
    """At the line that opens the footer, or at the one that closes it."""
    model: YmjModel = subject.model
    edits = fence_edits(model)
    if edits:
        message = "the fence lines of the footer are not exactly ```json and ```"
        fix = Fix("write the fence lines of Strict form", edits)
        yield Problem("unusual-footer-fence", message, edits[0].span, fix=fix)
