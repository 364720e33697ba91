"""Rules of the files that say how a skill is tried: `SE00` the file itself, `SE01` the skill beside it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from prosa.rules.rule import RuleSet

if TYPE_CHECKING:
    from prosa.dialects.evals.suite.model import EvalsModel

RULES: RuleSet[EvalsModel] = RuleSet(__name__, "SE", "evals", topics=("cases",))
