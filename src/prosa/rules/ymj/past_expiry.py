"""`past-expiry`: a record that its retention says is over (Y12)."""

from __future__ import annotations

from collections.abc import Iterator

from prosa.data import Scalar
from prosa.diagnostics import Problem
from prosa.dialects.ymj.fields import end_of
from prosa.dialects.ymj.model import YmjModel
from prosa.rules.subject import Subject


def check(subject: Subject) -> Iterator[Problem]:
    """At `expiry`, once the day, month or moment that it names is over."""
    model: YmjModel = subject.model
    retention = model.ops_map("retention")
    expiry = retention.get("expiry") if retention is not None else None
    if not isinstance(expiry, Scalar) or not isinstance(expiry.value, str):
        return
    end = end_of(expiry.value)
    if end is not None and subject.now is not None and end <= subject.now:
        message = f"the record was to be kept until {expiry.value.strip()}, and that is over"
        yield Problem("past-expiry", message, expiry.span, ("remove the record, or give it a later `expiry`",))
