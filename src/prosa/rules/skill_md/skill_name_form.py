"""`skill-name-form`: a name with characters, or a length, that the specification of skills does not allow."""

from __future__ import annotations

from collections.abc import Iterator

from prosa.diagnostics import Applicability, Fix, Problem
from prosa.dialects.fields import shown
from prosa.dialects.skill_md.fields import MAX_NAME, as_name, is_name
from prosa.dialects.skill_md.model import SkillModel
from prosa.rules.subject import Subject
from prosa.source import Edit


def check(subject: Subject) -> Iterator[Problem]:
    """At the name. Clients that follow the specification refuse the skill; others load it."""
    model: SkillModel = subject.model
    if model.bare or model.name is None or is_name(model.name):
        return
    rule = f"a name is at most {MAX_NAME} lower-case letters, digits and single hyphens, with no hyphen at either end"
    message = f"`{shown(model.name)}` is no name of a skill"
    span, better = model.span("name"), as_name(model.name)
    fix = Fix(f"call it `{better}`", (Edit(span, better),), Applicability.UNSAFE) if better else None
    yield Problem("skill-name-form", message, span, (rule,), fix=fix)
