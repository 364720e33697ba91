"""`attachment-without-uri`: handling for an attachment that is not named (YA18)."""

from __future__ import annotations

from collections.abc import Iterator

from prosa.diagnostics import Problem
from prosa.dialects.ymj.model import YmjModel
from prosa.rules.subject import Subject


def check(subject: Subject) -> Iterator[Problem]:
    """At the item."""
    model: YmjModel = subject.model
    for each in model.attachments:
        if each.uri is None:
            message = "an item of `ops.attachments` has no `uri`, so it applies to nothing"
            yield Problem("attachment-without-uri", message, each.span)
