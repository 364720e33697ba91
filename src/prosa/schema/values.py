"""Values in words: their type, their text cut short, lists of names. For every message of this folder."""

from __future__ import annotations

import json
from collections.abc import Iterable

from prosa.data import Value
from prosa.schema.limits import MAX_ALTERNATIVES, MAX_SHOWN

_ENCODER = json.JSONEncoder(ensure_ascii=False)


def type_name(value: Value) -> str:
    """Return the JSON Schema type of a value; a number without a fraction is an integer."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "boolean"
    if isinstance(value, int):
        return "integer"
    if isinstance(value, float):
        return "number"
    return "string" if isinstance(value, str) else "array" if isinstance(value, list) else "object"


def shown_value(value: Value) -> str:
    """Return a value as JSON, shortened to about `MAX_SHOWN` characters; long values are never written out in full."""
    if isinstance(value, str):
        value = value[: MAX_SHOWN + 1]
    text = ""
    for chunk in _ENCODER.iterencode(value):
        text += chunk[: MAX_SHOWN + 1]
        if len(text) > MAX_SHOWN:
            return text[: MAX_SHOWN - 1] + "…"
    return text


def found(value: Value) -> str:
    """Return a value with its type: ``7 (integer)``."""
    return "null" if value is None else f"{shown_value(value)} ({type_name(value)})"


def listed(items: Iterable[str], joint: str = "or") -> str:
    """Return ``a, b or c``, cut after some names."""
    names = list(items)
    if len(names) > 2 * MAX_ALTERNATIVES:
        return ", ".join(names[: 2 * MAX_ALTERNATIVES]) + f" {joint} {len(names) - 2 * MAX_ALTERNATIVES} more"
    return f" {joint} ".join((", ".join(names[:-1]), names[-1])) if len(names) > 1 else "".join(names)
