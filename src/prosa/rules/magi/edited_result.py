"""`edited-result`: a written result that was changed by hand, so that no run replaces it (X19)."""

from __future__ import annotations

from collections.abc import Iterator

from prosa.diagnostics import Problem
from prosa.dialects.fields import shown
from prosa.dialects.magi.model import MagiModel
from prosa.dialects.magi.result_text import is_edited, owners_of
from prosa.rules.subject import Subject


def check(subject: Subject) -> Iterator[Problem]:
    """At the first marker of the result."""
    model: MagiModel = subject.model
    for script, region in owners_of(model).pairs:
        if not is_edited(model, region):
            continue
        said = region.about.written is not None
        why = "was edited by hand" if said else "may have been edited by hand: its marker does not say what was written"
        notes = ("no run replaces it but one with `--force`",)
        yield Problem("edited-result", f"the result of `{shown(script.address)}` {why}", region.opening, notes)
