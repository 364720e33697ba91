"""`long-skill`: instructions of more lines than an agent should read at once."""

from __future__ import annotations

from collections.abc import Iterator

from prosa.diagnostics import Problem
from prosa.dialects.skill_md.model import SkillModel
from prosa.rules.subject import Subject

MAX_LINES = 500
"""The advice of the specification: all of it enters the context of every agent that uses the skill."""


def check(subject: Subject) -> Iterator[Problem]:
    """At the anchor, for it is about the whole."""
    model: SkillModel = subject.model
    end = model.document.body.start + len(model.instructions.rstrip())
    lines = subject.source.position(end).line - subject.source.position(model.document.body.start).line + 1
    if lines > MAX_LINES:
        message = f"the instructions have {lines:,} lines; an agent reads all of them each time"
        note = f"keep the skill below {MAX_LINES} lines and link to files that hold the rest"
        yield Problem("long-skill", message, model.anchor, (note,))
