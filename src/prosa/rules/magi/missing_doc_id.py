"""`missing-doc-id`: a document with relationships that nothing can point back at (M5, MA5)."""

from __future__ import annotations

from collections.abc import Iterator

from prosa.diagnostics import Annotation, Problem
from prosa.dialects.magi.model import MagiModel
from prosa.rules.subject import Subject


def check(subject: Subject) -> Iterator[Problem]:
    """At the front matter, with the first relationship beside it."""
    model: MagiModel = subject.model
    if not model.relationships or model.doc_id is not None or not model.front.complete:
        return
    message = "a document with relationships needs a `doc-id`: without it the connections have only one end"
    annotation = Annotation(model.relationships[0].span, "the first relationship")
    yield Problem("missing-doc-id", message, model.front.anchor, ("a UUID is recommended",), (annotation,))
