"""`skill-without-instructions`: front matter and nothing behind it."""

from __future__ import annotations

from collections.abc import Iterator

from prosa.diagnostics import Problem
from prosa.dialects.skill_md.model import SkillModel
from prosa.rules.subject import Subject


def check(subject: Subject) -> Iterator[Problem]:
    """At the opening fence of the front matter."""
    model: SkillModel = subject.model
    if subject.front.present and not model.instructions.strip():
        message = "the skill has no instructions: an agent that chooses it learns nothing more"
        yield Problem("skill-without-instructions", message, model.anchor, ("write below the front matter what to do",))
