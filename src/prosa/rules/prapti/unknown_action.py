"""`unknown-action`: a command that no loaded plugin offers."""

from __future__ import annotations

from collections.abc import Iterator

from prosa.diagnostics import Misspelling, Problem
from prosa.diagnostics.nearest import nearest
from prosa.dialects.prapti.fields import ACTIONS, BUILT_IN_PLUGINS, loads
from prosa.rules.subject import Subject


def check(subject: Subject) -> Iterator[Problem]:
    """At the name; silent where the chat loads plugins that are not built in, for they may offer it."""
    if any(loads(line) not in (None, *BUILT_IN_PLUGINS) for line in subject.model.actions):
        return
    for line in subject.model.actions:
        if line.name not in ACTIONS:
            near = nearest(line.name, ACTIONS)
            note = f"did you mean `{near}`?" if near else f"there are {', '.join(ACTIONS)}"
            text = f"there is no command `{line.name}`"
            meant = Misspelling(line.name, near) if near else None
            yield Problem("unknown-action", text, line.name_span, (note,), misspelling=meant)
