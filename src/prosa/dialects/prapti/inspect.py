"""The configuration tree in effect as text for people: every value, and the line that set it (PA9)."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from prosa.dialects.prapti.effective import EffectiveValue


def inspected(values: Mapping[str, EffectiveValue]) -> str:
    """One line for each value, by path."""
    return "\n".join(f"{path} = {_shown(each)}  ({_where(each)})" for path, each in sorted(values.items()))


def as_rows(values: Mapping[str, EffectiveValue]) -> list[dict[str, Any]]:
    """The same as plain data: ``path``, ``value``, ``source``, ``line``, and ``problem`` where there is one."""
    rows = []
    for path, each in sorted(values.items()):
        line = each.source.position(each.line.span.start).line
        row = {"path": path, "value": each.value, "source": each.source.path, "line": line}
        rows.append(row | ({"problem": each.problem} if each.problem else {}))
    return rows


def _shown(each: EffectiveValue) -> str:
    value = json.dumps(each.value, ensure_ascii=False)
    if each.problem:
        return f"var({each.line.variable}): {each.problem}"
    return f"{value} by var({each.line.variable})" if each.line.variable else value


def _where(each: EffectiveValue) -> str:
    return f"{each.source.path}:{each.source.position(each.line.span.start).line}"
