"""`validate_summary` (Y26): does the summary speak of what the body speaks of? Words are compared, no model is asked.

In: two texts. Out: the share of the summary's words that the body has. The body is everything a person reads in it, so
a summary is only found to diverge when it speaks of something else altogether.
"""

from __future__ import annotations

from prosa.dialects.words import words

HANDLER = "validate_summary"
"""The name in `ops.handlers` that asks for the comparison."""

LEAST_SHARE = 0.25
"""Below this a summary that its record wants compared is reported."""

MIN_WORDS = 2
"""A summary of fewer words says too little to compare."""

MIN_BODY_WORDS = 12
"""A shorter body may leave its subject to the header."""

MAX_BODY = 200_000
"""Characters of the body that are compared; its subject shows long before."""


def share_of_words(summary: str, body: str) -> float | None:
    """How many of the summary's words are in the body, 0 to 1; None when either says too little to compare."""
    wanted = frozenset(words(summary))
    if len(wanted) < MIN_WORDS:
        return None
    there = list(words(body[:MAX_BODY]))
    if len(there) < MIN_BODY_WORDS:
        return None
    return len(wanted & frozenset(there)) / len(wanted)
