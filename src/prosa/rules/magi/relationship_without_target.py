"""`relationship-without-target`: a relationship that names neither a document nor a URL (M45, MA6)."""

from __future__ import annotations

from collections.abc import Iterator

from prosa.diagnostics import Problem
from prosa.dialects.magi.fields import squashed
from prosa.dialects.magi.model import MagiModel
from prosa.rules.subject import Subject
from prosa.source import Span

_TARGETS = frozenset({"docid", "sourceurl"})


def check(subject: Subject) -> Iterator[Problem]:
    """At the opening brace. A target of the wrong type or form is there and has been reported."""
    model: MagiModel = subject.model
    for each in model.relationships:
        filled = (entry for entry in each.node if squashed(entry.key.text) in _TARGETS)
        if not any(_is_filled(entry.value) for entry in filled):
            span = Span(each.node.span.start, each.node.span.start + 1)
            notes = ("a `doc-id` names a document of the corpus, a `source-url` anything else",)
            message = "a relationship needs a `doc-id` or a `source-url`"
            yield Problem("relationship-without-target", message, span, notes)


def _is_filled(node: object) -> bool:
    return getattr(node, "value", node) not in (None, "")
