"""`byte-order-mark-in-record`: a record that begins with a byte-order mark (Y1, YA25)."""

from __future__ import annotations

from collections.abc import Iterator

from prosa.diagnostics import Fix, Problem
from prosa.dialects.ymj.format import mark_edits
from prosa.dialects.ymj.model import YmjModel
from prosa.rules.subject import Subject


def check(subject: Subject) -> Iterator[Problem]:
    """At the mark."""
    model: YmjModel = subject.model
    edits = mark_edits(model)
    if edits:
        message = "the record begins with a byte-order mark, which UTF-8 does not need"
        yield Problem("byte-order-mark-in-record", message, edits[0].span, fix=Fix("remove the mark", edits))
