"""`relationship-with-two-targets`: a relationship that names both a document and a URL (M45, MA6)."""

from __future__ import annotations

from collections.abc import Iterator

from prosa.diagnostics import Annotation, Problem
from prosa.dialects.magi.model import MagiModel
from prosa.rules.subject import Subject


def check(subject: Subject) -> Iterator[Problem]:
    """At the URL, which then only says where the document is found."""
    model: MagiModel = subject.model
    for each in model.relationships:
        doc_id, url = each.fields.span("doc-id"), each.fields.span("source-url")
        if doc_id is not None and url is not None and each.fields.text("doc-id"):
            message = "a relationship has one target: the `doc-id` counts, the `source-url` only says where it is found"
            yield Problem(
                "relationship-with-two-targets", message, url, annotations=(Annotation(doc_id, "the target"),)
            )
