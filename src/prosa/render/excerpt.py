"""The source line under a diagnostic, with carets. In: a source and a span. Out: two lines of text, cut to a window."""

from __future__ import annotations

from dataclasses import dataclass

from prosa.render.plain import safe_source, width
from prosa.source import SourceText, Span

WINDOW = 110
"""Characters of a source line that are shown; a long paragraph on one line is not repeated for every finding in it."""

_BEFORE = 40
"""Characters kept in front of the span where a line is cut."""


@dataclass(frozen=True, slots=True)
class Excerpt:
    """``text`` is the line as shown, ``carets`` the marks under it, ``line`` its number."""

    line: int
    text: str
    carets: str


def excerpt(source: SourceText, span: Span) -> Excerpt:
    """The first line of the span. An empty span has one caret. Work is bounded by `WINDOW`, not by the line."""
    at = min(span.start, len(source.text))
    line, column = source.position(at)
    line_start = at - (column - 1)
    shown_start = line_start if column - 1 <= WINDOW - _BEFORE else at - _BEFORE
    chunk = _first_line(source.text[shown_start : shown_start + WINDOW + 1])
    cut = len(chunk) > WINDOW
    chunk = chunk[:WINDOW]
    lead = "…" if shown_start > line_start else ""
    before = safe_source(chunk[: at - shown_start])
    marked = safe_source(chunk[at - shown_start : max(span.end, at) - shown_start])
    after = safe_source(chunk[max(span.end, at) - shown_start :])
    carets = " " * width(lead + before) + "^" * max(1, width(marked))
    return Excerpt(line, (lead + before + marked + after + ("…" if cut else "")).rstrip(), carets)


def _first_line(text: str) -> str:
    for end, char in enumerate(text):
        if char in "\r\n":
            return text[:end]
    return text
