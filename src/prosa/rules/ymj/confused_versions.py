"""`confused-versions`: the version of the format where that of the document or of the footer belongs (Y23)."""

from __future__ import annotations

from collections.abc import Iterator

from prosa.data import Entry, Scalar
from prosa.diagnostics import Problem
from prosa.dialects.ymj.fields import is_known
from prosa.dialects.ymj.model import YmjModel
from prosa.rules.subject import Subject

_ROLES = {"version": "the document's own version", "schema": "the version of the footer's layout"}


def check(subject: Subject) -> Iterator[Problem]:
    """At a `version` or `schema` that repeats `ymj_spec`."""
    model: YmjModel = subject.model
    spec = model.text("ymj_spec")
    if spec is None or not is_known(spec):
        return
    for name, entry in (("version", model.fields.get("version")), ("schema", model.entries.get("schema"))):
        if _text(entry) == spec and entry is not None:
            message = f"`{name}` repeats `ymj_spec`; it is {_ROLES[name]}"
            yield Problem("confused-versions", message, entry.value.span)


def _text(entry: Entry | None) -> str | None:
    return entry.value.text if entry is not None and isinstance(entry.value, Scalar) else None
