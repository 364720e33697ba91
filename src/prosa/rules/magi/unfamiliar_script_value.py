"""`unfamiliar-script-value`: a priority, format or interactive type that nobody knows (M26, M34, M37, MA13)."""

from __future__ import annotations

from collections.abc import Iterator

from prosa.diagnostics import Misspelling, Problem, Severity
from prosa.diagnostics.nearest import nearest
from prosa.dialects.fields import shown
from prosa.dialects.magi.fields import INTERACTIVE_TYPES, OUTPUT_FORMATS, PRIORITIES
from prosa.dialects.magi.model import MagiModel
from prosa.rules.subject import Subject

_KNOWN: tuple[tuple[str, tuple[str, ...], str, Severity | None], ...] = (
    ("priority", PRIORITIES, "the block comes after all others", None),
    ("output-format", OUTPUT_FORMATS, "the answer is taken as text", Severity.INFO),
    ("interactive-type", INTERACTIVE_TYPES, "nothing is drawn for it", Severity.INFO),
)


def check(subject: Subject) -> Iterator[Problem]:
    """At the value. Formats and types are open sets, so an unknown one is information only."""
    model: MagiModel = subject.model
    for script in model.scripts:
        for name, known, effect, severity in _KNOWN:
            value = script.fields.text(name)
            if value is None or value in known:
                continue
            guess = nearest(value, known)
            choices = ", ".join(f"`{choice}`" for choice in known)
            notes = (f"did you mean `{guess}`?" if guess else f"known are {choices}",)
            message = f"`{shown(value)}` is not a known `{name}`: {effect}"
            span, meant = script.span(name), Misspelling(value, guess) if guess else None
            yield Problem("unfamiliar-script-value", message, span, notes, severity=severity, misspelling=meant)
