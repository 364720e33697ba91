"""What a skill points at, and what others can call it."""

from __future__ import annotations

from prosa.dialects.skill_md.model import SkillModel
from prosa.document import Def, Ref, link_references


def references(model: SkillModel) -> tuple[Ref, ...]:
    """The files and pages that its links name."""
    return link_references(model.document)


def definitions(model: SkillModel) -> tuple[Def, ...]:
    """The name of the skill, as a title: the file itself is called like that of every other skill."""
    if model.name is None or model.bare:
        return ()
    return (Def("title", model.name, model.span("name")),)
