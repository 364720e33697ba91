"""`crlf-in-record`: line ends other than LF (Y1, YA25). They do not count for the hash."""

from __future__ import annotations

from collections.abc import Iterator

from prosa.diagnostics import Fix, Problem
from prosa.dialects.ymj.format import line_end_edits
from prosa.dialects.ymj.model import YmjModel
from prosa.rules.subject import Subject


def check(subject: Subject) -> Iterator[Problem]:
    """At the first of them."""
    model: YmjModel = subject.model
    if "\r" not in subject.source.text:
        return
    edits = line_end_edits(model)
    count = f"{len(edits):,} line ends are" if len(edits) > 1 else "a line end is"
    message = f"{count} not LF; records prefer LF"
    yield Problem("crlf-in-record", message, edits[0].span, fix=Fix("write LF everywhere", edits))
