"""Quantities as people write them: `30s`, `2m`, `128MB`, `20`. Text in, seconds, bytes or a count out.

A plain number means seconds for a time and megabytes for a size. Units of size are powers of 1024, with or without the
`i`: every runtime means this by 128 MB.
"""

from __future__ import annotations

import re

from prosa.regex import regex

_NUMBER = regex(r"([0-9]{1,12}(?:\.[0-9]{1,6})?)\s*([A-Za-z]*)", re.ASCII)
_TIMES = {"ms": 0.001, "": 1.0, "s": 1.0, "sec": 1.0, "m": 60.0, "min": 60.0, "h": 3600.0}
_KIB, _MIB, _GIB = 1024, 1024**2, 1024**3
_SIZES = {
    "b": 1,
    "": _MIB,
    "k": _KIB,
    "kb": _KIB,
    "kib": _KIB,
    "m": _MIB,
    "mb": _MIB,
    "mib": _MIB,
    "g": _GIB,
    "gb": _GIB,
    "gib": _GIB,
}


def seconds(text: str) -> float | None:
    """Return a time above zero in seconds, or None when the text is none."""
    number = _parse(text, _TIMES)
    return number if number else None


def age(text: str) -> float | None:
    """Return a time above zero in seconds, which may be many days as well, or None when the text is none."""
    return _parse(text, _TIMES | {"d": 86_400.0}) or None


def size(text: str) -> int | None:
    """Return a size of at least a byte, or None when the text is none."""
    number = _parse(text, {unit: float(factor) for unit, factor in _SIZES.items()})
    return int(number) if number and number >= 1 else None


def count(text: str) -> int | None:
    """Return a whole number of at least one, or None."""
    stripped = text.strip()
    return int(stripped) if re.fullmatch(r"0{0,3}[1-9][0-9]{0,8}", stripped, re.ASCII) else None


def count_or_none(text: str) -> int | None:
    """Return a whole number of at least zero, or None."""
    return 0 if re.fullmatch(r"0{1,9}", text.strip(), re.ASCII) else count(text)


def time_form(text: str) -> str | None:
    """Return the complaint about a text that is no time."""
    return None if seconds(text) is not None else "must be a time above zero: a number of seconds, `30s`, `2m`"


def age_form(text: str) -> str | None:
    """Return the complaint about a text that is no time of days either."""
    return None if age(text) is not None else "must be a time above zero: `30d`, `12h`, `30m`"


def size_form(text: str) -> str | None:
    """Return the complaint about a text that is no size."""
    return None if size(text) is not None else "must be a size above zero: a number of megabytes, `128MB`, `256KB`"


def count_form(text: str) -> str | None:
    """Return the complaint about a text that is no count."""
    return None if count(text) is not None else "must be a whole number of at least 1"


def count_or_none_form(text: str) -> str | None:
    """Return the complaint about a text that is no count and not zero."""
    return None if count_or_none(text) is not None else "must be a whole number"


def _parse(text: str, units: dict[str, float]) -> float | None:
    match = _NUMBER.fullmatch(text.strip())
    if match is None or match[2].lower() not in units:
        return None
    return float(match[1]) * units[match[2].lower()]
