"""Rules of MAGI documents: `MG00` front matter, `MG02` and `MG03` scripts and results, `MG04` relationships."""

from __future__ import annotations

from typing import TYPE_CHECKING

from prosa.rules.rule import RuleSet

if TYPE_CHECKING:
    from prosa.dialects.magi.model import MagiModel

RULES: RuleSet[MagiModel] = RuleSet(
    __name__,
    "MG",
    "magi",
    topics=("front_matter", "expiry", "scripts", "relationships"),
    corpus_topics=("expiry", "doc_ids"),
)
