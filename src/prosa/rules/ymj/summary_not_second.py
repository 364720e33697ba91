"""`summary-not-second`: `doc_summary` is not on the second line, where catalogs look for it (Y4, YA5)."""

from __future__ import annotations

from collections.abc import Iterator

from prosa.diagnostics import Fix, Problem
from prosa.dialects.ymj.edits import SUMMARY, raw_second_line, summary_edits
from prosa.dialects.ymj.model import YmjModel
from prosa.rules.subject import Subject


def check(subject: Subject) -> Iterator[Problem]:
    """At the key."""
    model: YmjModel = subject.model
    entry = model.header.entry("doc_summary") if model.header is not None else None
    if entry is None or subject.source.slice(raw_second_line(model)).startswith(SUMMARY):
        return
    edits = summary_edits(model) if not model.front.problems else ()
    fix = Fix("move it to the second line", edits) if edits else None
    message = "the second line of a record begins with `doc_summary:`, and this one does not"
    yield Problem("summary-not-second", message, entry.key.span, fix=fix)
