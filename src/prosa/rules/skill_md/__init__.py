"""Rules of Agent Skills."""

from __future__ import annotations

from typing import TYPE_CHECKING

from prosa.rules.rule import RuleSet

if TYPE_CHECKING:
    from prosa.dialects.skill_md.model import SkillModel

RULES: RuleSet[SkillModel] = RuleSet(__name__, "SK", "skill_md", topics=("skill",), corpus_topics=("neighbours",))
