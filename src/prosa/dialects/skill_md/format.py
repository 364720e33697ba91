"""The normal form of a skill: whatever its author wrote. The specification leaves no choice that a formatter could
make without changing what a client sees."""

from __future__ import annotations

from prosa.dialects.dialect import FormatOptions
from prosa.dialects.skill_md.model import SkillModel
from prosa.source import Edit


def format_edits(_model: SkillModel, _options: FormatOptions) -> tuple[Edit, ...]:
    """No edits."""
    return ()
