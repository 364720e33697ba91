"""Diagnostics and readings as JSON, with the keys that interface.md fixes. Keys keep their order."""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import TypeVar

from prosa.data import Plain, Value
from prosa.diagnostics import Diagnostic
from prosa.render.plain import unsafe_in

T = TypeVar("T")


def diagnostic_object(diagnostic: Diagnostic) -> dict[str, Value]:
    """Return one diagnostic; lines and columns are 1-based, columns count characters."""
    start, end = diagnostic.start, diagnostic.end
    return {
        "code": diagnostic.code,
        "rule": diagnostic.rule,
        "severity": diagnostic.severity.value,
        "message": diagnostic.message,
        "line": start.line,
        "column": start.column,
        "end_line": end.line,
        "end_column": end.column,
        "fix": diagnostic.fix.applicability.value if diagnostic.fix else None,
    }


def located_object(diagnostic: Diagnostic) -> dict[str, Value]:
    """Return one diagnostic with its path first."""
    return {"path": diagnostic.path, **diagnostic_object(diagnostic)}


def render_json(diagnostics: Sequence[Diagnostic], files: int, baseline: Mapping[str, int] | None = None) -> str:
    """Return `{"files": N, "diagnostics": […]}`, indented; under a ``baseline`` with the counts of that."""
    more = {} if baseline is None else {"baseline": dict(baseline)}
    return dump(
        {"files": files, **more, "diagnostics": [located_object(diagnostic) for diagnostic in diagnostics]}, indent=2
    )


def render_jsonl(diagnostics: Sequence[Diagnostic]) -> str:
    """Return one diagnostic per line."""
    return "\n".join(dump(located_object(diagnostic)) for diagnostic in diagnostics)


def dump(value: Plain, *, indent: int | None = None, compact: bool = False) -> str:
    """Return JSON for any reader: no NaN and no infinity, non-ASCII literal. Invisible and control characters
    are escaped. ``compact`` leaves out spaces."""
    separators = (",", ":") if compact else None
    text = json.dumps(finite(value), ensure_ascii=False, indent=indent, allow_nan=False, separators=separators)
    unsafe = unsafe_in(text) - {"\n"}
    return text.translate({ord(char): json.dumps(char)[1:-1] for char in unsafe}) if unsafe else text


def finite(value: T) -> Value:
    """Return plain data with numbers that JSON does not have as their YAML text. Raises TypeError for other data."""
    if isinstance(value, float) and not math.isfinite(value):
        return ".nan" if math.isnan(value) else (".inf" if value > 0 else "-.inf")
    if value is None or isinstance(value, (str, int, float)):
        return value
    if isinstance(value, Mapping):
        return {key: finite(item) for key, item in value.items()}
    if isinstance(value, Iterable):
        return [finite(item) for item in value]
    raise TypeError(f"{type(value).__name__} is no plain data")


def statistics_objects(diagnostics: Sequence[Diagnostic]) -> list[dict[str, Value]]:
    """Return how often each rule was broken, most frequent first."""
    counts = Counter((diagnostic.code, diagnostic.rule) for diagnostic in diagnostics)
    rows = sorted(counts.items(), key=lambda row: (-row[1], row[0]))
    return [{"code": code, "rule": rule, "count": count} for (code, rule), count in rows]
