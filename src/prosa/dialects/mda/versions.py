"""Versions and ranges of SemVer 2.0.0, as far as MDA has them (§03-3.2): one version, or a caret range."""

from __future__ import annotations

from typing import TypeAlias

from prosa.dialects.mda.fields import VERSION

Order: TypeAlias = tuple[tuple[int, int, int], bool, tuple[tuple[bool, int, str], ...]]
"""What versions are compared by."""

NONE: Order = ((-1, -1, -1), False, ())


def newest(text: str) -> Order:
    """Return what a version is compared by: the newer one is the greater. What is no version is the oldest."""
    match = VERSION.fullmatch(text)
    if match is None:
        return NONE
    numbers = (int(match[1]), int(match[2]), int(match[3]))
    parts = tuple(_part(part) for part in match[4].split(".")) if match[4] else ()
    return numbers, not parts, parts


def _part(text: str) -> tuple[bool, int, str]:
    """Return a part of a pre-release: numbers are before words."""
    return (False, int(text), "") if text.isdigit() else (True, 0, text)


def satisfies(version: str, range: str) -> bool:  # noqa: A002 - its name in the specification
    """Return whether a version is in a range. A pre-release is in a range of the same numbers that names one; below 1.0
    a caret range ends at the next minor version."""
    wanted, actual = newest(range.removeprefix("^")), newest(version)
    if NONE in (wanted, actual):
        return False
    if not range.startswith("^"):
        return actual == wanted
    if actual < wanted or (not actual[1] and (actual[0] != wanted[0] or wanted[1])):
        return False
    fixed = 1 if wanted[0][0] else 2
    return actual[0][:fixed] == wanted[0][:fixed]
