"""`expired-document`: the day after which the content counts as outdated has passed (M15, MA20)."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC

from prosa.diagnostics import Problem
from prosa.dialects.magi.dates import normal_form, read_date
from prosa.dialects.magi.model import MagiModel
from prosa.rules.subject import Subject


def check(subject: Subject) -> Iterator[Problem]:
    """At `expired-date`. Silent where nobody knows the time; nothing is ever deleted."""
    model: MagiModel = subject.model
    text, span = model.fields.text("expired-date"), model.fields.span("expired-date")
    moment = read_date(normal_form(text) or "") if text else None
    if moment is None or span is None or (now := subject.now) is None:
        return
    known = now if now.tzinfo is not None else now.replace(tzinfo=UTC)
    if moment.end <= known:
        note = "bring it up to date and move the date, or take the document out of use"
        yield Problem("expired-document", f"this document expired on {text}", span, (note,))
