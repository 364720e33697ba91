"""`bare-relationship`: a relationship without backticks around its JSON (M43, MA8)."""

from __future__ import annotations

from collections.abc import Iterator

from prosa.diagnostics import Fix, Problem
from prosa.dialects.magi.format import backtick_edits
from prosa.dialects.magi.model import MagiModel
from prosa.rules.subject import Subject


def check(subject: Subject) -> Iterator[Problem]:
    """At the object."""
    model: MagiModel = subject.model
    for each in model.relationships:
        if each.form == "bare":
            fix = Fix("put it in backticks", backtick_edits(model.source, each))
            message = "the JSON of a relationship is not in backticks"
            notes = ("without them Markdown may take characters of it for markup",)
            yield Problem("bare-relationship", message, each.span, notes, fix=fix)
