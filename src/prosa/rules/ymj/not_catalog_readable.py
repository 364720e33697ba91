"""`not-catalog-readable`: a second line that does not give the summary when it is read alone (YA6)."""

from __future__ import annotations

from collections.abc import Iterator

from prosa.diagnostics import Problem
from prosa.dialects.ymj.edits import SUMMARY, raw_second_line
from prosa.dialects.ymj.model import YmjModel
from prosa.dialects.ymj.sections import HEAD_CHARACTERS, summary_of_line
from prosa.rules.subject import Subject


def check(subject: Subject) -> Iterator[Problem]:
    """At the second line. One that can be read, but holds only half of the summary, has a rule of its own."""
    model: YmjModel = subject.model
    if "doc_summary" not in model.fields or model.catalog is not None or not model.front.complete:
        return
    line = raw_second_line(model)
    text = subject.source.slice(line)
    if text.startswith(SUMMARY) and (len(text) >= HEAD_CHARACTERS or summary_of_line(text) is None):
        message = "the second line cannot be read alone, so a catalog does not get the summary"
        yield Problem("not-catalog-readable", message, line, ("write the text itself, in quotes where it needs them",))
