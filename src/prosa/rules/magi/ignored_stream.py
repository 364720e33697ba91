"""`ignored-stream`: an answer that a schema describes is checked as a whole and never streamed (M36, MA14)."""

from __future__ import annotations

from collections.abc import Iterator

from prosa.diagnostics import Problem
from prosa.dialects.magi.model import MagiModel
from prosa.rules.subject import Subject


def check(subject: Subject) -> Iterator[Problem]:
    """At `stream`."""
    model: MagiModel = subject.model
    for script in model.scripts:
        if script.fields.flag("stream") and "output-schema" in script.fields:
            message = "`stream` has no effect beside an `output-schema`: the answer is checked before it is shown"
            yield Problem("ignored-stream", message, script.span("stream"))
