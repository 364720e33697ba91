"""Ids by which code hosts know a finding again when the lines above it move. In: diagnostics. Out: a text for each, no
two alike.

It is made of the path, the rule, the message and the text of the line, never of its number. Equal findings on equal
lines are counted, since some hosts keep only one of those that are alike.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Sequence

from prosa.diagnostics import Diagnostic


def fingerprints(diagnostics: Sequence[Diagnostic]) -> list[str]:
    """SHA-256 in hex for each diagnostic, in their order."""
    seen: Counter[tuple[str, ...]] = Counter()
    found: list[str] = []
    for each in diagnostics:
        parts = (each.path, each.rule, each.message, _line(each))
        seen[parts] += 1
        text = "\0".join((*parts, str(seen[parts])))
        found.append(hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest())
    return found


def _line(each: Diagnostic) -> str:
    """Return the line of a finding without the space around it; empty for a text that may not be quoted."""
    return each.source.lines.line_text(each.start.line).strip() if each.source.quotable else ""
