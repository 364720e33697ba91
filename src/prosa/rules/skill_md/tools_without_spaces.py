"""`tools-without-spaces`: `allowed-tools` as a list, where the specification has one text.

Commas between the tools are the usual form of skills in the wild, and clients read them: nothing is said about them.
"""

from __future__ import annotations

from collections.abc import Iterator

from prosa.data import Scalar
from prosa.diagnostics import Problem
from prosa.dialects.skill_md.model import SkillModel
from prosa.rules.subject import Subject


def check(subject: Subject) -> Iterator[Problem]:
    """At the value. Some clients take a list, and some refuse it."""
    model: SkillModel = subject.model
    entry = model.entries.get("allowed-tools")
    if entry is None or not model.allowed_tools or isinstance(entry.value, Scalar):
        return
    message = "the tools are a list; the specification has one text with spaces between them"
    notes = (f"write `{' '.join(model.allowed_tools)}`",)
    yield Problem("tools-without-spaces", message, entry.value.span, notes)
