"""Surrogate escapes in quoted strings: which of them have no partner, and what a string is worth without those.

In: source text or decoded text. Out: a place, or a text that is well-formed Unicode. Shared by YAML and JSON.
"""

from __future__ import annotations

import re

from prosa.regex import regex

SURROGATE_ESCAPE = regex(r"\\u[dD][89a-fA-F][0-9a-fA-F]{2}")
_TOKEN = regex(
    r"\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|(\\u[dD][89a-fA-F][0-9a-fA-F]{2})|\\.", re.DOTALL
)
_LONE = regex("[\ud800-\udfff]")


def lone_escape(text: str, start: int, end: int) -> tuple[int, int]:
    """Return where the first ``\\uD8xx`` without a partner stands between two offsets; the whole stretch if nowhere."""
    for match in _TOKEN.finditer(text, start, end):
        if match.group(1):
            return match.span()
    return start, end


def has_surrogate(text: str) -> bool:
    """Return whether a text holds half a surrogate pair, so that it has no UTF-8 form."""
    return not text.isascii() and _LONE.search(text) is not None


def without_surrogates(text: str) -> str:
    """Return the text with every lone surrogate replaced by U+FFFD."""
    return _LONE.sub("\N{REPLACEMENT CHARACTER}", text)


def joined_pairs(text: str) -> str:
    """Return the text with each pair of surrogates joined to the character it stands for."""
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass")
