"""`user-variable`: a bare name that means nothing to Prosa and becomes a variable of the author (PA9)."""

from __future__ import annotations

from collections.abc import Iterator

from prosa.diagnostics import Misspelling, Problem
from prosa.dialects.prapti.fields import is_nowhere, nearest_variable, path_of, refusal, setting_of
from prosa.dialects.prapti.model import ChatModel
from prosa.rules.subject import Subject


def check(subject: Subject) -> Iterator[Problem]:
    """At the name, unless `var(NAME)` uses it somewhere: then it is meant."""
    used = _used(subject.model)
    for line in subject.model.assignments:
        path = path_of(line.key)
        if not path.startswith("vars.") or setting_of(line.key) or path in used:
            continue
        if refusal(line) or is_nowhere(line.key):
            continue
        near = nearest_variable(path)
        note = f"did you mean `{near}`?" if near else "nothing reads it until `var(NAME)` does"
        text = f"`{line.key}` is a variable of your own"
        meant = Misspelling(line.key.removeprefix("vars."), near) if near else None
        yield Problem("user-variable", text, line.name_span, (note,), misspelling=meant)


def _used(model: ChatModel) -> set[str]:
    return {path_of(line.variable) for line in model.assignments if line.variable is not None}
