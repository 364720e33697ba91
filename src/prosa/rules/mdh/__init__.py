"""Rules of MDH nodes and of the sites they form: `MH00` forms, `MH01`–`MH04` actions, `MH05`–`MH06` the site."""

from __future__ import annotations

from typing import TYPE_CHECKING

from prosa.rules.rule import RuleSet

if TYPE_CHECKING:
    from prosa.dialects.mdh.model import NodeModel

RULES: RuleSet[NodeModel] = RuleSet(__name__, "MH", "mdh", topics=("actions",), corpus_topics=("nodes",))
