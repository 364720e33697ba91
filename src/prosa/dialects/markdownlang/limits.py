"""Limits in front matter: read, and cut to what a document may ask for (X9). The cut is reported, never silent."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from prosa.data import Entry
from prosa.diagnostics import Problem
from prosa.dialects import quantity
from prosa.dialects.fields import text_of
from prosa.dialects.markdownlang.model import LimitsModel

_KIB, _MIB = 1024, 1024 * 1024


@dataclass(frozen=True, slots=True)
class Ceiling:
    """The most a document may ask for. ``attribute`` names the limit in `LimitsModel`, ``flag`` what goes beyond."""

    attribute: str
    field: str
    parse: Callable[[str], float | int | None]
    most: float
    words: str
    flag: str


CEILINGS: tuple[Ceiling, ...] = (
    Ceiling("python_timeout", "python.timeout", quantity.seconds, 300.0, "300 s", "--python-timeout"),
    Ceiling("python_memory", "python.memory", quantity.size, 512 * _MIB, "512 MB", "--python-memory"),
    Ceiling("iterations", "limits.iterations", quantity.count, 50, "50", "--max-iterations"),
    Ceiling("wall_clock", "limits.timeout", quantity.seconds, 600.0, "10 min", "--timeout"),
    Ceiling("retries", "limits.retries", quantity.count_or_none, 10, "10", "--retries"),
    Ceiling("tool_result", "limits.tool_result", quantity.size, 256 * _KIB, "256 KiB", "--max-tool-result"),
    Ceiling("concurrency", "limits.concurrency", quantity.count, 8, "8", "--concurrency"),
)
"""X9 names ceilings for Python and for iterations. The others may only be lowered: their ceiling is their default."""


def read_limits(entries: dict[str, Entry]) -> tuple[LimitsModel, tuple[Problem, ...]]:
    """Limits from well-formed entries, keyed `python.timeout`, `limits.iterations` and so on."""
    values: dict[str, float | int] = {}
    problems: list[Problem] = []
    for ceiling in CEILINGS:
        entry = entries.get(ceiling.field)
        asked = ceiling.parse(text_of(entry) or "") if entry else None
        if entry is None or asked is None:
            continue
        if asked > ceiling.most:
            problems.append(_above(ceiling, entry))
        values[ceiling.attribute] = type(asked)(min(asked, ceiling.most))
    return LimitsModel(**values), tuple(problems)  # type: ignore[arg-type]


def _above(ceiling: Ceiling, entry: Entry) -> Problem:
    message = f"`{ceiling.field}` asks for more than a document may: {ceiling.words} is used instead"
    note = f"a user may go beyond it on the command line with `{ceiling.flag}`"
    return Problem("limit-above-ceiling", message, entry.value.span, (note,))
