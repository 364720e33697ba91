"""Rules of MDA documents: `MA00` front matter, `MA01` digests and signatures, `MA02` relationships, `MA03` what a
document depends on, `MA04` compiled outputs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from prosa.rules.rule import RuleSet

if TYPE_CHECKING:
    from prosa.dialects.mda.model import MdaModel

RULES: RuleSet[MdaModel] = RuleSet(
    __name__,
    "MA",
    "mda",
    topics=("front_matter", "security", "relationships"),
    corpus_topics=("dependencies",),
)
