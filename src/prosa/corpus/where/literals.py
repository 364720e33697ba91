"""What a value in a condition is: a number, a date, a version, a boolean, null, or text.

A value between quotes is always text. Dates are ISO 8601 of any precision (`2026`, `2026-03`, `2026-03-01`,
`2026-03-01T12:00Z`); a year alone is a number that also compares with dates.
"""

from __future__ import annotations

from functools import lru_cache

from prosa.corpus.where.tree import Constant
from prosa.regex import regex

_NUMBER = regex(r"[-+]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][-+]?[0-9]{1,4})?")
_DATE = regex(r"[0-9]{4}-[0-9]{2}(?:-[0-9]{2}(?:[Tt ][0-9:.]{2,15}(?:[Zz]|[-+][0-9:]{2,5})?)?)?")
_YEAR = regex(r"[0-9]{4}")
_VERSION = regex(r"[vV]?([0-9]{1,9}(?:\.[0-9]{1,9}){0,7})([-+][0-9A-Za-z.+-]{1,40})?")

MAX_DIGITS = 300
"""Characters of a number; a longer one is text."""


def constant(text: str) -> Constant:
    """Return a bare value."""
    lowered = text.lower()
    if lowered in ("true", "false"):
        return Constant(text, "boolean", float(lowered == "true"))
    if lowered == "null":
        return Constant(text, "null")
    if len(text) <= MAX_DIGITS and _NUMBER.fullmatch(text):
        return Constant(text, "number", float(text))
    if _DATE.fullmatch(text):
        return Constant(text, "date")
    if text.count(".") >= 2 and version_key(text) is not None:
        return Constant(text, "version")
    return Constant(text)


def is_year(value: Constant) -> bool:
    """Return whether a number may be meant as a year."""
    return value.kind == "number" and _YEAR.fullmatch(value.text) is not None


@lru_cache(maxsize=4096)
def version_key(text: str | None) -> str | None:
    """Return a text that sorts as the version does: `1.10` after `1.9`, `2.0.0-rc1` before `2.0.0`. None for no
    version."""
    match = _VERSION.fullmatch(text) if text is not None and len(text) <= MAX_DIGITS else None
    if match is None:
        return None
    parts = [int(part) for part in match[1].split(".")]
    while len(parts) > 1 and parts[-1] == 0:
        parts.pop()
    suffix = match[2] or ""
    # `-` marks a pre-release; both `!` and `~` stand outside what a part can hold, one before and one after it.
    release = f"!{suffix}" if suffix.startswith("-") else "~"
    return ".".join(f"{part:010d}" for part in parts) + "!" + release
