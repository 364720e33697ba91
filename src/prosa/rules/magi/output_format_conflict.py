"""`output-format-conflict`: a schema describes JSON and the output format says something else (M34, M35, MA14)."""

from __future__ import annotations

from collections.abc import Iterator

from prosa.diagnostics import Annotation, Applicability, Fix, Problem
from prosa.dialects.fields import shown
from prosa.dialects.magi.model import MagiModel
from prosa.rules.subject import Subject
from prosa.source import Edit


def check(subject: Subject) -> Iterator[Problem]:
    """At the output format: the schema wins."""
    model: MagiModel = subject.model
    for script in model.scripts:
        written = script.fields.text("output-format")
        if written is None or written == "json" or "output-schema" not in script.fields:
            continue
        span = script.span("output-format")
        fix = Fix('write `"json"`', (Edit(span, '"json"'),), Applicability.UNSAFE)
        message = f"`output-format` is `{shown(written)}`, but an answer with an `output-schema` is always JSON"
        annotation = Annotation(script.fields.entries["output-schema"].key.span, "the schema, which wins")
        yield Problem("output-format-conflict", message, span, annotations=(annotation,), fix=fix)
