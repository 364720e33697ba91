"""Rules of every document, whatever its dialect: shared syntax, fields, links, suppressions, settings."""

from __future__ import annotations

from prosa.rules.rule import RuleSet

RULES: RuleSet[object] = RuleSet(
    __name__,
    "MD",
    None,
    topics=("syntax", "text", "safety"),
    corpus_topics=("links",),
    errors_stop=True,
)
