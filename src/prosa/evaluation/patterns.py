"""Patterns of RE2 in expectations and queries. In: a pattern and a text. Out: whether it matches, in linear time."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

MAX_PATTERN = 1_000
"""Characters of a pattern."""


class BadPattern(ValueError):
    """A text that RE2 does not take as a pattern."""


def matches(pattern: str, text: str) -> bool:
    """Return whether a pattern of RE2 is found in a text, in time linear in it. Raises `BadPattern`."""
    try:
        return compile_pattern(pattern).search(text) is not None
    except UnicodeEncodeError:  # half a surrogate pair is no text to RE2
        return False


@lru_cache(maxsize=256)
def compile_pattern(pattern: str) -> Any:  # noqa: ANN401
    """Return the pattern compiled by RE2, which has no types. Raises `BadPattern`."""
    import re2

    if len(pattern) > MAX_PATTERN:
        raise BadPattern(f"is longer than {MAX_PATTERN:,} characters")
    options = re2.Options()
    options.log_errors = False
    options.max_mem = 8 << 20
    try:
        return re2.compile(pattern, options)
    except (re2.error, UnicodeEncodeError) as error:
        reason = error.args[0] if error.args else ""
        words = reason.decode("utf-8", "replace") if isinstance(reason, bytes) else str(reason)
        raise BadPattern(f"is not a pattern of RE2: {words}") from None
