"""`routes-beside-page`: both names of one directive (YA19)."""

from __future__ import annotations

from collections.abc import Iterator

from prosa.diagnostics import Problem
from prosa.dialects.ymj.model import YmjModel
from prosa.rules.subject import Subject


def check(subject: Subject) -> Iterator[Problem]:
    """At `routes`."""
    model: YmjModel = subject.model
    entry = model.ops.get("routes")
    if entry is not None and "page" in model.ops:
        message = "`ops.routes` and `ops.page` are two names of one directive; `page` counts"
        yield Problem("routes-beside-page", message, entry.key.span, ("join them under `page`",))
