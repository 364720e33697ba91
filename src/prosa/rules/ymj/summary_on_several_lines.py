"""`summary-on-several-lines`: a summary that is written, or means, more than one line (Y4, YA5)."""

from __future__ import annotations

from collections.abc import Iterator

from prosa.data import Scalar
from prosa.diagnostics import Fix, Problem
from prosa.dialects.ymj.edits import summary_edits
from prosa.dialects.ymj.model import YmjModel
from prosa.rules.subject import Subject
from prosa.source import Span


def check(subject: Subject) -> Iterator[Problem]:
    """At the value."""
    model: YmjModel = subject.model
    entry = model.fields.get("doc_summary")
    if entry is None or not isinstance(entry.value, Scalar):
        return
    raw = subject.source.slice(Span(entry.key.span.end, entry.value.span.end))
    text = entry.value.text
    if "\n" not in text and not set("\r\n") & set(raw):
        return
    edits = summary_edits(model) if not model.front.problems else ()
    fix = Fix("write it on one line", edits) if edits else None
    message = "`doc_summary` takes more than one line, so the second line alone does not hold it"
    yield Problem("summary-on-several-lines", message, entry.value.span, fix=fix)
