"""`orphan-result`: a written result whose script is gone, or that stands below another result of the script (X19)."""

from __future__ import annotations

from collections.abc import Iterator

from prosa.diagnostics import Applicability, Fix, Problem
from prosa.dialects.fields import shown
from prosa.dialects.magi.model import MagiModel
from prosa.dialects.magi.regions import Region
from prosa.dialects.magi.result_text import owners_of
from prosa.dialects.magi.results import removal
from prosa.rules.subject import Subject


def check(subject: Subject) -> Iterator[Problem]:
    """At the first marker of the result."""
    model: MagiModel = subject.model
    owners = owners_of(model)
    for region in owners.orphans:
        message = f"no ai-script block has the id `{shown(region.script_id)}` of this result"
        yield _problem(model, region, message, "give it the id of its block, or remove it")
    for region in owners.spare:
        message = f"`{shown(region.script_id)}` has another result above this one"
        yield _problem(model, region, message, "a run refreshes the first one only: remove one of them")


def _problem(model: MagiModel, region: Region, message: str, note: str) -> Problem:
    fix = Fix("remove the result", (removal(model, region),), Applicability.UNSAFE)
    return Problem("orphan-result", message, region.opening, (note,), fix=fix)
