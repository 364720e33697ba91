"""`unfamiliar-rel-type`: a type of relationship that is not one of the recommended ones (M44, M51, MA7)."""

from __future__ import annotations

from collections.abc import Iterator

from prosa.diagnostics import Applicability, Fix, Problem, Severity
from prosa.diagnostics.nearest import nearest
from prosa.dialects.fields import shown
from prosa.dialects.magi.model import MagiModel
from prosa.dialects.magi.relationships import ALIASES, REL_TYPES
from prosa.rules.subject import Subject
from prosa.source import Edit, Span


def check(subject: Subject) -> Iterator[Problem]:
    """At the type. An alias is information only: the graph knows what it means."""
    model: MagiModel = subject.model
    for each in model.relationships:
        written = each.fields.text("rel-type")
        if written is None or written in REL_TYPES:
            continue
        span = each.fields.span("rel-type") or each.span
        meant = ALIASES.get(written) or nearest(written, REL_TYPES)
        if written in ALIASES:
            message = f"`{written}` is another word for `{meant}`, which the graph uses"
        else:
            message = f"`{shown(written)}` is not one of the recommended types of relationship"
        listed = ", ".join(f"`{name}`" for name in REL_TYPES)
        notes = (f"did you mean `{meant}`?",) if meant and written not in ALIASES else (f"recommended are {listed}",)
        severity = Severity.INFO if written in ALIASES else None
        yield Problem("unfamiliar-rel-type", message, span, notes, fix=_fix(span, meant), severity=severity)


def _fix(span: Span, meant: str | None) -> Fix | None:
    return Fix(f"write `{meant}`", (Edit(span, f'"{meant}"'),), Applicability.UNSAFE) if meant else None
