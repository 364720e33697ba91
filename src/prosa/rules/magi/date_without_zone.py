"""`date-without-zone`: a time of day without its time zone, or a creation date without a time (M12–M15)."""

from __future__ import annotations

from collections.abc import Iterator

from prosa.diagnostics import Problem
from prosa.dialects.magi.dates import normal_form, read_date
from prosa.dialects.magi.fields import DATE_FIELDS
from prosa.dialects.magi.model import MagiModel
from prosa.rules.subject import Subject


def check(subject: Subject) -> Iterator[Problem]:
    """At the date. A date alone is enough everywhere but in `created-date`."""
    model: MagiModel = subject.model
    for name in DATE_FIELDS:
        text, span = model.fields.text(name), model.fields.span(name)
        moment = read_date(normal_form(text) or "") if text else None
        if moment is None or span is None or moment.zoned or not (moment.timed or name == "created-date"):
            continue
        missing = "time zone" if moment.timed else "time and no time zone"
        yield Problem("date-without-zone", f"`{name}` has no {missing}", span, ("for example `2024-01-15T09:00:00Z`",))
