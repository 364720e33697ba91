"""`second-header`: YAML fields at the beginning of the body, where a second header or a stray fence put them (Y2)."""

from __future__ import annotations

import re
from collections.abc import Iterator

from prosa.diagnostics import Problem
from prosa.dialects.ymj.model import YmjModel
from prosa.rules.subject import Subject
from prosa.source import Span

_KEYS = r"(?:doc_summary|kind|version|subject|maintained_by)[ \t]*:"
_FENCED = re.compile(rf"[ \t\r\n]*(---)[ \t]*(?:\r\n|\n|\r){_KEYS}")
_BARE = re.compile(rf"[ \t\r\n]*({_KEYS})")


def check(subject: Subject) -> Iterator[Problem]:
    """At what looks like the second header."""
    model: YmjModel = subject.model
    text, body = subject.source.text, model.body
    fenced = _FENCED.match(text, body.start, body.end)
    if fenced is not None:
        message = "a second header follows the first; a record has exactly one"
        yield Problem("second-header", message, Span(*fenced.span(1)), ("join the two, or remove one",))
        return
    bare = _BARE.match(text, body.start, body.end)
    if bare is not None and model.header is not None and not model.header.entries:
        note = "the file begins with one `---` line too many"
        yield Problem(
            "second-header", "the header is empty and its fields are in the body", Span(*bare.span(1)), (note,)
        )
