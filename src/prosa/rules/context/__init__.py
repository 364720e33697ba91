"""Rules of context files: what no host reads, what a host cannot use, and what is no longer true here (X38)."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from prosa.rules.rule import DocumentFacts, RuleSet

if TYPE_CHECKING:
    from prosa.dialects.context.as_dialect import CorpusFacts
    from prosa.dialects.context.model import ContextModel

RULES: RuleSet[ContextModel] = RuleSet(
    __name__, "CX", "context", topics=("values",), corpus_topics=("reach", "imports", "names", "current")
)


def extra_of(facts: DocumentFacts) -> CorpusFacts:
    """Return what a context file has for the rules of its project; a skill has none of it."""
    return cast("CorpusFacts", facts.extra)
