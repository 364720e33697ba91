"""`unknown-spec-version`: `ymj_spec` names a version that does not exist, so the record is read permissively (Y28)."""

from __future__ import annotations

from collections.abc import Iterator

from prosa.diagnostics import Problem
from prosa.dialects.fields import shown
from prosa.dialects.ymj.fields import KNOWN, LATEST, is_known
from prosa.dialects.ymj.model import YmjModel
from prosa.rules.subject import Subject


def check(subject: Subject) -> Iterator[Problem]:
    """At the version."""
    model: YmjModel = subject.model
    entry, text = model.fields.get("ymj_spec"), model.text("ymj_spec")
    if entry is None or text is None or is_known(text):
        return
    message = f"`{shown(text)}` is no known version of YMJ; the record is read permissively as {LATEST}"
    notes = [f"known are {KNOWN[0]} to {LATEST}"]
    if text == model.text("version"):
        notes.append("`version` is the version of this document, `ymj_spec` that of the format it follows")
    yield Problem("unknown-spec-version", message, entry.value.span, tuple(notes))
