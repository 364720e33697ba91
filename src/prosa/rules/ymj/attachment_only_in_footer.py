"""`attachment-only-in-footer`: an attachment that the header's catalog does not list (Y14)."""

from __future__ import annotations

from collections.abc import Iterator

from prosa.diagnostics import Problem
from prosa.dialects.fields import shown
from prosa.dialects.ymj.model import YmjModel
from prosa.rules.subject import Subject


def check(subject: Subject) -> Iterator[Problem]:
    """At its `uri`."""
    model: YmjModel = subject.model
    for each in model.attachments:
        if each.source == "json" and each.uri is not None:
            message = f"`{shown(each.uri)}` is not among the header's `attachments`"
            yield Problem("attachment-only-in-footer", message, each.span)
