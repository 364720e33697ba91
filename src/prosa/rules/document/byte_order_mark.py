"""`byte-order-mark`: a mark in front of the text that UTF-8 does not need (X1 reads past it)."""

from __future__ import annotations

from collections.abc import Iterator

from prosa.diagnostics import Applicability, Fix, Problem
from prosa.rules.subject import Subject
from prosa.source import Edit, Span


def check(subject: Subject) -> Iterator[Problem]:
    """At the mark. A YMJ record has a rule of its own (YA25)."""
    if subject.dialect == "ymj" or not subject.source.text.startswith("\ufeff"):
        return
    mark = Span(0, 1)
    message = "the text begins with a byte-order mark, which UTF-8 does not need"
    note = "other tools may take it for text and miss the front matter"
    fix = Fix("remove the mark", (Edit(mark, ""),), Applicability.UNSAFE)
    yield Problem("byte-order-mark", message, mark, (note,), fix=fix)
