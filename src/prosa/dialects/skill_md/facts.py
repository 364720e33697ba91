"""What `prosa show` says about a skill: its fields and what was read of them. `interface.md` fixes no keys."""

from __future__ import annotations

from prosa.data import Value
from prosa.dialects.skill_md.model import Parameter, SkillModel


def facts(model: SkillModel) -> dict[str, Value]:
    """The keys of a skill."""
    return {
        "name": model.name,
        "description": model.description,
        "license": model.license,
        "compatibility": model.compatibility,
        "allowed_tools": list(model.allowed_tools),
        "metadata": dict(model.metadata),
        "parameters": [_parameter(model, each) for each in model.parameters],
        "bare": model.bare,
    }


def _parameter(model: SkillModel, each: Parameter) -> dict[str, Value]:
    return {
        "name": each.name,
        "required": each.required,
        "description": each.description,
        "line": model.document.source.position(each.span.start).line,
    }
