"""`unclosed-script`: an ai-script block whose fence is never closed, so that it takes everything after it (M23)."""

from __future__ import annotations

import re
from collections.abc import Iterator

from prosa.diagnostics import Fix, Problem
from prosa.dialects.magi.model import MagiModel, Script
from prosa.rules.subject import Subject
from prosa.source import Edit, SourceText, Span


def check(subject: Subject) -> Iterator[Problem]:
    """At the opening fence."""
    model: MagiModel = subject.model
    for script in model.scripts:
        if not script.fence.closed:
            message = "this ai-script block is never closed: everything after it counts as part of it"
            notes = (f"close it with a line `{script.fence.open_fence[:20]}`",)
            yield Problem("unclosed-script", message, script.opening, notes, fix=_fix(model.source, script))


def _fix(source: SourceText, script: Script) -> Fix | None:
    """Close it behind the object, where that is all it took."""
    if script.node is None:
        return None
    span = script.fence.span
    end = span.start + len(source.slice(span).rstrip())
    line_start = source.lines.starts[source.position(span.start).line - 1]
    marks = re.sub(r"[^>\s]", " ", source.text[line_start : span.start])
    line_end = "\r\n" if "\r\n" in source.text[line_start:end] else "\n"
    return Fix("close the fence", (Edit(Span(end, end), f"{line_end}{marks}{script.fence.open_fence}"),))
