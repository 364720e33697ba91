"""The names a template uses against the input schema (X13): shared by `undeclared-name` and `impossible-name`."""

from __future__ import annotations

from collections.abc import Iterator

from prosa.diagnostics import Misspelling, Problem
from prosa.dialects.fields import shown
from prosa.rules.subject import ProgramSubject
from prosa.template import undeclared


def problems(subject: ProgramSubject, rule: str, *, closed: bool) -> Iterator[Problem]:
    """One problem for every use of a name that the schema does not declare, where it is closed or open."""
    model = subject.program.model
    if model.template is None or model.input is None:
        return
    for name in undeclared(model.template, model.input.value):
        if name.closed != closed:
            continue
        note = f"did you mean `{name.suggestion}`?" if name.suggestion else "declare it under `input.properties`"
        fate = " and no input may have it" if closed else ""
        message = f"`{shown(name.name)}` is not declared by the input schema{fate}"
        last = name.name.rpartition(".")[2]
        meant = Misspelling(last, name.suggestion) if name.suggestion else None
        yield Problem(rule, message, name.span.shift(model.body_offset), (note,), misspelling=meant)
