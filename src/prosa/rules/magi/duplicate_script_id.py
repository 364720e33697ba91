"""`duplicate-script-id`: two ai-script blocks of one id (M24, MA9)."""

from __future__ import annotations

from collections.abc import Iterator

from prosa.diagnostics import Annotation, Problem
from prosa.dialects.fields import shown
from prosa.dialects.magi.model import MagiModel, Script
from prosa.rules.subject import Subject


def check(subject: Subject) -> Iterator[Problem]:
    """At the id of every block but the first."""
    model: MagiModel = subject.model
    first: dict[str, Script] = {}
    for script in model.scripts:
        name = script.script_id
        if not name or first.setdefault(name, script) is script:
            continue
        message = f"there is another ai-script block `{shown(name)}`"
        notes = (f"this one is addressed as `{shown(script.address)}`; give it an id of its own",)
        annotation = Annotation(first[name].span("script-id"), "the first one")
        yield Problem("duplicate-script-id", message, script.span("script-id"), notes, (annotation,))
