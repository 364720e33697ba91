"""`doc-id-not-uuid`: a document id that may not be unique in the world (M5, MA5)."""

from __future__ import annotations

import re
from collections.abc import Iterator

from prosa.diagnostics import Problem
from prosa.dialects.magi.model import MagiModel
from prosa.rules.subject import Subject

_UUID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.IGNORECASE)


def check(subject: Subject) -> Iterator[Problem]:
    """At the id."""
    model: MagiModel = subject.model
    span = model.fields.span("doc-id")
    if model.doc_id is not None and span is not None and not _UUID.fullmatch(model.doc_id):
        note = "other documents point at it by this id, so it should be unique: a UUID is recommended"
        yield Problem("doc-id-not-uuid", "`doc-id` is not a UUID", span, (note,))
