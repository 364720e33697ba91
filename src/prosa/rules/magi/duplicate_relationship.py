"""`duplicate-relationship`: two relationships under one footnote label (M43)."""

from __future__ import annotations

from collections.abc import Iterator

from prosa.diagnostics import Annotation, Problem
from prosa.dialects.fields import shown
from prosa.dialects.magi.model import MagiModel
from prosa.dialects.magi.relationships import label_key
from prosa.document import FootnoteDefinition
from prosa.rules.subject import Subject
from prosa.source import Span


def check(subject: Subject) -> Iterator[Problem]:
    """At the label of every one but the first definition of it."""
    model: MagiModel = subject.model
    first: dict[str, FootnoteDefinition] = {}
    for definition in model.document.footnote_definitions:
        first.setdefault(label_key(definition.label), definition)
    for each in model.relationships:
        earlier = first[label_key(each.label)]
        if earlier is not each.definition:
            message = f"the footnote `{shown(each.label)}` is defined before; no reader of the text comes to this one"
            annotation = Annotation(_label(earlier), "the first one")
            notes = ("give one of them another label",)
            yield Problem("duplicate-relationship", message, _label(each.definition), notes, (annotation,))


def _label(definition: FootnoteDefinition) -> Span:
    start = definition.span.start
    return Span(start, min(start + len(definition.label) + 3, definition.span.end))
