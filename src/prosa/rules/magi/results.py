"""Results that runs have written into a document (X19)."""

from __future__ import annotations

from collections.abc import Iterator

from prosa.diagnostics import Annotation, Applicability, Fix, Severity
from prosa.dialects.fields import shown
from prosa.dialects.magi.choosing import statuses
from prosa.dialects.magi.model import MagiModel
from prosa.dialects.magi.regions import Region
from prosa.dialects.magi.result_text import is_edited, owners_of
from prosa.dialects.magi.results import removal
from prosa.rules.magi import RULES
from prosa.rules.rule import Finding
from prosa.rules.subject import Subject


@RULES.document("MG031", "stray-region-marker", Severity.WARNING)
def stray_region_marker(subject: Subject[MagiModel]) -> Iterator[Finding]:
    """Find a comment that starts or ends a written result, without its partner (X19). The finding points at the
    comment: the text around it is read as the author's own."""
    model = subject.model
    for span in model.stray_markers:
        message = "this marker of a written result belongs to no result"
        notes = ("a result stands between `<!-- ai-result {…} -->` and `<!-- /ai-result -->`",)
        yield Finding(message, span, notes)


@RULES.document("MG032", "stale-result", Severity.WARNING)
def stale_result(subject: Subject[MagiModel]) -> Iterator[Finding]:
    """Find a written result whose script or context has changed since it was made (X19). The finding points at the
    first marker of the result."""
    model = subject.model
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
        yield Finding(message, status.region.opening, tuple(notes), (annotation,))


@RULES.document("MG033", "edited-result", Severity.INFO)
def edited_result(subject: Subject[MagiModel]) -> Iterator[Finding]:
    """Find a written result that was changed by hand, so that no run replaces it (X19). The finding points at the first
    marker of the result."""
    model = subject.model
    for script, region in owners_of(model).pairs:
        if not is_edited(model, region):
            continue
        said = region.about.written is not None
        why = "was edited by hand" if said else "may have been edited by hand: its marker does not say what was written"
        notes = ("no run replaces it but one with `--force`",)
        yield Finding(f"the result of `{shown(script.address)}` {why}", region.opening, notes)


@RULES.document("MG034", "orphan-result", Severity.WARNING)
def orphan_result(subject: Subject[MagiModel]) -> Iterator[Finding]:
    """Find a written result without its script, or below another result of the script (X19). The finding points at the
    first marker of the result."""
    model = subject.model
    owners = owners_of(model)
    for region in owners.orphans:
        message = f"no ai-script block has the id `{shown(region.script_id)}` of this result"
        yield _orphan(model, region, message, "give it the id of its block, or remove it")
    for region in owners.spare:
        message = f"`{shown(region.script_id)}` has another result above this one"
        yield _orphan(model, region, message, "a run refreshes the first one only: remove one of them")


def _orphan(model: MagiModel, region: Region, message: str, note: str) -> Finding:
    fix = Fix("remove the result", (removal(model, region),), Applicability.UNSAFE)
    return Finding(message, region.opening, (note,), fix=fix)
