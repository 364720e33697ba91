"""Rules of context files: what no host reads, what a host cannot use, and what is no longer true here (X38)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from prosa.rules.rule import RuleSet

if TYPE_CHECKING:
    from prosa.dialects.context.model import ContextModel

RULES: RuleSet[ContextModel] = RuleSet(
    __name__, "CX", "context", topics=("values",), corpus_topics=("reach", "imports", "names", "current")
)
