"""Where a link writes its destination: the grammar of CommonMark 6.3 and 4.7, applied to one place of a text.

In: a text, the place behind `](` or `]:`, and the destination as the parser decoded it. Out: the span of the
destination as written, without angle brackets around it. It decides nothing about structure: that a link is there, and
what it says, is known.
"""

from __future__ import annotations

import re

from prosa.source import Span

_GAP = re.compile(r"[ \t\f\v]*(?:(?:\r\n|\n|\r)[ \t\f\v>]*)?")
"""Blank space with at most one line end, behind which the marks of quotations are no part of the destination."""

_ANGLE = re.compile(r"<((?:[^<>\\\r\n]|\\[^\r\n])*)>")
_PLAIN = re.compile(r"(?:[^\x00-\x20\x7f()\\]|\\[^\x00-\x20\x7f]|\\)+")
_ENDS = frozenset(" \t\f\v\r\n)")


def destination_at(text: str, start: int, end: int, destination: str) -> Span | None:
    """The span of ``destination`` in ``text``, which begins at ``start`` or behind blank space, and ends by ``end``."""
    gap = _GAP.match(text, start, end)
    start = gap.end() if gap else start
    if text.startswith("<", start):
        angle = _ANGLE.match(text, start, end)
        return Span(*angle.span(1)) if angle else None
    stop = start + len(destination)
    if destination and text.startswith(destination, start) and (stop >= end or text[stop] in _ENDS):
        return Span(start, min(stop, end))  # the common case: nothing escaped
    return Span(start, _end_of_plain(text, start, end))


def _end_of_plain(text: str, start: int, end: int) -> int:
    """Where a destination without angle brackets ends: at blank space, or at a parenthesis that it did not open."""
    depth = 0
    while start < end:
        if text[start] == "(":
            depth += 1
        elif text[start] == ")":
            depth -= 1
            if depth < 0:
                break
        else:
            run = _PLAIN.match(text, start, end)
            if run is None:
                break
            start = run.end() - 1
        start += 1
    return start
