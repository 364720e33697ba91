"""`summary-too-long`: a summary of more than 120 characters (Y4, Y7)."""

from __future__ import annotations

from collections.abc import Iterator

from prosa.data import Scalar
from prosa.diagnostics import Problem
from prosa.dialects.ymj.model import YmjModel
from prosa.dialects.ymj.sections import MAX_SUMMARY
from prosa.rules.subject import Subject


def check(subject: Subject) -> Iterator[Problem]:
    """At the summary. Code points of the value count, not those of its quotes or its line breaks."""
    model: YmjModel = subject.model
    entry = model.fields.get("doc_summary")
    if entry is None or not isinstance(entry.value, Scalar):
        return
    length = len(entry.value.text.strip())
    if length > MAX_SUMMARY:
        message = f"`doc_summary` has {length} characters; catalogs take {MAX_SUMMARY}"
        yield Problem("summary-too-long", message, entry.value.span, ("say the rest in the body",))
