"""Diagnostics as Markdown, for the summary of a job or a comment: how many there are, then the worst in a table."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from prosa.diagnostics import Diagnostic, Severity
from prosa.regex import regex
from prosa.render.plain import safe

MOST = 100
"""Rows of the table; hosts cut long summaries off."""

_ORDER = list(Severity)
_MARKUP = regex(r"([\\`*_{}\[\]<>()#+!|~&@:-])")


def render_markdown(diagnostics: Sequence[Diagnostic], files: int) -> str:
    """Return the summary of a check of so many documents."""
    counts = Counter(each.severity for each in diagnostics)
    said = ", ".join(_count(counts[each], each.value) for each in Severity if counts[each])
    head = f"### Prosa: {said or 'nothing found'} in {_count(files, 'document')}"
    if not diagnostics:
        return head
    worst = sorted(diagnostics, key=lambda each: _ORDER.index(each.severity))[:MOST]
    lines = [head, "", "| | Where | What | Rule |", "|---|---|---|---|", *map(_row, worst)]
    if len(diagnostics) > MOST:
        lines += ["", f"{len(diagnostics) - MOST:,} more {'is' if len(diagnostics) == MOST + 1 else 'are'} in the log."]
    return "\n".join(lines)


def _row(each: Diagnostic) -> str:
    where = f"{each.path}:{each.start.line}:{each.start.column}"
    return f"| {each.severity} | {_escaped(where)} | {_escaped(each.message)} | {_escaped(each.rule)} |"


def _escaped(text: str) -> str:
    """Return a text that is only text, on one line."""
    return _MARKUP.sub(r"\\\1", " ".join(safe(text).split()))


def _count(number: int, word: str) -> str:
    return f"{number:,} {word}{'' if number == 1 else 's'}"
