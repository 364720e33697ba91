"""`diverging-summary`: a summary that shares no words with the body (Y26). Words are compared; no model is asked."""

from __future__ import annotations

from collections.abc import Iterator

from prosa.data import Scalar
from prosa.diagnostics import Problem, Severity
from prosa.dialects.ymj.attachments import text_in
from prosa.dialects.ymj.model import YmjModel
from prosa.dialects.ymj.sections import HANDLER, LEAST_SHARE, share_of_words
from prosa.rules.subject import Subject


def check(subject: Subject) -> Iterator[Problem]:
    """At the summary: a warning where the record asks for it with the handler `validate_summary`, else a hint, and
    only when not a single word is shared."""
    model: YmjModel = subject.model
    entry = model.fields.get("doc_summary")
    if entry is None or not isinstance(entry.value, Scalar):
        return
    share = share_of_words(entry.value.text, model.body_text)
    asked = any(text_in(item, "name") == HANDLER for item in model.ops_items("handlers"))
    if share is None or share >= (LEAST_SHARE if asked else 0.001):
        return
    severity = Severity.WARNING if asked else Severity.HINT
    message = "the summary speaks of something else than the body"
    note = f"the body has {share:.0%} of its words"
    yield Problem("diverging-summary", message, entry.value.span, (note,), severity=severity)
