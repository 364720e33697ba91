"""`stale-result`: a written result whose script or context has changed since it was made (X19)."""

from __future__ import annotations

from collections.abc import Iterator

from prosa.diagnostics import Annotation, Problem
from prosa.dialects.fields import shown
from prosa.dialects.magi.choosing import statuses
from prosa.dialects.magi.model import MagiModel
from prosa.dialects.magi.result_text import owners_of
from prosa.rules.subject import Subject


def check(subject: Subject) -> Iterator[Problem]:
    """At the first marker of the result."""
    model: MagiModel = subject.model
    if not model.regions:
        return
    for script, status in statuses(model, owners_of(model)):
        if not status.stale:
            continue
        force = " --force" if status.edited else ""
        message = f"the result of `{shown(script.address)}` is stale: what it was made from has changed"
        notes = [f"run `prosa run FILE --stale{force}` to make it anew"]
        if status.edited:
            notes.append("it was edited by hand too; `--force` replaces what was written by hand")
        annotation = Annotation(script.opening, "the block that asks for it")
        yield Problem("stale-result", message, status.region.opening, tuple(notes), (annotation,))
