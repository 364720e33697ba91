"""Whether a value is plain JSON data at all. In: anything. Out: the first place where it is not; no recursion.

The validator would crash, raise or look away at these values, so they never reach it.
"""

from __future__ import annotations

import math
from typing import Any

from prosa.data.limits import MAX_INTEGER_DIGITS
from prosa.data.surrogates import has_surrogate

_TOO_MANY_BITS = MAX_INTEGER_DIGITS * 3322 // 1000


def not_plain(value: Any, max_depth: int) -> tuple[tuple[str | int, ...], str] | None:
    """Where and why a value is not JSON, or is nested deeper than ``max_depth`` levels; None when all is well."""
    waiting: list[tuple[tuple[str | int, ...], Any]] = [((), value)]
    while waiting:
        parts, current = waiting.pop()
        if isinstance(current, dict | list):
            if len(parts) >= max_depth:
                return parts, f"expected at most {max_depth} levels of nesting, found more"
            if isinstance(current, dict):
                for key in current:
                    if not isinstance(key, str) or has_surrogate(key):
                        return parts, f"expected keys that are text, found {str(key)[:40]!r} ({type(key).__name__})"
                waiting += [((*parts, key), item) for key, item in current.items()]
            else:
                waiting += [((*parts, index), item) for index, item in enumerate(current)]
        elif (reason := _wrong_scalar(current)) is not None:
            return parts, reason
    return None


def _wrong_scalar(value: Any) -> str | None:
    if value is None or isinstance(value, bool):
        return None
    if isinstance(value, str):
        return "expected text of whole characters, found half of a surrogate pair" if has_surrogate(value) else None
    if isinstance(value, int):
        too_long = value.bit_length() > _TOO_MANY_BITS
        return f"expected an integer of at most {MAX_INTEGER_DIGITS:,} digits, found a longer one" if too_long else None
    if isinstance(value, float):
        return None if math.isfinite(value) else f"expected a finite number, found {value} which JSON cannot hold"
    return f"expected JSON data, found a value of the Python type {type(value).__name__}"
