"""`missing-doc-id`: a document with relationships that nothing can point back at (M5, MA5)."""

from __future__ import annotations

from collections.abc import Iterator

from prosa.diagnostics import Annotation, Problem
from prosa.dialects.magi.model import MagiModel
from prosa.rules.magi.fields_below_front_matter import has_fields_below
from prosa.rules.subject import Subject


def check(subject: Subject) -> Iterator[Problem]:
    """At the front matter, with the first relationship beside it. Fields in a second block are told of as such."""
    model: MagiModel = subject.model
    if not model.relationships or model.doc_id is not None or not model.front.complete:
        return
    if has_fields_below(model):
        return
    message = "a document with relationships needs a `doc-id`: without it the connections have only one end"
    annotation = Annotation(model.relationships[0].span, "the first relationship")
    yield Problem("missing-doc-id", message, model.front.anchor, ("a UUID is recommended",), (annotation,))
